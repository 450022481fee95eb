# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes, licence headers, and how functions are found."""

import pytest

from functions import functions_of
from sizes import licence, sizes
from source import File

LONG_BODY = "  step();\n" * 70


def rules(rule, path, text):
    return [finding.rule for finding in rule(File(path, text))]


def found(text, path="shared/a.cpp"):
    return [(f.name, f.first_line, f.last_line) for f in functions_of(File(path, text))]


def test_a_file_may_have_400_lines_and_not_401():
    assert rules(sizes, "shared/a.cpp", "int a;\n" * 400) == []
    assert rules(sizes, "shared/a.cpp", "int a;\n" * 401) == ["file-length"]


def test_a_line_may_have_100_columns_and_not_101():
    assert rules(sizes, "a.py", "#" * 100 + "\n") == []
    assert rules(sizes, "a.py", "#" * 101 + "\n") == ["line-length"]


def test_a_table_without_formatting_may_be_wide_and_long():
    table = "// clang-format off\n" + ("x," * 60 + "\n") * 500 + "// clang-format on\n"
    assert rules(sizes, "shared/a.cpp", table) == []


def test_a_document_is_not_measured():
    assert rules(sizes, "README.md", "x" * 500) == []


@pytest.mark.parametrize("head", ["void run()", "Actor::Actor(int a) : a_{a}, b_(a)",
                                  "template <typename T>\nvoid A::run(T t) const noexcept",
                                  "auto run() -> std::vector<int>", "TEST(Ring, Keeps)"])
def test_a_function_of_more_than_70_lines_is_found(head):
    assert rules(sizes, "shared/a.cpp", f"{head} {{\n{LONG_BODY}}}\n") == ["function-length"]


def test_a_long_python_and_shell_function_is_found():
    assert rules(sizes, "a.py", "def f():\n" + "    g()\n" * 70) == ["function-length"]
    assert rules(sizes, "a.sh", "f() {\n" + "  g\n" * 70 + "}\n") == ["function-length"]


def test_a_long_namespace_or_class_is_no_function():
    text = "namespace a {\nclass alignas(64) B final : public C {\n" + "  int x;\n" * 90 + "};\n}\n"
    assert rules(sizes, "shared/a.hpp", text) == []


def test_functions_in_classes_and_namespaces_are_found_by_name():
    text = """namespace a {
class B {
 public:
  explicit B(int x) : x_{x} { check(x); }
  int get() const { return x_; }

 private:
  int x_{1};
};
int B::twice() { if (x_) { return 2; } return 0; }
constexpr int kTable[] = {1, 2};
bool operator==(B a, B b) { return true; }
extern "C" int run() { return 0; }
}
"""
    names = [name for name, _, _ in found(text)]
    assert names == ["B", "get", "B::twice", "operator==", "run"]


def test_braces_in_comments_strings_and_dead_branches_do_not_count():
    text = """int a() {
  // {
  const char* s = "}{"; char c = '{'; auto r = R"x({{)x";
  int big = 1'000'000;
#if A
  if (s) {
#else
  if (c) {
#endif
  }
}
int b() { return 0; }
"""
    assert found(text) == [("a", 1, 11), ("b", 12, 12)]


@pytest.mark.parametrize("path", ["shared/a.cpp", "a.sh", "b.yaml", "Makefile", ".ci/run"])
def test_a_source_needs_two_spdx_lines(path):
    mark = "//" if path.endswith(".cpp") else "#"
    good = (f"{mark} SPDX-FileCopyrightText: 2026 The Millrace authors\n"
            f"{mark} SPDX-License-Identifier: Apache-2.0\n")
    assert rules(licence, path, good) == []
    assert rules(licence, path, "something\n") == ["licence", "licence"]


def test_data_and_documents_need_no_spdx_lines():
    assert rules(licence, "dashboards/a.json", "{}\n") == []
    assert rules(licence, "README.md", "# Hello\n") == []
    assert rules(licence, "tests/fuzz/corpus/plan/a.yaml", "a: 1\n") == []
