# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and packets are called it: comments and documents name the thing that acts."""

import re

from source import Finding

PERSONS = re.compile(r"\b(?:who|whoever|whom|someone|somebody|anyone|anybody|everyone|everybody"
                     r"|nobody|he|him|she)\b", re.IGNORECASE)
COMMENT = {".md": r"^(.*)$", ".py": r'#(.*)$|^\s*"""(.*)$', ".sh": r"#(.*)$", ".yaml": r"#(.*)$",
           ".capnp": r"#(.*)$", ".cpp": r"//(.*)$", ".hpp": r"//(.*)$", ".cu": r"//(.*)$",
           ".cuh": r"//(.*)$"}
QUOTED = re.compile(r'`[^`]*`|"[^"]*"|--[\w-]+')


def suffix_of(path):
    name = path.rsplit("/", 1)[-1]
    return name[name.rfind("."):] if "." in name else ""


def persons(file):
    """Words for persons in comments and documents, but for what is quoted there."""
    comment = COMMENT.get(suffix_of(file.path))
    if comment is None:
        return
    for number, line in enumerate(file.lines, 1):
        said = re.search(comment, line)
        text = next((part for part in said.groups() if part is not None), "") if said else ""
        word = PERSONS.search(QUOTED.sub("", text))
        if word:
            yield Finding("person", file.path, number,
                          f"'{word.group()}': say which process, packet or user it is")


FILE_RULES = (persons,)
