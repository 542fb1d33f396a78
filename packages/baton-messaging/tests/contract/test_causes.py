"""Every way a message can die, on RabbitMQ: what tests/dead_letters/test_causes.py shows on Valkey."""

from baton_dev.testing.fixtures import worker  # noqa: F401 - the project's, not that of the other contract tests

from tests.contract.on_rabbitmq import on_rabbitmq  # noqa: F401 - a fixture
from tests.dead_letters.conftest import nothing_repaired  # noqa: F401 - a fixture
from tests.dead_letters.test_causes import pytestmark, test_a_dead_message_is_one_row_that_says_why  # noqa: F401 - its marks
