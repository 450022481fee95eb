# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Every wrong topology of topology-errors/ is refused with exactly what stands there."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from captures import BUILD
from topology_errors import CASES

CASE_COUNT_MIN = 80


def said_of(folder, file, command=()):
    """Exit status and the lines about the topology, with the folder's name as FOLDER."""
    done = subprocess.run([*command, BUILD / "bin/millrace", "validate", file.name], cwd=folder,
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.replace(f"{folder}/", "FOLDER/").splitlines()


def test_there_are_enough_of_them_and_each_expects_something():
    assert len(CASES) >= CASE_COUNT_MIN
    assert [case.name for case in CASES if not case.expected] == []
    names = [(case.section, case.name) for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.section}: {case.name}")
def test_is_refused_with_the_right_message(case, tmp_path):
    assert said_of(tmp_path, case.write(tmp_path)) == (1, case.expected)


@pytest.fixture
def open_folder():
    """A folder that all users can look into; pytest's own is closed."""
    with tempfile.TemporaryDirectory(prefix="millrace-validate-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        yield folder


def test_nobody_can_validate(open_folder):
    """The least of all users: no rights, no home, not even the build's folder."""
    shutil.copy(BUILD / "bin/millrace", open_folder)
    (open_folder / "t.yaml").write_text("millrace: 1\nports: {a: {device: null}}\n"
                                        "functions: {r: {type: match, rules: /dev/null}}\n"
                                        "paths: {p: {from: a, run: r}}\n")
    command = [open_folder / "millrace", "validate", "t.yaml"]
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    done = subprocess.run(command, cwd=open_folder, env={"PATH": os.environ["PATH"]},
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "is right: ports 1" in done.stdout
