# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes and the licence header. Data tables (`clang-format off`) are not counted."""

from functions import functions_of
from source import CPP, Finding

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70
LINE_COLUMNS_MAX = 100
MEASURED = CPP + (".c", ".py", ".sh", ".cmake", ".capnp", "CMakeLists.txt", "Makefile", ".ci/run")
SPDX = ("SPDX-FileCopyrightText: 2026 The Millrace authors",
        "SPDX-License-Identifier: Apache-2.0")


def counted_lines(file):
    """(number, line) of the lines outside tables."""
    table = False
    for number, line in enumerate(file.lines, 1):
        if "clang-format off" in line:
            table = True
        if not table:
            yield number, line
        if "clang-format on" in line:
            table = False


def sizes(file):
    if not file.path.endswith(MEASURED):
        return
    lines = list(counted_lines(file))
    if len(lines) > FILE_LINES_MAX + 1:  # the last newline starts one more
        yield Finding("file-length", file.path, 0,
                      f"{len(lines) - 1} lines, at most {FILE_LINES_MAX}: split by meaning")
    for number, line in lines:
        if len(line) > LINE_COLUMNS_MAX:
            yield Finding("line-length", file.path, number,
                          f"{len(line)} columns, at most {LINE_COLUMNS_MAX}")
    for function in functions_of(file):
        if function.length > FUNCTION_LINES_MAX:
            yield Finding("function-length", file.path, function.first_line,
                          f"{function.name} has {function.length} lines, at most "
                          f"{FUNCTION_LINES_MAX}")


def licence(file):
    if not file.has_spdx_marks or not file.text.strip():
        return
    head = "\n".join(file.lines[:4])
    for mark in SPDX:
        if mark not in head:
            yield Finding("licence", file.path, 1, f"the first lines lack '{mark}'")


FILE_RULES = (sizes, licence)
