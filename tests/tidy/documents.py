# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Documents name only what exists; no file names a machine or a registry."""

import fnmatch
import posixpath
import re

from source import Finding, blank

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
QUOTED = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
ROOTS = ("shared/", "io-worker/", "services/", "gpu-worker/", "orchestration/", "dashboards/",
         "tests/", ".ci/")
PATH = re.compile(r"(?<![\w/.$~:-])((?:" + "|".join(map(re.escape, ROOTS)) +
                  r")[\w./*-]*+)(?![<{$])")
# In pieces, so that this file does not name them itself.
FORBIDDEN = tuple(re.compile(rf"(?<![\w.-]){word}") for word in (
    "/wo" "rk/", "/ro" "ot/", "/ho" "me/" r"\w", "py" r"pi\.org", "python" r"hosted\.org",
    "deb" r"\.debian\.org", "registry" r"\.npmjs", "crates" r"\.io/", "proxy" r"\.golang\.org",
    "repo" r"\.maven", "index" "-url"))


def exists(tree, path):
    path = posixpath.normpath(path)
    if "*" in path:
        return bool(fnmatch.filter(tree.paths, path))
    return path in tree.paths


def links(tree):
    for file in tree.with_suffix(".md"):
        folder = posixpath.dirname(file.path)
        prose = FENCE.sub(lambda fence: blank(fence.group()), file.text)
        for match in LINK.finditer(prose):
            target = match.group(1).split("#")[0]
            if not target or re.match(r"[a-z]+:", target):
                continue
            if not exists(tree, posixpath.join(folder, target)):
                yield Finding("broken-link", file.path, file.line_of(match.start()),
                              f"there is no {target}")


def named_paths(tree):
    """Paths in `code` and in fenced blocks of documents, from the root or beside the document."""
    for file in tree.with_suffix(".md"):
        folder = posixpath.dirname(file.path)
        for block in [*QUOTED.finditer(file.text), *FENCE.finditer(file.text)]:
            for match in PATH.finditer(block.group()):
                path = match.group(1).rstrip(".")
                if exists(tree, path) or exists(tree, posixpath.join(folder, path)):
                    continue
                yield Finding("named-path", file.path, file.line_of(block.start() + match.start()),
                              f"there is no {path}")


def forbidden_words(tree):
    for file in tree.files.values():
        for word in FORBIDDEN:
            for match in word.finditer(file.text):
                yield Finding("forbidden-word", file.path, file.line_of(match.start()),
                              f"'{match.group()}' names a machine or a registry")


TREE_RULES = (links, named_paths, forbidden_words)
