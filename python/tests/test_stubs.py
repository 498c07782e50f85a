"""The committed stubs say what the binary has."""

import subprocess
import sys


def test_stubs_go_with_the_binary():
    command = [sys.executable, "-m", "mypy.stubtest", "eyot._eyot", "--ignore-missing-stub"]
    outcome = subprocess.run(command, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
