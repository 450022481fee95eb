# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The tree as the rules see it: files, their text, and C++ without comments and strings."""

import dataclasses
import functools
import pathlib
import re
import subprocess

PRODUCT = ("shared/", "io-worker/", "services/", "gpu-worker/", "orchestration/", "dashboards/")
CPP = (".cpp", ".hpp", ".cu", ".cuh")


@dataclasses.dataclass(frozen=True)
class Finding:
    """One broken rule. `line` is 1-based; 0: the file as a whole."""

    rule: str
    path: str
    line: int
    message: str

    def __str__(self):
        at = f"{self.path}:{self.line}" if self.line else self.path
        return f"{at}: {self.message} [{self.rule}]"


class File:
    """One file of the tree; `path` is relative to the root, with forward slashes."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.split("\n")

    @functools.cached_property
    def bare(self):
        """The text with comments, strings and preprocessor lines blanked; same length and lines."""
        return blank_preprocessor(blank_comments_and_strings(self.text))

    @property
    def is_cpp(self):
        return self.path.endswith(CPP)

    @property
    def in_product(self):
        return self.path.startswith(PRODUCT)

    @property
    def has_spdx_marks(self):
        """Whether this kind of file has comments to carry a licence header."""
        if self.path.startswith("tests/fuzz/corpus/"):
            return False
        name = self.path.rsplit("/", 1)[-1]
        ends = CPP + (".c", ".py", ".sh", ".cmake", ".capnp", ".yaml", ".yml", "CMakeLists.txt")
        return name in ("Makefile", "run") or name.endswith(ends)

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1


class Tree:
    """All files of a tree, by path. `build_files` is the text of the build's own file list."""

    def __init__(self, files, build_text=None, paths=None):
        self.files = {file.path: file for file in files}
        self.build_text = build_text
        self.paths = set(paths or ()) | set(self.files)
        for path in list(self.paths):
            self.paths.update(str(parent) for parent in pathlib.PurePosixPath(path).parents)

    def with_suffix(self, *suffixes):
        return [file for file in self.files.values() if file.path.endswith(suffixes)]


def read_tree(root, build):
    """The files that git knows or would add, and what ninja builds (None: nothing was built)."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=True)
    files = []
    paths = [path for path in listing.stdout.split("\0") if path and (root / path).is_file()]
    for path in paths:
        data = (root / path).read_bytes()
        if b"\0" not in data:
            files.append(File(path, data.decode("utf-8", errors="replace")))
    ninja = build / "build.ninja"
    return Tree(files, ninja.read_text() if ninja.exists() else None, paths)


TOKEN = re.compile(
    r'//[^\n]*'
    r'|/\*.*?\*/'
    r'|R"(?P<delimiter>[^(\s]{0,16})\(.*?\)(?P=delimiter)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\b.*$', re.MULTILINE)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def blank_comments_and_strings(text):
    """Replaces comments and the insides of literals by spaces. Include lines stay as they are."""
    def replace(match):
        start = text.rfind("\n", 0, match.start()) + 1
        if INCLUDE.match(text, start) and match.group().startswith('"'):
            return match.group()
        token = match.group()
        if token.startswith("/"):
            return blank(token)
        return token[0] + blank(token[1:-1]) + token[-1]

    return TOKEN.sub(replace, text)


def blank_preprocessor(text):
    """Blanks directives (with continuations) and every branch of an #if but its first."""
    out = []
    skipping = []  # for each open #if: whether its present branch is blanked
    continued = False
    for line in text.split("\n"):
        directive = re.match(r"\s*#\s*(\w+)", line)
        if directive and not continued:
            word = directive.group(1)
            if word.startswith("if"):
                skipping.append(False)
            elif word in ("else", "elif") and skipping:
                skipping[-1] = True
            elif word == "endif" and skipping:
                skipping.pop()
        hidden = bool(directive) or continued or any(skipping)
        continued = line.endswith("\\") and (bool(directive) or continued)
        out.append(" " * len(line) if hidden else line)
    return "\n".join(out)
