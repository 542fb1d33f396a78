"""What must hold of a message that is nowhere, as SQL: looked for by ``losses``, demanded again by ``resending``.

``{message}`` stands for a row that has the message's id, ``%(consumer)s`` for the consumer that it was sent to.
"""

from typing import Final

NOT_PROCESSED: Final = """
    NOT EXISTS (
        SELECT 1 FROM baton_inbox AS processed
        WHERE processed.message_id = {message}.message_id AND processed.consumer = %(consumer)s)
"""

NOT_DEAD: Final = """
    NOT EXISTS (
        SELECT 1 FROM baton_dead_letter AS letter
        WHERE letter.message_id = {message}.message_id AND letter.consumer = %(consumer)s)
"""

REPLAY_REQUESTED: Final = """
    EXISTS (
        SELECT 1 FROM baton_dead_letter AS letter
        WHERE letter.message_id = {message}.message_id AND letter.consumer = %(consumer)s
          AND letter.state = 'requested')
"""
