"""Examples in docstrings, the guide and the notebooks are run."""

import contextlib
import doctest
import importlib
import os
import re
import subprocess
from pathlib import Path

import pytest

import eyot

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["_files", "classify", "detect", "learn", "map", "plot", "pyod", "river", "sets"]
PAGES = sorted((ROOT / "docs/python").glob("*.md")) + [ROOT / "python/README.md"]
NOTEBOOKS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    outcome = doctest.testmod(importlib.import_module(f"eyot.{name}"))
    assert outcome.failed == 0


def test_every_class_has_an_example():
    for name in eyot.__all__:
        documented = getattr(eyot, name).__doc__
        assert "Parameters\n" in documented and (">>>" in documented or name == "from_bytes"), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages(page, tmp_path, program):
    places = [os.environ.get("EYOT_PROGRAM", ""), ROOT / "target/release/eyot", ROOT / "target/debug/eyot"]
    folder = next(Path(place).parent for place in places if place and Path(place).is_file())
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    names = {}
    with contextlib.chdir(tmp_path) if hasattr(contextlib, "chdir") else _chdir(tmp_path):
        for language, code in re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
            if language == "python":
                exec(compile(code, f"{page.name}", "exec"), names)
            elif language == "sh" and "pip install" not in code and "cargo" not in code:
                subprocess.run(["bash", "-ec", code], check=True, env=environment, capture_output=True)


@contextlib.contextmanager
def _chdir(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(path, tmp_path, program):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    places = [os.environ.get("EYOT_PROGRAM", ""), ROOT / "target/release/eyot", ROOT / "target/debug/eyot"]
    folder = next(Path(place).parent for place in places if place and Path(place).is_file())
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
