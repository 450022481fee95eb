# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""One class, one source."""

from classes import one_source
from source import File, Tree

ONE = "int Actor::poll() noexcept {\n  return 1;\n}\n"
TWO = "Actor::Open Actor::tell() {\n  return {};\n}\nActor::Actor() {}\n"


def found(files):
    return [(finding.path, finding.message.split(":")[0])
            for finding in one_source(Tree([File(path, text) for path, text in files.items()], ""))]


def test_a_class_in_two_sources_of_a_folder_is_found_where_most_of_it_is():
    files = {"shared/a/a.cpp": ONE, "shared/a/b.cpp": TWO}
    assert found(files) == [("shared/a/b.cpp", "Actor is also in a.cpp")]


def test_classes_of_one_name_in_two_folders_are_two():
    assert found({"shared/a/a.cpp": ONE, "shared/b/b.cpp": TWO}) == []


def test_a_header_and_a_test_may_define_methods_too():
    assert found({"shared/a/a.cpp": ONE, "shared/a/a.hpp": TWO, "tests/unit/a_test.cpp": TWO}) == []


def test_a_class_within_a_class_may_have_a_source_of_its_own():
    assert found({"shared/a/a.cpp": TWO, "shared/a/b.cpp": "int Actor::Lane::at() {}\n"}) == []


def test_a_call_and_a_function_of_a_namespace_are_none():
    text = "void run() {\n  Actor::wake();\n}\nint turn_clock::last() {\n  return 1;\n}\n"
    assert found({"shared/a/a.cpp": text, "shared/a/b.cpp": ONE}) == []
