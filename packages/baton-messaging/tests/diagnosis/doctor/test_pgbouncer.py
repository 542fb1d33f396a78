"""Behind PgBouncer in transaction mode: what the doctor sets for itself meets nobody else."""

import pytest
from baton_dev.testing.pgbouncer import left_behind
from baton_messaging.diagnosis.doctor.examine import examine_all
from baton_messaging.health.diagnosis import Status

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("living", "longer_deadlines")]


def test_the_doctor_leaves_no_time_limit_with_the_connections_that_it_borrowed(pooled: str) -> None:
    lines = examine_all()
    assert [line for line in lines if line.status is Status.UNKNOWN] == []
    assert left_behind(pooled, "statement_timeout") == {"0"}
