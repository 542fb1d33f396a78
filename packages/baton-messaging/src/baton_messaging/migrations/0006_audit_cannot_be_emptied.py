"""The audit refuses TRUNCATE as it refuses UPDATE and DELETE.

Except in a database of tests: Django's TransactionTestCase empties all tables after each test. Its databases are called
test_…; where a project names them otherwise, ``ALTER DATABASE … SET baton.audit_may_be_emptied = on`` allows it.
"""

from django.db import migrations

REFUSE = """
CREATE FUNCTION baton_refuse_emptying() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_database() LIKE 'test\\_%' OR current_setting('baton.audit_may_be_emptied', true) = 'on' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'Expected the audit to be added to only, got % on %.', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER baton_never_emptied BEFORE TRUNCATE ON baton_audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION baton_refuse_emptying();
CREATE TRIGGER baton_never_emptied BEFORE TRUNCATE ON baton_audited_dead_letter
    FOR EACH STATEMENT EXECUTE FUNCTION baton_refuse_emptying();
"""
ALLOW = """
DROP TRIGGER baton_never_emptied ON baton_audited_dead_letter;
DROP TRIGGER baton_never_emptied ON baton_audit_entry;
DROP FUNCTION baton_refuse_emptying();
"""


class Migration(migrations.Migration):
    dependencies = [("baton_messaging", "0005_health_check")]

    operations = [migrations.RunSQL(REFUSE, ALLOW, elidable=False)]
