"""The wheel is the same bytes whoever builds it, whenever."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def built(source, out):
    """The one wheel of a tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    [wheel] = out.glob("*.whl")
    return wheel


def test_two_builds_have_the_same_hash(tmp_path):
    copy = tmp_path / "copy"
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", copy / "src", ignore=without)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for file in copy.rglob("*"):
        os.utime(file, (10**9, 10**9))  # another day
    wheels = [built(ROOT, tmp_path / "first"), built(copy, tmp_path / "second")]
    assert len({hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}) == 1
    names = zipfile.ZipFile(wheels[0]).namelist()
    assert "gdppca/py.typed" in names
    assert any(name.endswith(".html.j2") for name in names)
