"""The tables of Baton. The audit of operations only grows: what can write to the database cannot rewrite what was done.

A deployment that must forget old entries drops the triggers in a migration of its own, which is then on record.
"""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

APPEND_ONLY = """
CREATE FUNCTION baton_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Expected the audit to be added to only, got % on %.', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER baton_append_only BEFORE UPDATE OR DELETE ON baton_audit_entry
    FOR EACH ROW EXECUTE FUNCTION baton_refuse_rewriting();
CREATE TRIGGER baton_append_only BEFORE UPDATE OR DELETE ON baton_audited_dead_letter
    FOR EACH ROW EXECUTE FUNCTION baton_refuse_rewriting();
"""
NOT_APPEND_ONLY = """
DROP TRIGGER baton_append_only ON baton_audited_dead_letter;
DROP TRIGGER baton_append_only ON baton_audit_entry;
DROP FUNCTION baton_refuse_rewriting();
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Circuit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("consumer", models.CharField(max_length=200, unique=True, verbose_name="consumer")),
                ("opened_at", models.DateTimeField(null=True, verbose_name="open since")),
                ("closed_at", models.DateTimeField(null=True, verbose_name="closed at")),
                ("error_class", models.CharField(blank=True, default="", max_length=200, verbose_name="error")),
                ("probe_message_id", models.UUIDField(null=True, verbose_name="probe message")),
                ("probe_sent_at", models.DateTimeField(null=True, verbose_name="probed since")),
                ("probe_count", models.PositiveIntegerField(default=0, verbose_name="failed probes")),
                (
                    "next_probe_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="next probe at"
                    ),
                ),
            ],
            options={
                "verbose_name": "circuit breaker",
                "verbose_name_plural": "circuit breakers",
                "db_table": "baton_circuit",
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="GroupAlert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("fingerprint", models.CharField(max_length=64, unique=True)),
                ("alerted_at", models.DateTimeField()),
                ("dead_letter_count", models.PositiveIntegerField()),
                ("aged_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "alert",
                "db_table": "baton_group_alert",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Recovery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("consumer", models.CharField(max_length=200, unique=True, verbose_name="consumer")),
                ("message_count", models.PositiveBigIntegerField(default=0, verbose_name="messages sent again")),
                (
                    "recovered_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name="last at"),
                ),
            ],
            options={
                "verbose_name": "recovery",
                "verbose_name_plural": "recoveries",
                "db_table": "baton_recovery",
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("message_id", models.UUIDField(verbose_name="message")),
                ("consumer", models.CharField(max_length=200, verbose_name="consumer")),
                ("round", models.PositiveSmallIntegerField(default=0, verbose_name="round")),
                ("attempt", models.PositiveSmallIntegerField(verbose_name="attempt")),
                ("key", models.CharField(max_length=200, verbose_name="key")),
                ("envelope", models.JSONField(verbose_name="envelope")),
                ("error_class", models.CharField(max_length=200, verbose_name="error")),
                ("error_message", models.TextField(blank=True, verbose_name="error message")),
                ("traceback", models.TextField(blank=True, verbose_name="traceback")),
                ("worker", models.CharField(blank=True, default="", max_length=200, verbose_name="worker")),
                (
                    "failed_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="failed at"
                    ),
                ),
                ("due_at", models.DateTimeField(verbose_name="due at")),
                ("claimed_until", models.DateTimeField(null=True, verbose_name="claimed until")),
                ("sent_at", models.DateTimeField(null=True, verbose_name="sent at")),
            ],
            options={
                "verbose_name": "failed attempt",
                "verbose_name_plural": "failed attempts",
                "db_table": "baton_attempt",
                "indexes": [
                    models.Index(models.F("due_at"), condition=models.Q(("sent_at", None)), name="baton_attempt_due"),
                    models.Index(
                        models.F("consumer"),
                        models.OrderBy(models.F("failed_at"), descending=True),
                        name="baton_attempt_newest",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("message_id", "consumer", "round", "attempt"), name="baton_attempt_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name="at")),
                ("actor", models.CharField(max_length=200, verbose_name="who")),
                ("user_id", models.BigIntegerField(null=True, verbose_name="user id")),
                ("via", models.CharField(max_length=20, verbose_name="via")),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("replay", "replay"),
                            ("stop", "stop a replay"),
                            ("release", "go on without waiting for the canary"),
                            ("edit", "edit and replay"),
                            ("redirect", "redirect"),
                            ("discard", "discard"),
                            ("restore", "restore"),
                            ("pause", "pause"),
                            ("resume", "resume"),
                        ],
                        max_length=20,
                        verbose_name="what",
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=[("done", "done"), ("refused", "refused")], max_length=10, verbose_name="outcome"
                    ),
                ),
                ("why", models.TextField(blank=True, verbose_name="why")),
                ("dead_letter_count", models.PositiveIntegerField(default=0, verbose_name="dead letters")),
                ("details", models.JSONField(default=dict, verbose_name="details")),
            ],
            options={
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit entries",
                "db_table": "baton_audit_entry",
                "default_permissions": ("view",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "action__in",
                                [
                                    "replay",
                                    "stop",
                                    "release",
                                    "edit",
                                    "redirect",
                                    "discard",
                                    "restore",
                                    "pause",
                                    "resume",
                                ],
                            )
                        ),
                        name="baton_audit_action_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("outcome__in", ["done", "refused"])), name="baton_audit_outcome_known"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, unique=True, verbose_name="name")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("worker", "worker"),
                            ("relay", "relay"),
                            ("collector", "collector"),
                            ("beat", "beat"),
                        ],
                        max_length=20,
                        verbose_name="role",
                    ),
                ),
                ("hostname", models.CharField(max_length=200, verbose_name="host")),
                ("pid", models.PositiveIntegerField(verbose_name="pid")),
                ("started_at", models.DateTimeField(verbose_name="started at")),
                (
                    "beaten_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="last heartbeat"
                    ),
                ),
                (
                    "queues",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=200), default=list, size=None, verbose_name="queues"
                    ),
                ),
                ("is_consuming", models.BooleanField(verbose_name="takes work")),
                (
                    "trouble",
                    models.CharField(
                        blank=True,
                        choices=[("broker full", "the broker is full")],
                        db_default="",
                        default="",
                        max_length=40,
                        verbose_name="trouble",
                    ),
                ),
                ("capacity", models.PositiveIntegerField(default=0, verbose_name="places")),
                ("child_count", models.PositiveIntegerField(db_default=0, default=0, verbose_name="children")),
                ("running", models.JSONField(default=list, verbose_name="running")),
                ("reserved", models.JSONField(default=list, verbose_name="taken, not started")),
                ("received_count", models.PositiveBigIntegerField(default=0, verbose_name="received")),
                ("finished_count", models.PositiveBigIntegerField(default=0, verbose_name="finished")),
                ("last_received_at", models.DateTimeField(null=True, verbose_name="last received at")),
                ("last_finished_at", models.DateTimeField(null=True, verbose_name="last finished at")),
            ],
            options={
                "verbose_name": "process",
                "verbose_name_plural": "processes",
                "db_table": "baton_heartbeat",
                "default_permissions": ("view",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["worker", "relay", "collector", "beat"])),
                        name="baton_heartbeat_role_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Interruption",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("task_id", models.CharField(max_length=200)),
                ("consumer", models.CharField(max_length=200)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("killed", "killed"),
                            ("time_limit", "hard time limit"),
                            ("revoked", "revoked"),
                            ("unknown_task", "unknown task"),
                            ("failed", "failed outside its handler"),
                        ],
                        max_length=20,
                    ),
                ),
                ("detail", models.CharField(blank=True, max_length=500)),
                ("traceback", models.TextField(blank=True, default="")),
                ("worker", models.CharField(blank=True, max_length=200)),
                ("seen_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "verbose_name": "interruption",
                "db_table": "baton_interruption",
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(models.F("task_id"), name="baton_interruption_by_task"),
                    models.Index(models.F("seen_at"), name="baton_interruption_by_age"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["killed", "time_limit", "revoked", "unknown_task", "failed"])),
                        name="baton_interruption_kind_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Minute",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("consumer", models.CharField(max_length=200)),
                ("processed_count", models.BigIntegerField(default=0)),
                ("failed_count", models.BigIntegerField(default=0)),
                ("retried_count", models.BigIntegerField(default=0)),
                ("redelivered_count", models.BigIntegerField(default=0)),
                ("dead_counts", models.JSONField(default=dict)),
                (
                    "duration_counts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("duration_seconds", models.FloatField(default=0)),
                (
                    "lag_counts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("lag_seconds", models.FloatField(default=0)),
                ("minute", models.DateTimeField()),
                ("is_folded", models.BooleanField(default=False)),
            ],
            options={
                "verbose_name": "minute of a consumer",
                "db_table": "baton_minute",
                "default_permissions": (),
                "indexes": [
                    models.Index(models.F("minute"), condition=models.Q(("is_folded", False)), name="baton_minute_open")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("minute", "consumer"), name="baton_minute_once_per_consumer")
                ],
            },
        ),
        migrations.CreateModel(
            name="OutboxMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("message_id", models.UUIDField(unique=True, verbose_name="message")),
                ("name", models.CharField(max_length=200, verbose_name="event")),
                ("version", models.PositiveSmallIntegerField(verbose_name="version")),
                ("key", models.CharField(max_length=200, verbose_name="key")),
                ("payload", models.JSONField(verbose_name="payload")),
                ("occurred_at", models.DateTimeField(verbose_name="occurred at")),
                ("correlation_id", models.UUIDField(verbose_name="correlation")),
                ("causation_id", models.UUIDField(null=True, verbose_name="caused by")),
                ("traceparent", models.CharField(blank=True, default="", max_length=55, verbose_name="trace")),
                (
                    "available_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="to be sent at"
                    ),
                ),
                ("published_at", models.DateTimeField(null=True, verbose_name="published at")),
                ("settled_at", models.DateTimeField(null=True, verbose_name="settled at")),
                (
                    "sent_to",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=200), default=list, size=None, verbose_name="sent to"
                    ),
                ),
                ("send_failure_count", models.PositiveSmallIntegerField(default=0, verbose_name="failed sendings")),
                ("last_error", models.TextField(blank=True, default="", verbose_name="last error")),
            ],
            options={
                "verbose_name": "outbox message",
                "verbose_name_plural": "outbox messages",
                "db_table": "baton_outbox",
                "indexes": [
                    models.Index(
                        models.F("id"), condition=models.Q(("published_at", None)), name="baton_outbox_waiting"
                    ),
                    models.Index(models.F("key"), models.F("id"), name="baton_outbox_by_key"),
                    models.Index(
                        models.F("published_at"),
                        condition=models.Q(("published_at__isnull", False), ("settled_at", None)),
                        name="baton_outbox_unsettled",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Pause",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("consumer", models.CharField(blank=True, default="", max_length=200, verbose_name="consumer")),
                ("event_name", models.CharField(blank=True, default="", max_length=200, verbose_name="event")),
                ("key", models.CharField(blank=True, default="", max_length=200, verbose_name="key")),
                (
                    "paused_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="paused at"
                    ),
                ),
                ("paused_by", models.CharField(max_length=200, verbose_name="paused by")),
                ("via", models.CharField(max_length=20, verbose_name="via")),
                ("why", models.TextField(verbose_name="why")),
                ("resumed_at", models.DateTimeField(null=True, verbose_name="resumed at")),
                ("resumed_by", models.CharField(blank=True, default="", max_length=200, verbose_name="resumed by")),
                ("resumed_because", models.TextField(blank=True, default="", verbose_name="resumed because")),
            ],
            options={
                "verbose_name": "pause",
                "verbose_name_plural": "pauses",
                "db_table": "baton_pause",
                "permissions": [("pause_consumer", "Can pause and resume consumers")],
                "default_permissions": ("view",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("resumed_at", None)),
                        fields=("consumer", "event_name", "key"),
                        name="baton_pause_once_per_target",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(models.Q(("consumer", ""), _negated=True), ("event_name", ""), ("key", "")),
                            models.Q(
                                ("consumer", ""),
                                models.Q(("event_name", ""), _negated=True),
                                models.Q(("key", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="baton_pause_has_one_target",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("resumed_at", None), ("resumed_by", "")),
                            models.Q(("resumed_at__isnull", False), models.Q(("resumed_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="baton_pause_ends_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProcessedMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("message_id", models.UUIDField(verbose_name="message")),
                ("consumer", models.CharField(max_length=200, verbose_name="consumer")),
                (
                    "processed_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="processed at"
                    ),
                ),
                ("duration_ms", models.PositiveIntegerField(default=0, verbose_name="duration in ms")),
                ("worker", models.CharField(blank=True, default="", max_length=200, verbose_name="worker")),
            ],
            options={
                "verbose_name": "processed message",
                "verbose_name_plural": "processed messages",
                "db_table": "baton_inbox",
                "indexes": [
                    django.contrib.postgres.indexes.BrinIndex(models.F("processed_at"), name="baton_inbox_by_age")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("message_id", "consumer"), name="baton_inbox_once_per_consumer")
                ],
            },
        ),
        migrations.CreateModel(
            name="Replay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "requested_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="requested at"
                    ),
                ),
                ("requested_by", models.CharField(max_length=200, verbose_name="requested by")),
                ("why", models.TextField(blank=True, verbose_name="why")),
                ("selection", models.JSONField(default=dict, verbose_name="selection")),
                ("dead_letter_count", models.PositiveIntegerField(default=0, verbose_name="dead letters")),
                ("canary_count", models.PositiveIntegerField(default=0, verbose_name="canary")),
                ("rate_per_second", models.PositiveIntegerField(default=0, verbose_name="rate per second")),
                ("released_at", models.DateTimeField(null=True, verbose_name="released at")),
                ("stopped_at", models.DateTimeField(null=True, verbose_name="stopped at")),
                ("stopped_because", models.TextField(blank=True, default="", verbose_name="stopped because")),
            ],
            options={
                "verbose_name": "replay",
                "verbose_name_plural": "replays",
                "db_table": "baton_replay",
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(
                        models.F("id"),
                        condition=models.Q(("released_at__isnull", True), ("stopped_at__isnull", True)),
                        name="baton_replay_watching",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Rollup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("folded_until", models.DateTimeField()),
                ("inbox_id", models.BigIntegerField(default=0)),
                ("rolled_up_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "verbose_name": "rollup",
                "db_table": "baton_rollup",
                "default_permissions": (),
                "constraints": [models.CheckConstraint(condition=models.Q(("pk", 1)), name="baton_rollup_is_one_row")],
            },
        ),
        migrations.CreateModel(
            name="Total",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("consumer", models.CharField(max_length=200)),
                ("processed_count", models.BigIntegerField(default=0)),
                ("failed_count", models.BigIntegerField(default=0)),
                ("retried_count", models.BigIntegerField(default=0)),
                ("redelivered_count", models.BigIntegerField(default=0)),
                ("dead_counts", models.JSONField(default=dict)),
                (
                    "duration_counts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("duration_seconds", models.FloatField(default=0)),
                (
                    "lag_counts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("lag_seconds", models.FloatField(default=0)),
            ],
            options={
                "verbose_name": "total of a consumer",
                "db_table": "baton_total",
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("consumer",), name="baton_total_once_per_consumer")],
            },
        ),
        migrations.CreateModel(
            name="AuditedDeadLetter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("dead_letter_id", models.BigIntegerField()),
                ("message_id", models.UUIDField(null=True)),
                ("consumer", models.CharField(max_length=200)),
                (
                    "entry",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="dead_letters",
                        to="baton_messaging.auditentry",
                    ),
                ),
            ],
            options={
                "verbose_name": "audited dead letter",
                "db_table": "baton_audited_dead_letter",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("dead_letter_id", "entry"), name="baton_audited_once_per_entry")
                ],
            },
        ),
        migrations.CreateModel(
            name="DeadLetter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("message_id", models.UUIDField(null=True, verbose_name="message id")),
                ("consumer", models.CharField(max_length=200, verbose_name="consumer")),
                ("event_name", models.CharField(blank=True, max_length=200, verbose_name="event")),
                ("key", models.CharField(blank=True, max_length=200, verbose_name="key")),
                ("owner", models.CharField(max_length=200, verbose_name="owner")),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("retries_spent", "retries spent"),
                            ("permanent_error", "permanent error"),
                            ("time_limit", "time limit"),
                            ("killed_worker", "killed its worker"),
                            ("unknown_task", "unknown task"),
                            ("unknown_event", "unknown event or version"),
                            ("undecodable", "undecodable"),
                            ("bad_signature", "bad signature"),
                            ("expired", "expired"),
                            ("revoked", "revoked"),
                            ("unroutable", "unroutable"),
                        ],
                        max_length=20,
                        verbose_name="reason",
                    ),
                ),
                ("error_class", models.CharField(blank=True, max_length=200, verbose_name="error")),
                ("error_message", models.TextField(blank=True, verbose_name="error text")),
                ("traceback", models.TextField(blank=True, verbose_name="traceback")),
                ("attempt_count", models.PositiveSmallIntegerField(default=0, verbose_name="attempts")),
                ("envelope", models.JSONField(null=True, verbose_name="envelope")),
                ("raw", models.TextField(blank=True, verbose_name="as it came")),
                ("task_id", models.CharField(blank=True, default="", max_length=200, verbose_name="task id")),
                ("fingerprint", models.CharField(max_length=64, verbose_name="group")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "open"),
                            ("requested", "replay requested"),
                            ("resolved", "resolved"),
                            ("discarded", "discarded"),
                        ],
                        default="open",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("occurred_at", models.DateTimeField(null=True, verbose_name="occurred at")),
                (
                    "first_failed_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="first failed at"
                    ),
                ),
                (
                    "died_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name="died at"),
                ),
                ("requested_at", models.DateTimeField(null=True, verbose_name="replay requested at")),
                ("due_at", models.DateTimeField(null=True, verbose_name="to be sent at")),
                ("settled_at", models.DateTimeField(null=True, verbose_name="settled at")),
                ("replay_count", models.PositiveSmallIntegerField(default=0, verbose_name="replays")),
                (
                    "copy_of",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="edited_copy",
                        to="baton_messaging.deadletter",
                        verbose_name="copy of",
                    ),
                ),
                (
                    "replay",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="dead_letters",
                        to="baton_messaging.replay",
                        verbose_name="replay",
                    ),
                ),
            ],
            options={
                "verbose_name": "dead letter",
                "verbose_name_plural": "dead letters",
                "db_table": "baton_dead_letter",
                "permissions": [
                    ("replay_deadletter", "Can replay dead letters"),
                    ("edit_deadletter", "Can edit or redirect dead letters before replaying them"),
                    ("discard_deadletter", "Can discard and restore dead letters"),
                ],
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(models.F("state"), models.F("fingerprint"), name="baton_dead_letter_groups"),
                    models.Index(models.F("key"), name="baton_dead_letter_by_key"),
                    models.Index(models.F("message_id"), name="baton_dead_letter_by_message"),
                    models.Index(models.F("task_id"), name="baton_dead_letter_by_task"),
                    models.Index(
                        models.F("state"),
                        models.OrderBy(models.F("died_at"), descending=True),
                        models.OrderBy(models.F("id"), descending=True),
                        name="baton_dead_letter_newest",
                    ),
                    models.Index(
                        models.F("settled_at"),
                        condition=models.Q(("settled_at__isnull", False)),
                        name="baton_dead_letter_by_age",
                    ),
                    models.Index(
                        models.F("id"),
                        condition=models.Q(("requested_at__isnull", False), ("state__in", ("open", "requested"))),
                        name="baton_dead_letter_asked_for",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ("open", "requested"))),
                        fields=("message_id", "consumer"),
                        name="baton_dead_letter_unsettled_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "reason__in",
                                [
                                    "retries_spent",
                                    "permanent_error",
                                    "time_limit",
                                    "killed_worker",
                                    "unknown_task",
                                    "unknown_event",
                                    "undecodable",
                                    "bad_signature",
                                    "expired",
                                    "revoked",
                                    "unroutable",
                                ],
                            )
                        ),
                        name="baton_dead_letter_reason_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["open", "requested", "resolved", "discarded"])),
                        name="baton_dead_letter_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("settled_at__isnull", True), ("state__in", ("open", "requested"))),
                            models.Q(("settled_at__isnull", False), ("state__in", ("resolved", "discarded"))),
                            _connector="OR",
                        ),
                        name="baton_dead_letter_settled_at_says_what_state_says",
                    ),
                ],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
