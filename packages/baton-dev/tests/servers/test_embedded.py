"""The embedded servers, for real: data, ports, passwords, and what is left after kill -9."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from baton_dev.project import PROJECT_DIR
from baton_dev.servers import server_user, service
from baton_dev.servers.embedded import Postgres, Valkey
from baton_dev.servers.ports import PortTakenError
from baton_dev.servers.server_user import ServerUser
from baton_dev.servers.service import ServiceError
from baton_dev.testing.processes import wait_until

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="PostgreSQL runs as a user of its own only for root")


def write(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS note AS SELECT 1 AS value")


def has_written(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT to_regclass('note') IS NOT NULL").fetchone() == (True,)


def is_hashed_once(url: str) -> bool:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = 'baton'").fetchone()
        return row is not None and row[0].startswith("SCRAM-SHA-256$1:")


@pytest.fixture(scope="module")
def postgres_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A state directory in which PostgreSQL has run before: making its data takes a second or two."""
    path = tmp_path_factory.mktemp("postgres") / "state"
    yield path
    Postgres(path).destroy()


def server_pid(state_dir: Path, name: str) -> int:
    return int((state_dir / f"{name}.lock").read_text())


def is_free(state_dir: Path, name: str) -> bool:
    with (state_dir / f"{name}.lock").open("a+") as lock:
        return service.try_lock(lock)


def kill(server: service.Service) -> None:
    """Kill -9; wait until it has ended, and no child of it is left that holds the lock."""
    os.kill(server_pid(server.state_dir, server.name), signal.SIGKILL)
    assert server._process is not None
    server._process.wait(30)
    wait_until(lambda: is_free(server.state_dir, server.name), what="the lock to be free")


def test_postgres_keeps_data_port_and_password_between_runs(postgres_dir: Path) -> None:
    with Postgres(postgres_dir, durable=False) as postgres:
        first_url = postgres.url
        write(first_url)

    with Postgres(postgres_dir, durable=False) as postgres:
        assert postgres.url == first_url
        assert has_written(postgres.url)


def test_postgres_starts_after_kill_9_with_a_pid_file_that_names_a_stranger(postgres_dir: Path) -> None:
    with Postgres(postgres_dir, durable=False) as postgres:
        write(postgres.url)
        pid_file = postgres.data / "postmaster.pid"
        kill(postgres)
        _, _, rest = pid_file.read_text().partition("\n")
        pid_file.write_text(f"{os.getppid()}\n{rest}")  # the number has been given to somebody else meanwhile

        assert has_written(postgres.start())


def test_valkey_keeps_what_it_has_answered_after_kill_9(state_dir: Path) -> None:
    with Valkey(state_dir) as valkey:
        redis.from_url(valkey.url).set("order", "accepted")
        kill(valkey)

        assert redis.from_url(valkey.start()).get("order") == b"accepted"


def test_servers_end_with_a_starter_that_is_killed(postgres_dir: Path) -> None:
    program = (
        "import os, pathlib, sys; from baton_dev.servers.embedded import Postgres, Valkey;"
        "path = pathlib.Path(sys.argv[1]);"
        "print(Postgres(path).start()); print(Valkey(path).start(), flush=True); os.kill(os.getpid(), 9)"
    )

    starter = subprocess.run(
        [sys.executable, "-c", program, postgres_dir], cwd=PROJECT_DIR, check=False, capture_output=True, text=True
    )

    assert starter.returncode == -signal.SIGKILL
    assert starter.stdout.count("://") == 2, starter.stderr
    for name in ("postgres", "valkey"):
        wait_until(lambda name=name: is_free(postgres_dir, name), what=f"{name} to end")  # type: ignore[misc]


def test_two_checkouts_run_side_by_side(tmp_path: Path) -> None:
    paths = (tmp_path / "one" / "var", tmp_path / "two" / "var")
    with Valkey(paths[0]) as one, Valkey(paths[1]) as two:
        redis.from_url(one.url).set("name", "one")
        redis.from_url(two.url).set("name", "two")

        assert one.port != two.port
        assert redis.from_url(one.url).get("name") == b"one"


