# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Every source with a branch has a test, and every file is used by something."""

import pathlib
import re

from boundaries import includes
from source import Finding

BRANCH = re.compile(r"\b(?:if|for|while|switch)\b\s*(?:constexpr\s*)?\(|\?[^:;]*:(?!:)")
PYTHON_BRANCH = re.compile(r"^\s*(?:if|elif|for|while|match|try)\b.*:", re.MULTILINE)
TESTED = (".cpp", ".hpp", ".cu", ".cuh")
# Found by name by a tool, not by another file.
FOUND_BY_NAME = re.compile(
    r"(?:^|/)(?:test_\w+\.py|\w+_test\.(?:py|cpp)|conftest\.py|__init__\.py|CMakeLists\.txt"
    r"|\w+_fuzz\.cpp|\w+_layout_check\.cu)$")


def tests_of(path):
    """Paths of tests that count as the test of a source, in the mirrored tree."""
    source = pathlib.PurePosixPath(path)
    if source.suffix == ".py":
        return [f"tests/{folder}/test_{source.stem}.py"
                for folder in (f"unit/{source.parent}", "tidy", "pipeline", "golden", "crash",
                               "dashboards")]
    mirrored = [f"tests/unit/{source.parent}/{source.stem}_test.cpp"]
    if source.suffix in (".cu", ".cuh"):
        mirrored += [f"tests/gpu/{source.parent}/{source.stem}_test.{end}" for end in ("cpp", "py")]
    return mirrored


def headers_of(tree, file):
    """The headers that a source is tested through: itself, its own, or those beside it."""
    stem = file.path.rsplit(".", 1)[0]
    own = [stem + end for end in (".hpp", ".cuh") if stem + end in tree.files]
    folder = file.path.rsplit("/", 1)[0]
    beside = [name for _, _, name in includes(file) if name.rsplit("/", 1)[0] == folder]
    return own or beside


def is_tested(tree, file):
    """Whether a test has the source's name, or one of the mirrored folder includes its header."""
    if any(test in tree.files for test in tests_of(file.path)):
        return True
    headers = headers_of(tree, file)
    folder = f"tests/unit/{file.path.rsplit('/', 1)[0]}/"
    return any(name in headers for test in tree.with_suffix("_test.cpp")
               if test.path.startswith(folder) for _, _, name in includes(test))


def untested(tree):
    for file in tree.with_suffix(".py", *TESTED):
        python = file.path.endswith(".py")
        if not file.in_product or file.path.endswith("_layout_check.cu"):
            continue
        branches = PYTHON_BRANCH.search(file.text) if python else BRANCH.search(file.bare)
        if branches and not is_tested(tree, file):
            yield Finding("untested", file.path, 0,
                          f"has branches and no test: write {tests_of(file.path)[0]}")


def orphan_tests(tree):
    """A mirrored test whose source is gone, or has another name."""
    for file in tree.with_suffix("_test.cpp"):
        if not file.path.startswith("tests/unit/"):
            continue
        source = file.path.removeprefix("tests/unit/").removesuffix("_test.cpp")
        ends = (".cpp", ".hpp", ".cu", ".cuh", ".capnp", "")
        if not any(source + end in tree.paths for end in ends):
            yield Finding("orphan-test", file.path, 0, f"there is no {source}.hpp or .cpp")


def unbuilt(tree):
    """Sources that no build compiles."""
    if tree.build_text is None:
        yield Finding("unreachable", "build/check", 0, "not configured: run 'make check'")
        return
    cuda = ".cu.o" in tree.build_text
    for file in tree.with_suffix(".cpp", ".cu", ".capnp"):
        if file.path.endswith(".cu") and (not cuda or FOUND_BY_NAME.search(file.path)):
            continue
        if not re.search(rf"/{re.escape(file.path)}\b", tree.build_text):
            yield Finding("unreachable", file.path, 0, "the build does not compile it")


def unincluded(tree):
    """Headers that no other file includes, and includes of files that are not there."""
    used = set()
    for file in tree.with_suffix(".cpp", ".hpp", ".cu", ".cuh"):
        for line, quoted, name in includes(file):
            if name != file.path:
                used.add(name)
            generated = f"generated/{name}" in (tree.build_text or "")
            if quoted and not generated and name not in tree.files and not name.startswith("."):
                yield Finding("include-root", file.path, line, f"there is no {name}")
    for file in tree.with_suffix(".hpp", ".cuh"):
        if file.path not in used:
            yield Finding("unreachable", file.path, 0, "no other file includes it")


def unmentioned(tree):
    """Scripts and CMake files that nothing names."""
    texts = [file for file in tree.files.values() if not file.path.endswith((".hpp", ".cu"))]
    for file in tree.with_suffix(".py", ".sh", ".cmake"):
        if FOUND_BY_NAME.search(file.path):
            continue
        name = pathlib.PurePosixPath(file.path)
        word = re.compile(rf"\b{re.escape(name.name)}\b|\b(?:import|from|include\()\s*"
                          rf"(?:[\w.]+\.)?{re.escape(name.stem)}\b")
        if not any(word.search(other.text) for other in texts if other is not file):
            yield Finding("unreachable", file.path, 0, "nothing names it")


TREE_RULES = (untested, orphan_tests, unbuilt, unincluded, unmentioned)
