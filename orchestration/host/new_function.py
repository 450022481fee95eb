# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""make new-function NAME=x [KIND=batch|packet]: the folder of a new function, its tests, its row.

What it lays out builds and passes: a function that counts packets and drops what is too short. From
there on it is ordinary code, to be changed by hand. Kinds: new_function_texts.py.
"""

import pathlib
import re
import sys

from new_function_texts import FUNCTIONS, KINDS, texts_of

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Refused(Exception):
    """Name or kind cannot be taken, or the tree is not as expected."""


def check_name(name, root):
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,19}", name) or name.endswith("_") or "__" in name:
        raise Refused(f"'{name}' is no name of a function: lower case letters, digits and single "
                      "underscores, at most 20, a letter first")
    taken = [path for path in texts_of(name, "batch") if (root / path).exists()]
    if taken:
        raise Refused(f"'{name}' is there already: {taken[0]}")


def check_kind(kind):
    if kind not in KINDS:
        raise Refused(f"'{kind}' is no kind of function; there are: {', '.join(KINDS)}")


def add_include(text, name):
    """The header of the new function among those of the others, in alphabetical order."""
    new = f'#include "{FUNCTIONS}/{name}/{name}.hpp"\n'
    found = re.findall(rf'#include "{FUNCTIONS}/\w+/\w+\.hpp"\n', text)
    if not found:
        raise Refused("table.cpp includes no function")
    block = "".join(found)
    if block not in text:
        raise Refused("table.cpp: the functions' headers do not stand together")
    return text.replace(block, "".join(sorted([*found, new])))


def add_row(text, name):
    """A row at the end of the table."""
    rows = list(re.finditer(r"^( +)\w+_type\(\),\n", text, re.MULTILINE))
    if not rows:
        raise Refused("table.cpp has no rows like 'route_type(),'")
    end = rows[-1].end()
    return f"{text[:end]}{rows[-1].group(1)}{name}_type(),\n{text[end:]}"


def add_folder(text, name):
    """The folder in the list of CMakeLists.txt, before `builder`."""
    folders = r"(foreach\(folder (?:\w+\s+)*)(builder\))"
    changed, count = re.subn(folders, rf"\g<1>{name} \g<2>", text)
    if count != 1:
        raise Refused("CMakeLists.txt has no list 'foreach(folder ... builder)'")
    return changed


def lay_out(name, root=ROOT, kind="batch"):
    """Writes all files; nothing is changed when anything is refused. Returns their paths."""
    check_kind(kind)
    check_name(name, root)
    table = root / FUNCTIONS / "table.cpp"
    cmake = root / FUNCTIONS / "CMakeLists.txt"
    texts = {root / path: text for path, text in texts_of(name, kind).items()}
    texts[table] = add_row(add_include(table.read_text(), name), name)
    texts[cmake] = add_folder(cmake.read_text(), name)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [str(path.relative_to(root)) for path in texts]


def main(arguments):
    if len(arguments) not in (1, 2):
        print("make new-function NAME=x KIND=y: one name is expected, and a kind at most",
              file=sys.stderr)
        return 2
    try:
        paths = lay_out(arguments[0], kind=arguments[1] if arguments[1:] else "batch")
    except Refused as refused:
        print(f"make new-function: {refused}", file=sys.stderr)
        return 1
    print("\n".join(paths))
    print(f"Next: say in {FUNCTIONS}/{arguments[0]}/README.md what it does, then `make test`.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
