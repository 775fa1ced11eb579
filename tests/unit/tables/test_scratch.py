"""The folder for raw data: private, and gone on every exit."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading

import numpy as np
import pyarrow as pa
import pytest

from gdppca import DataError
from gdppca.noise import secure_noise
from gdppca.tables.open import open_table
from gdppca.tables.scratch import private_folder

_HOLD = """
import signal, time
from gdppca.tables.scratch import private_folder
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored
with private_folder() as folder:
    (folder / "raw").write_text("somebody")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def holder(tmp_path):
    """A process that holds a folder, and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    return process, process.stdout.readline().strip()


def test_folder_is_private_and_removed(tmp_path):
    with private_folder() as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.parent == tmp_path
        (folder / "raw").write_text("somebody")
    assert not list(tmp_path.iterdir())


def test_folder_is_removed_after_an_error(tmp_path):
    with pytest.raises(KeyboardInterrupt), private_folder():
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_folder_is_removed_on_signals(number, tmp_path):
    process, folder = holder(tmp_path)
    assert os.path.exists(os.path.join(folder, "raw"))
    process.send_signal(number)
    assert process.wait(20) != 0
    assert not os.path.exists(folder)


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    process, folder = holder(tmp_path)
    process.kill()
    process.wait(20)
    with private_folder():
        assert os.path.exists(folder)  # its owner may be about to lock it
    os.utime(folder, (0, 0))
    with private_folder():
        assert not os.path.exists(folder)


def test_folder_of_a_living_process_is_left_alone(tmp_path):
    process, folder = holder(tmp_path)
    os.utime(folder, (0, 0))
    try:
        with private_folder():
            assert os.path.exists(folder)
    finally:
        process.terminate()
        process.wait(20)


def test_signal_of_the_program_itself_is_not_taken():
    def own(number, frame):
        """The program's own plan."""

    before = signal.signal(signal.SIGTERM, own)
    try:
        with private_folder():
            assert signal.getsignal(signal.SIGTERM) is own
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
    with private_folder():
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_folder_works_outside_the_main_thread(tmp_path):
    seen = []

    def use():
        with private_folder() as folder:
            seen.append(folder.exists())

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert seen == [True]
    assert not list(tmp_path.iterdir())


def test_missing_temporary_folder_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(DataError, match="gone"), private_folder():
        pass


@pytest.mark.parametrize("name", ["it's", "''", 'a"b', "a\nb", "ü 中", "a;b", "a*b", "[a]", "$x"])
def test_rows_can_wait_in_a_folder_with_an_awkward_name(name, monkeypatch, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    rows = np.arange(6.0).reshape(3, 2)
    stream = pa.table({"a": rows[:, 0], "b": rows[:, 1]}).to_reader()  # read once, kept there
    with open_table(stream, secure_noise(), assume_shuffled=True, whole=False) as engine:
        np.testing.assert_array_equal(engine.sample(3), rows)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("name", ["a?b", "a\\b", os.fsdecode(b"a\xffb")])
def test_folder_that_duckdb_would_take_for_another_is_refused(name, monkeypatch, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with pytest.raises(DataError, match="must be text") as refused, private_folder():
        pass
    assert str(refused.value).isascii()
    assert not list(folder.iterdir())
