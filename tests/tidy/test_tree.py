# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tests in the mirrored tree, reachability, documents, exceptions, and the tree itself."""

import pytest

import documents
import reach
import tidy
from source import File, Finding, Tree

BRANCHES = "int f(int a) { if (a) { return 1; } return 0; }\n"


def rules(rule, files, build_text=""):
    found = rule(Tree([File(path, text) for path, text in files.items()], build_text))
    return [(finding.rule, finding.path) for finding in found]


def test_a_source_with_a_branch_needs_a_test():
    found = rules(reach.untested, {"shared/base/a.cpp": BRANCHES})
    assert found == [("untested", "shared/base/a.cpp")]


@pytest.mark.parametrize("test, text", [
    ("tests/unit/shared/base/a_test.cpp", ""),
    ("tests/unit/shared/base/other_test.cpp", '#include "shared/base/a.hpp"\n')])
def test_a_test_in_the_mirrored_folder_is_one(test, text):
    files = {"shared/base/a.cpp": BRANCHES, "shared/base/a.hpp": "", test: text}
    assert rules(reach.untested, files) == []


def test_a_test_elsewhere_is_none():
    files = {"shared/base/a.hpp": BRANCHES,
             "tests/unit/shared/ring/b_test.cpp": '#include "shared/base/a.hpp"\n'}
    assert rules(reach.untested, files) == [("untested", "shared/base/a.hpp")]


def test_a_source_without_a_branch_needs_no_test():
    assert rules(reach.untested, {"shared/base/a.cpp": "int f() { return 1; }\n"}) == []


def test_a_test_whose_source_is_gone_is_found():
    files = {"tests/unit/shared/base/a_test.cpp": ""}
    assert rules(reach.orphan_tests, files) != []
    assert rules(reach.orphan_tests, {**files, "shared/base/a.hpp": ""}) == []


def test_a_source_that_ninja_does_not_build_is_found():
    files = {"shared/base/a.cpp": ""}
    assert rules(reach.unbuilt, files, "build x: cxx /src/shared/base/b.cpp")
    assert rules(reach.unbuilt, files, "build x: cxx /src/shared/base/a.cpp") == []


def test_without_a_build_nothing_can_be_said_and_that_is_a_finding():
    assert [f.rule for f in reach.unbuilt(Tree([], None))] == ["unreachable"]


def test_a_header_that_nobody_includes_is_found():
    files = {"shared/base/a.hpp": '#include "shared/base/a.hpp"\n'}
    assert rules(reach.unincluded, files) == [("unreachable", "shared/base/a.hpp")]
    assert rules(reach.unincluded, {**files, "shared/b.cpp": files["shared/base/a.hpp"]}) == []


def test_an_include_of_a_file_that_is_not_there_is_found():
    files = {"shared/a.cpp": '#include "shared/b.hpp"\n'}
    assert rules(reach.unincluded, files) == [("include-root", "shared/a.cpp")]
    assert rules(reach.unincluded, files, "build generated/shared/b.hpp: x") == []


def test_a_script_that_nothing_names_is_found():
    files = {"orchestration/host/a.sh": ""}
    assert rules(reach.unmentioned, files) == [("unreachable", "orchestration/host/a.sh")]
    assert rules(reach.unmentioned, {**files, "Makefile": "\t@orchestration/host/a.sh\n"}) == []


def test_a_link_to_what_is_not_there_is_found():
    files = {"docs/a.md": "[b](b.md#part) ![c](../c.png) [web](https://example.org/x)\n"}
    assert [f[0] for f in rules(documents.links, files)] == ["broken-link", "broken-link"]
    assert rules(documents.links, {**files, "docs/b.md": "", "c.png": ""}) == []


def test_a_path_that_is_not_there_is_found_in_code_and_not_in_prose():
    files = {"README.md": "shared/gone and `shared/base/a.hpp`\n"}
    assert rules(documents.named_paths, files) == [("named-path", "README.md")]
    assert rules(documents.named_paths, {**files, "shared/base/a.hpp": ""}) == []


@pytest.mark.parametrize("code", ["`services/functions/<name>/`", "`shared/base/*.hpp`",
                                  "`services/functions/{a,b}`", "`shared/base/x_{a,b}.hpp`",
                                  "`shared/base/`"])
def test_patterns_and_folders_are_paths(code):
    files = {"README.md": code, "shared/base/a.hpp": "", "services/functions/a/b.hpp": ""}
    assert rules(documents.named_paths, files) == []


@pytest.mark.parametrize("word", ["/wo" + "rk/main", "https://py" + "pi.org/simple",
                                  "http://deb" + ".debian.org"])
def test_a_machine_or_a_registry_is_found(word):
    assert rules(documents.forbidden_words, {"a.sh": f"x {word}\n"}) == [("forbidden-word", "a.sh")]


def test_a_path_inside_the_tree_is_no_machine():
    assert rules(documents.forbidden_words, {"a.sh": "io/wo" + "rk/x net" + "/home/\n"}) == []


def test_an_exception_needs_a_reason():
    exceptions, malformed = tidy.read_exceptions("# why\nuntested a.cpp: main\nuntested b.cpp:\n")
    assert exceptions == {("untested", "a.cpp"): "main"}
    assert [finding.line for finding in malformed] == [3]


def test_an_exception_excuses_one_rule_of_one_file():
    found = [Finding("untested", "a.cpp", 0, ""), Finding("banned", "a.cpp", 1, "")]
    kept = tidy.apply_exceptions(found, {("untested", "a.cpp"): "main"})
    assert [finding.rule for finding in kept] == ["banned"]


def test_an_exception_that_excuses_nothing_is_found():
    kept = tidy.apply_exceptions([], {("untested", "a.cpp"): "main"})
    assert [finding.rule for finding in kept] == ["exceptions"]