def test_a_copied_checkout_takes_another_port_than_the_one_it_was_copied_from(tmp_path: Path) -> None:
    with Valkey(tmp_path / "original") as original:
        copy = Valkey(tmp_path / "copy")
        copy.state_dir.mkdir()
        (copy.state_dir / "valkey.port").write_text(str(original.port))
        with copy:
            assert copy.port != original.port


def test_a_second_server_on_the_same_data_is_refused_in_one_line(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "PREDECESSOR_TIMEOUT_SECONDS", 0.2)
    with Valkey(state_dir), pytest.raises(ServiceError, match=r"^valkey already runs .*BATON_STATE_DIR.*$"):
        Valkey(state_dir).start()


def test_a_chosen_port_that_is_taken_is_refused_by_the_name_of_its_variable(tmp_path: Path) -> None:
    with (
        Valkey(tmp_path / "one") as one,
        pytest.raises(PortTakenError, match=rf"^VALKEY_PORT: port {one.port} is taken"),
    ):
        Valkey(tmp_path / "two", port=one.port).start()


def test_starting_twice_is_starting_once(state_dir: Path) -> None:
    with Valkey(state_dir) as valkey:
        pid = server_pid(state_dir, "valkey")

        assert valkey.start() == valkey.url
        assert server_pid(state_dir, "valkey") == pid


def test_a_server_that_cannot_start_says_why(state_dir: Path) -> None:
    valkey = Valkey(state_dir)
    valkey.prepare()
    (state_dir / "valkey" / "appendonlydir").write_text("not a directory")

    with pytest.raises(ServiceError, match=r"^valkey did not start: .*valkey\.log"):
        valkey.start()


def test_valkey_never_evicts_and_logs_every_command_and_listens_here_only(state_dir: Path) -> None:
    with Valkey(state_dir) as valkey:
        client = redis.from_url(valkey.url)

        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert client.config_get("appendonly") == {"appendonly": "yes"}
        assert client.config_get("bind") == {"bind": "127.0.0.1"}


def test_postgres_lets_nobody_in_without_the_password(postgres_dir: Path) -> None:
    with Postgres(postgres_dir, durable=False) as postgres:
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(f"postgres://baton@127.0.0.1:{postgres.port}/baton")
        assert (postgres_dir / "postgres.password").stat().st_mode & 0o077 == 0


def test_data_whose_password_was_lost_gets_a_new_one_and_no_connection_hashes_it_for_long() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)  # so that the data lies here for root, too
        state_dir = Path(folder) / "state"
        with Postgres(state_dir, durable=False) as postgres:
            write(postgres.url)
            assert is_hashed_once(postgres.url)
        (state_dir / "postgres.password").unlink()

        with Postgres(state_dir, durable=False) as postgres:
            assert has_written(postgres.url)
            assert is_hashed_once(postgres.url)


def test_a_server_that_outlives_its_state_directory_is_not_joined_by_a_second(
    postgres_dir: Path,
) -> None:
    with Postgres(postgres_dir, durable=False):
        (postgres_dir / "postgres.lock").unlink()

        with pytest.raises(ServiceError, match=r"^postgres still runs on .* \(process \d+\)\. Stop it first\.$"):
            Postgres(postgres_dir).start()


def test_an_interrupted_first_start_is_begun_again(state_dir: Path) -> None:
    unfinished = Postgres(state_dir).data.with_name("unfinished")
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18")

    with Postgres(state_dir, durable=False) as postgres:
        write(postgres.url)


@pytest.fixture
def closed_home() -> Iterator[Path]:
    """A directory that only its owner may enter, as a home with mode 0700."""
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o700)
        yield Path(home)


@as_root
def test_root_below_a_closed_home_gets_a_server_and_the_home_stays_closed(closed_home: Path) -> None:
    postgres = Postgres(closed_home / "checkout" / "var", durable=False)
    try:
        with postgres:
            write(postgres.url)
        with postgres:
            assert has_written(postgres.url)
        assert closed_home not in postgres.data.parents
        assert closed_home.stat().st_mode & 0o777 == 0o700
    finally:
        postgres.destroy()
    assert not postgres.data.exists()


