"""Wake the relay at each commit that publishes: a trigger costs the producer no round trip."""

from django.db import migrations

CREATE = """
CREATE FUNCTION messaging_notify_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('messaging_outbox', '');
    RETURN NULL;
END $$;
CREATE TRIGGER messaging_notify_outbox AFTER INSERT ON messaging_outboxmessage
    FOR EACH STATEMENT EXECUTE FUNCTION messaging_notify_outbox();
"""

DROP = """
DROP TRIGGER messaging_notify_outbox ON messaging_outboxmessage;
DROP FUNCTION messaging_notify_outbox();
"""


class Migration(migrations.Migration):
    dependencies = [("messaging", "0001_initial")]
    operations = [migrations.RunSQL(CREATE, DROP)]
