# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the functions of a source by matching braces in its bare text."""

import ast
import dataclasses
import re

SCOPE = re.compile(r"^\s*(?:inline\s+)?(?:namespace|class|struct|enum|union|extern)\b")
TEMPLATE = re.compile(r"^\s*template\s*<")
INITIALIZERS = re.compile(r"\)\s*(?:noexcept(?:\s*\([^)]*\))?\s*)?:(?!:)")
ASSIGNED = re.compile(r"(?<![=!<>+\-*/%&|^])=(?!=)")
OPERATOR = re.compile(r"\boperator\s*(?:\(\s*\)|[^\s\w(]+)")
# A head that starts like a scope but is a function: `extern "C" int run() {`.
RETURNS = re.compile(r"\)\s*(?:const|noexcept|override|final|\s)*$")
NAME = re.compile(r"(~?[\w:]+|operator.*?)\s*\($")


@dataclasses.dataclass(frozen=True)
class Function:
    """`head` is everything before the body; lines are 1-based and include head and last brace."""

    name: str
    head: str
    body: str
    first_line: int
    last_line: int

    @property
    def length(self):
        return self.last_line - self.first_line + 1


def matching_brace(text, start):
    """Index of the brace that closes the one at `start`; the last index if it is never closed."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at
    return len(text) - 1


def without_nested(head, opening, closing):
    """The head without what stands between brackets: default arguments, template arguments."""
    out, depth = [], 0
    for char in head:
        depth -= char == closing and depth > 0
        if depth == 0:
            out.append(char)
        depth += char == opening
    return "".join(out)


def strip_template(head):
    """Removes leading `template <...>`."""
    while match := TEMPLATE.match(head):
        depth, at = 0, match.end() - 1
        while at < len(head):
            depth += (head[at] == "<") - (head[at] == ">")
            at += 1
            if depth == 0:
                break
        head = head[at:]
    return head


def kind_of(head):
    """What the brace after `head` opens: 'scope', 'function', 'part' (of a head), or 'value'."""
    head = strip_template(head.strip())
    flat = without_nested(OPERATOR.sub("operator", head), "(", ")")
    if SCOPE.match(head) and not RETURNS.search(flat):
        return "scope"
    if ASSIGNED.search(flat):
        return "value"
    if INITIALIZERS.search(flat) and re.search(r"[\w>]\s*$", head):
        return "part"
    return "function" if "(" in flat else "value"


def name_of(head):
    """The function's name: what stands before its first parenthesis at the outermost level."""
    flat = without_nested(strip_template(head.strip()), "(", ")")
    match = NAME.search(flat[:flat.find("(") + 1])
    return match.group(1) if match else flat.strip()[:40]


def cpp_functions(file):
    """Every function with a body, outermost only: a lambda counts to the function it stands in."""
    text, at, start = file.bare, 0, 0
    while at < len(text):
        char = text[at]
        if char in ";}":
            start = at + 1
        elif char == "{":
            head = text[start:at]
            kind = kind_of(re.sub(r"\b(public|private|protected)\s*:", " ", head))
            if kind == "scope":
                start = at + 1
            else:
                end = matching_brace(text, at)
                if kind == "function":
                    first = start + len(head) - len(head.lstrip())
                    yield Function(name_of(head), head, text[at:end + 1],
                                   file.line_of(first), file.line_of(end))
                    start = end + 1
                at = end
        at += 1


def python_functions(file):
    """Functions and methods of a Python source."""
    for node in ast.walk(ast.parse(file.text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Function(node.name, "", "", node.lineno, node.end_lineno)


def shell_functions(file):
    """Functions of a shell script that open with `name() {` and close with a brace of their own."""
    opened = None
    for number, line in enumerate(file.lines, 1):
        if match := re.match(r"(\w+)\(\) \{$", line):
            opened = (match.group(1), number)
        elif line == "}" and opened:
            yield Function(opened[0], "", "", opened[1], number)
            opened = None


def functions_of(file):
    """The functions of a source in any language that the rules measure."""
    if file.is_cpp:
        return list(cpp_functions(file))
    if file.path.endswith(".py"):
        return list(python_functions(file))
    if file.path.endswith(".sh") or file.path == ".ci/run":
        return list(shell_functions(file))
    return []