@as_root
def test_deleting_the_state_directory_deletes_the_data_that_lies_elsewhere_too(closed_home: Path) -> None:
    postgres = Postgres(closed_home / "var", durable=False)
    try:
        with postgres:
            write(postgres.url)
        shutil.rmtree(closed_home / "var")
        with postgres:
            assert not has_written(postgres.url)
    finally:
        postgres.destroy()


@as_root
def test_two_checkouts_below_a_closed_home_have_a_data_directory_each(closed_home: Path) -> None:
    one, two = (Postgres(closed_home / name / "var") for name in ("one", "two"))

    assert one.data != two.data


@as_root
def test_programs_below_a_closed_home_are_copied_to_where_the_server_user_can_run_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nobody = pwd.getpwnam("nobody")
    user = ServerUser(uid=nobody.pw_uid, gid=nobody.pw_gid)
    with tempfile.TemporaryDirectory() as shared:
        Path(shared).chmod(0o711)
        monkeypatch.setattr(server_user, "SHARED_HOME", Path(shared) / "baton")
        monkeypatch.setattr(ServerUser, "can_reach", lambda self, path: False)

        home = server_user.program_home(user)

        for program in ("initdb", "postgres"):  # initdb needs a library that lies beside the package
            command = [str(home / "bin" / program), "--version"]
            result = subprocess.run(
                command, user=user.uid, group=user.gid, cwd="/", check=False, capture_output=True, text=True
            )
            assert result.stdout.startswith(program), result.stderr
        assert server_user.program_home(user) == home


def test_a_directory_that_others_may_not_pass_cannot_be_reached(tmp_path: Path) -> None:
    stranger = ServerUser(uid=os.getuid() + 12_345, gid=os.getgid())
    tmp_path.chmod(0o700)

    assert not stranger.can_reach(tmp_path / "data")
    assert stranger.can_reach(Path("/data"))


def test_the_processes_role_may_log_in_and_do_nothing_that_is_not_granted(postgres_dir: Path) -> None:
    with Postgres(postgres_dir, durable=False) as postgres:
        write(postgres.url)
        with psycopg.connect(postgres.application_url, autocommit=True) as connection:
            for statement in ("SELECT * FROM note", "CREATE TABLE own ()", "COPY (SELECT 1) TO PROGRAM 'true'"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)


def test_the_owner_is_a_superuser_in_tests_only(state_dir: Path) -> None:
    with Postgres(state_dir) as postgres, psycopg.connect(postgres.url) as connection:
        asked = "SELECT usesuper, pg_get_userbyid(datdba) FROM pg_user, pg_database"
        asked += " WHERE usename = current_user AND datname = current_database()"
        assert connection.execute(asked).fetchall() == [(False, "baton")]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("COPY (SELECT 1) TO PROGRAM 'true'")


def test_data_of_an_earlier_release_gets_the_processes_role(postgres_dir: Path) -> None:
    with Postgres(postgres_dir, durable=False):
        pass
    (postgres_dir / "postgres.application.password").unlink()

    with Postgres(postgres_dir, durable=False) as postgres:
        psycopg.connect(postgres.application_url).close()


def test_valkey_with_a_password_lets_nobody_in_without_it(state_dir: Path) -> None:
    with Valkey(state_dir, with_password=True) as valkey:
        with pytest.raises(redis.AuthenticationError), redis.Redis(port=valkey.port) as stranger:
            stranger.ping()
        assert redis.Redis.from_url(valkey.url).ping()
        password = (state_dir / "valkey.password").read_text()
        command_line = Path(f"/proc/{server_pid(state_dir, 'valkey')}/cmdline").read_text()
        assert password not in command_line
        for name in ("valkey.password", "valkey.conf"):
            assert (state_dir / name).stat().st_mode & 0o077 == 0
