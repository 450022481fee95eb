# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`make new-function`: what it lays out compiles and stands in the table, or it says why not."""

import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "orchestration/host"))

import new_function  # noqa: E402  (a script of the product, not a package)

EDITED = ("services/functions/table.cpp", "services/functions/CMakeLists.txt")


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """A tree with the files that are edited; everything else is included from the real one."""
    for path in EDITED:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def syntax_errors(tree, path):
    command = ["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
               "-Wno-missing-field-initializers", f"-I{tree}", f"-I{ROOT}",
               f'-DMILLRACE_SOURCE_DIR="{ROOT}"', tree / path]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_everything_that_is_laid_out_compiles(tree):
    paths = new_function.lay_out("rate_limit", tree)
    sources = [path for path in paths if path.endswith(".cpp")]
    assert len(sources) == 5
    # test_new_function_texts.py builds the other two, and runs them.
    beside = [path for path in sources if not path.endswith(("rate_limit.cpp", "limit_test.cpp"))]
    assert len(beside) == 3
    for path in beside:
        assert syntax_errors(tree, path) == "", path


def test_the_new_row_is_the_last_and_the_others_stay(tree):
    before = (tree / EDITED[0]).read_text().splitlines()
    new_function.lay_out("police", tree)
    after = (tree / EDITED[0]).read_text().splitlines()
    assert [line for line in after if line not in before] == [
        '#include "services/functions/police/police.hpp"', "      police_type(),"]
    assert [line for line in before if line not in after] == []
    cmake = (tree / EDITED[1]).read_text()
    assert " police builder)" in cmake


@pytest.mark.parametrize("name", ["", "Nat", "nat-44", "4nat", "_nat", "nat_", "a__b", "x" * 21,
                                  "../nat", "nat x"])
def test_what_is_no_name_is_refused_and_nothing_is_written(tree, name):
    before = sorted(tree.rglob("*"))
    with pytest.raises(new_function.Refused, match="no name of a function"):
        new_function.lay_out(name, tree)
    assert sorted(tree.rglob("*")) == before


def test_a_function_that_is_there_is_not_overwritten(tree):
    new_function.lay_out("nat", tree)
    with pytest.raises(new_function.Refused, match="is there already"):
        new_function.lay_out("nat", tree)
    with pytest.raises(new_function.Refused, match="is there already"):
        new_function.lay_out("route", ROOT)


def test_a_table_that_looks_different_is_refused_and_nothing_is_written(tree):
    (tree / EDITED[0]).write_text("int table;\n")
    before = sorted(tree.rglob("*"))
    with pytest.raises(new_function.Refused, match="table.cpp"):
        new_function.lay_out("nat", tree)
    assert sorted(tree.rglob("*")) == before


@pytest.mark.parametrize("kind", ["", "flow", "Packet", "batch "])
def test_what_is_no_kind_is_refused_with_those_that_there_are(tree, kind):
    before = sorted(tree.rglob("*"))
    with pytest.raises(new_function.Refused, match="no kind of function.*: batch, packet$"):
        new_function.lay_out("nat", tree, kind)
    assert sorted(tree.rglob("*")) == before


def test_a_kind_of_packets_has_the_same_files_and_row(tree):
    paths = new_function.lay_out("nat", tree, "packet")
    assert len(paths) == 10
    assert "nat_type()," in (tree / EDITED[0]).read_text()
    assert "PacketFunction" in (tree / "services/functions/nat/nat.cpp").read_text()


def test_the_command_wants_one_name_and_a_kind_at_most(capsys):
    assert new_function.main([]) == 2
    assert new_function.main(["nat", "packet", "more"]) == 2
    assert new_function.main(["nat", "stream"]) == 1
    assert "there are: batch, packet" in capsys.readouterr().err
    assert new_function.main(["Not-a-name"]) == 1
    assert "no name of a function" in capsys.readouterr().err
