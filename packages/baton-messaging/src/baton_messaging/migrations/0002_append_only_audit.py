"""Let the audit of the dead letters only grow: whoever can write to the database cannot quietly rewrite what was done.

A deployment that must forget old entries drops the triggers in a migration of its own, which is then on record.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION messaging_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Expected the audit to be added to only, got % on %.', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER messaging_append_only BEFORE UPDATE OR DELETE ON messaging_auditentry
    FOR EACH ROW EXECUTE FUNCTION messaging_refuse_rewriting();
CREATE TRIGGER messaging_append_only BEFORE UPDATE OR DELETE ON messaging_auditedletter
    FOR EACH ROW EXECUTE FUNCTION messaging_refuse_rewriting();
"""

DROP = """
DROP TRIGGER messaging_append_only ON messaging_auditedletter;
DROP TRIGGER messaging_append_only ON messaging_auditentry;
DROP FUNCTION messaging_refuse_rewriting();
"""


class Migration(migrations.Migration):
    dependencies = [("messaging", "0001_initial")]
    operations = [migrations.RunSQL(CREATE, DROP)]
