"""A PostgreSQL server for tests: its own folder, a socket instead of a port, stopped by its pid."""

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

_NAMES = itertools.count()
REQUIRED = bool(os.environ.get("CI") or os.environ.get("GDPPCA_REQUIRE_POSTGRES"))
_QUICK = ("-c", "listen_addresses=", "-c", "max_connections=40")


def _binaries() -> Path | None:
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    found = shutil.which("postgres")
    return debian[-1] if debian else Path(found).resolve().parent if found else None


def require_postgres() -> None:
    """Skip where there is no server to start, unless that is forbidden."""
    if _binaries() is None:
        assert not REQUIRED, "PostgreSQL is required here and not installed: make postgres"
        pytest.skip("PostgreSQL is not installed: make postgres")


class Server:
    """Started on construction; `stop` and `start` again as a test likes."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="gdppca-pg-"))  # short: a socket's path is
        self._as = {}
        if os.getuid() == 0:  # the server refuses root
            account = pwd.getpwnam("postgres")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self._as = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self._run("initdb", "--no-sync", "-A", "trust", "-U", "owner", "-D", self.folder / "data")
        self.start()

    def _run(self, program, *arguments):
        subprocess.run(
            [_binaries() / program, *arguments],
            check=True,
            capture_output=True,
            cwd=self.folder,
            **self._as,
        )

    def start(self):
        arguments = ("-D", self.folder / "data", "-k", self.folder, *_QUICK)
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [_binaries() / "postgres", *arguments],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                **self._as,
            )
        for _ in range(1200):
            try:
                self._run("pg_isready", "-h", self.folder)
                return
            except subprocess.CalledProcessError:
                time.sleep(0.1)
        raise RuntimeError((self.folder / "log").read_text())

    def stop(self, shutdown=signal.SIGINT):
        """At once, without waiting for clients."""
        if self._process.poll() is None:
            self._process.send_signal(shutdown)
            self._process.wait(180)

    def database(self, name):
        """Address of a new, empty database."""
        self._run("createdb", "-h", self.folder, "-U", "owner", name)
        return f"postgresql://owner@/{name}?host={self.folder}"

    def new_database(self):
        """Address of one with a name that no other test has."""
        return self.database(f"ledger{next(_NAMES)}")

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def running():
    """A server for as long as it is needed."""
    require_postgres()
    server = Server()
    try:
        yield server
    finally:
        server.remove()
