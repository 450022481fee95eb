# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The checks that run a compiler, on small trees of their own."""

import json

import pytest

import compile as checks

NVCC = checks.find_nvcc()  # of the real tree
SIZE = '#include "shared/size.hpp"\n'


@pytest.fixture(name="tree")
def fixture_tree(tmp_path, monkeypatch):
    """write(path, text) into a tree whose build compiles every shared/*.cpp."""
    monkeypatch.setattr(checks, "ROOT", tmp_path)
    monkeypatch.setenv("MILLRACE_CACHE", str(tmp_path / "memory"))  # the user's knows these trees
    monkeypatch.setattr(checks, "find_nvcc", lambda: NVCC)
    (tmp_path / "build").mkdir()

    def write(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        sources = sorted(tmp_path.glob("shared/*.cpp"))
        (tmp_path / "build/compile_commands.json").write_text(json.dumps([
            {"file": str(source), "directory": str(tmp_path / "build"),
             "command": f"ccache g++ -std=c++20 -I{tmp_path} -o x.o -c {source}"}
            for source in sources]))

    write(".clang-tidy", "Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\n"
                         "HeaderFilterRegex: '.*/shared/.*'\n")
    write("shared/size.hpp", "#pragma once\nstruct Size { int bytes; };\n")
    write("shared/size.cpp", SIZE + "int bytes_of(Size size) { return size.bytes; }\n")
    return write


def run(check, tmp_path, capsys):
    """(passed, what was printed, which jobs really ran)."""
    ran = []
    memory_run = checks.subprocess.run

    def counted(words, **options):
        if "-MM" not in words and "--version" not in words:
            ran.append(words)
        return memory_run(words, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks.subprocess, "run", counted)
        passed = check(tmp_path / "build")
    return passed, capsys.readouterr().out, len(ran)


def test_a_header_that_needs_another_one_is_found(tree, tmp_path, capsys):
    assert run(checks.headers, tmp_path, capsys)[0]
    tree("shared/needs.hpp", "#pragma once\ninline Size twice(Size s) { return {2 * s.bytes}; }\n")
    passed, output, _ = run(checks.headers, tmp_path, capsys)
    assert not passed
    assert "shared/needs.hpp: FAILED" in output and "1 passed, 1 failed" in output
    tree("shared/needs.hpp", SIZE + "inline Size twice(Size s) { return {2 * s.bytes}; }\n")
    assert run(checks.headers, tmp_path, capsys)[0]


def test_lint_finds_what_is_in_a_source_and_in_a_header_of_it(tree, tmp_path, capsys):
    assert run(checks.lint, tmp_path, capsys)[:2] == (True, "1 passed, 0 failed\n")
    tree("shared/none.cpp", SIZE + "int* none() { return 0; }\n")
    passed, output, _ = run(checks.lint, tmp_path, capsys)
    assert not passed
    assert "shared/none.cpp: FAILED" in output and "1 passed, 1 failed" in output
    tree("shared/none.cpp", "")
    tree("shared/size.hpp", "#pragma once\nstruct Size { int bytes; int* next = 0; };\n")
    passed, output, _ = run(checks.lint, tmp_path, capsys)
    assert not passed and "shared/size.cpp: FAILED" in output


def test_what_passed_is_looked_at_again_only_when_something_it_reads_changed(
        tree, tmp_path, capsys):
    tree("shared/other.cpp", "int other() { return 1; }\n")
    assert run(checks.lint, tmp_path, capsys)[2] == 2
    assert run(checks.lint, tmp_path, capsys) == (True, "2 passed, 0 failed\n", 0)
    tree("shared/size.hpp", "#pragma once\nstruct Size { int bytes; int words; };\n")
    assert run(checks.lint, tmp_path, capsys)[2] == 1
    tree(".clang-tidy", "Checks: '-*,bugprone-*'\nWarningsAsErrors: '*'\n")
    assert run(checks.lint, tmp_path, capsys)[2] == 2


def test_what_failed_is_not_remembered(tree, tmp_path, capsys):
    tree("shared/size.cpp", SIZE + "int* none() { return 0; }\n")
    assert not run(checks.lint, tmp_path, capsys)[0]
    assert not run(checks.lint, tmp_path, capsys)[0]


def test_a_compiler_that_is_killed_has_not_passed(tree, tmp_path, capsys):
    job = checks.Job("a job", ("sh", "-c", "kill -9 $$"), ("false",))
    assert not checks.run_all([job], checks.Memory(tmp_path / "checked"))
    assert capsys.readouterr().out == "a job: FAILED\nended by signal 9\n\n0 passed, 1 failed\n"


def test_a_check_that_looked_at_nothing_has_not_passed(tree, tmp_path, capsys):
    (tmp_path / "shared/size.hpp").unlink()
    tree("shared/size.cpp", "")
    assert not run(checks.headers, tmp_path, capsys)[0]


def test_a_layout_is_asserted_under_both_compilers(tree, tmp_path, capsys, monkeypatch):
    tree("gpu-worker/cuda/a_layout_check.cu", SIZE + "static_assert(sizeof(Size) == 4);\n")
    passed, output, count = run(checks.layouts, tmp_path, capsys)
    assert passed and count == (2 if NVCC else 1)
    tree("shared/size.hpp", "#pragma once\nstruct Size { long bytes; };\n")
    passed, output, _ = run(checks.layouts, tmp_path, capsys)
    assert not passed
    assert "gpu-worker/cuda/a_layout_check.cu (g++): FAILED" in output
    assert NVCC is None or "gpu-worker/cuda/a_layout_check.cu (nvcc): FAILED" in output
    monkeypatch.setattr(checks, "find_nvcc", lambda: None)
    tree("shared/size.hpp", "#pragma once\nstruct Size { int bytes; };\n")
    passed, output, _ = run(checks.layouts, tmp_path, capsys)
    assert passed and output.startswith("nvcc: skipped")


@pytest.mark.skipif(NVCC is None, reason="no nvcc on this machine")
@pytest.mark.parametrize("text", [
    SIZE + "#ifdef __CUDACC__\nstatic_assert(sizeof(Size) == 8);\n#endif\n",
    "__global__ void fill(int* out) { *out = undeclared; }\n",
    "__global__ void fill(int* out) { int unused; *out = 1; }\n"])
def test_what_only_nvcc_sees_is_found(tree, tmp_path, capsys, text):
    tree("gpu-worker/cuda/fill.cu", "__global__ void fill(int* out) { *out = 1; }\n")
    tree("gpu-worker/cuda/a_layout_check.cu", SIZE + "static_assert(sizeof(Size) == 4);\n")
    assert run(checks.layouts, tmp_path, capsys)[0]
    tree("gpu-worker/cuda/fill.cu", text)
    passed, output, _ = run(checks.layouts, tmp_path, capsys)
    assert not passed and "gpu-worker/cuda/fill.cu (nvcc): FAILED" in output
