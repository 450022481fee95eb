# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The runner of the pytest folders: nothing that fails is lost, nothing runs twice."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

SHARE_OUT = pathlib.Path(__file__).resolve().parent / "share_out.py"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes mount namespaces: needs root")


def run(folder, cache, *words):
    return subprocess.run([sys.executable, SHARE_OUT, *words, folder], capture_output=True,
                          text=True, check=False, env=os.environ | {"MILLRACE_CACHE": str(cache)})


@pytest.fixture
def folder(tmp_path):
    """Two files that note each test that runs."""
    tests = tmp_path / "tests"
    tests.mkdir()
    for name in ("a", "b"):
        (tests / f"test_{name}.py").write_text(
            "import pathlib\nimport pytest\n"
            "@pytest.mark.parametrize('number', range(3))\n"
            "def test_notes(number):\n"
            f"    with open('{tmp_path}/ran', 'a') as ran:\n"
            f"        ran.write(f'{name}{{number}}\\n')\n")
    return tests


def test_each_test_runs_once(folder, tmp_path):
    done = run(folder, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("\n6 passed, 0 failed, 0 skipped\n")
    assert sorted((tmp_path / "ran").read_text().split()) == ["a0", "a1", "a2", "b0", "b1", "b2"]


@pytest.mark.parametrize("text, word", [
    ("def test_x(): assert 1 == 2\n", "assert 1 == 2"),
    ("import no_such_module\n", "no_such_module"),
    ("def test_x(): import os; os._exit(0)\n", "no result"),
    ("def test_x(): import os; os.kill(os.getpid(), 9)\n", "no result"),
])
def test_what_fails_in_one_file_fails_the_whole_and_is_shown(folder, tmp_path, text, word):
    (folder / "test_c.py").write_text(text)
    done = run(folder, tmp_path)
    assert done.returncode == 1
    assert word in done.stdout
    assert f"failed: {folder}/test_c.py" in done.stdout


def test_a_folder_without_a_test_fails(tmp_path):
    (tmp_path / "none").mkdir()
    assert run(tmp_path / "none", tmp_path).returncode == 1


def test_several_folders_are_one_run(folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "test_a.py").write_text("def test_x(): pass\n")
    done = run(folder, tmp_path, "--workers", "2", other)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("\n7 passed, 0 failed, 0 skipped\n")


def test_a_folder_without_a_test_fails_beside_one_that_has_some(folder, tmp_path):
    (tmp_path / "none").mkdir()
    done = run(folder, tmp_path, tmp_path / "none")
    assert done.returncode == 1
    assert f"failed: {tmp_path}/none" in done.stdout


def test_a_skipped_test_is_counted(folder, tmp_path):
    (folder / "test_c.py").write_text("import pytest\ndef test_x(): pytest.skip('no reason')\n")
    done = run(folder, tmp_path)
    assert done.returncode == 0
    assert "6 passed, 0 failed, 1 skipped" in done.stdout


def begun(tmp_path):
    """The files in the order in which their first tests ran, since the last time."""
    notes = (tmp_path / "ran").read_text().split()
    (tmp_path / "ran").unlink()
    return [note[0] for note in notes if note.endswith("0")]


def test_the_longest_begins_first_and_of_unknown_ones_the_largest(folder, tmp_path):
    with (folder / "test_b.py").open("a") as file:
        file.write("# more text\n")
    assert run(folder, tmp_path, "--workers", "1").returncode == 0
    assert begun(tmp_path) == ["b", "a"]
    names = [str(folder / f"test_{name}.py") for name in "ab"]
    (tmp_path / "times.json").write_text(json.dumps(dict(zip(names, (2, 1)))))
    assert run(folder, tmp_path, "--workers", "1").returncode == 0
    assert begun(tmp_path) == ["a", "b"]


def test_what_judges_the_whole_host_comes_last_and_its_namesake_elsewhere_does_not(
        folder, tmp_path):
    (tmp_path / "pipeline").mkdir()
    for at in (folder, tmp_path / "pipeline"):
        text = (folder / "test_a.py").read_text().replace("'a{", f"'{at.name[0]}{{")
        (at / "test_running.py").write_text(text + "# the largest\n")
    done = run(folder, tmp_path, "--workers", "1", tmp_path / "pipeline")
    assert done.returncode == 0, done.stdout + done.stderr
    order = begun(tmp_path)
    assert order[0] == "t" and order[-1] == "p", order


def test_each_folder_has_its_counts(folder, tmp_path):
    done = run(folder, tmp_path)
    assert f"{folder}: 6 passed, " in done.stdout


@needs_root
def test_files_do_not_see_what_others_run(folder, tmp_path):
    for name in ("c", "d"):
        (folder / f"test_{name}.py").write_text(
            "import pathlib\n"
            "def test_x():\n"
            "    run = pathlib.Path('/run/millrace')\n"
            "    assert not list(run.iterdir())\n"
            "    (run / 'mine').mkdir()\n")
    done = run(folder, tmp_path)
    assert done.returncode == 0, done.stdout
