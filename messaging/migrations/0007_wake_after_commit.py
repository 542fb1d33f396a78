"""Drop the trigger that woke the relay: it made all producers commit one after the other. See messaging/wake.py."""

from django.db import migrations

DROP = """
DROP TRIGGER messaging_notify_outbox ON messaging_outboxmessage;
DROP FUNCTION messaging_notify_outbox();
"""

CREATE = """
CREATE FUNCTION messaging_notify_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('messaging_outbox', '');
    RETURN NULL;
END $$;
CREATE TRIGGER messaging_notify_outbox AFTER INSERT ON messaging_outboxmessage
    FOR EACH STATEMENT EXECUTE FUNCTION messaging_notify_outbox();
"""


class Migration(migrations.Migration):
    dependencies = [("messaging", "0006_dead_letter_by_task")]
    operations = [migrations.RunSQL(DROP, CREATE)]
