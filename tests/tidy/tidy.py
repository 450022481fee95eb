# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The rules of the tree, as a check. Prints what breaks one; exit 1 when something does.

Exceptions stand in exceptions.txt, each with its reason; one that is no longer needed is a finding.
"""

import pathlib
import sys

import bans
import boundaries
import classes
import documents
import reach
import sizes
import waits
import words
from source import Finding, read_tree

HERE = pathlib.Path(__file__).resolve().parent
FILE_RULES = (sizes.FILE_RULES + bans.FILE_RULES + boundaries.FILE_RULES
              + waits.FILE_RULES + words.FILE_RULES)
TREE_RULES = reach.TREE_RULES + documents.TREE_RULES + classes.TREE_RULES


def findings_of(tree):
    """Everything in the tree that breaks a rule, exceptions not yet applied."""
    found = [finding for file in tree.files.values() for rule in FILE_RULES
             for finding in rule(file)]
    found += [finding for rule in TREE_RULES for finding in rule(tree)]
    return sorted(set(found), key=lambda f: (f.path, f.line, f.rule, f.message))


def read_exceptions(text):
    """{(rule, path): reason} of lines `rule path: reason`, and findings about malformed lines."""
    exceptions, malformed = {}, []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        key, _, reason = line.partition(": ")
        words = key.split()
        if len(words) != 2 or not reason.strip():
            malformed.append(Finding("exceptions", "tests/tidy/exceptions.txt", number,
                                     "expected 'rule path: reason'"))
        else:
            exceptions[tuple(words)] = reason
    return exceptions, malformed


def apply_exceptions(found, exceptions):
    """What remains; an exception for what breaks nothing is itself a finding."""
    used = {(f.rule, f.path) for f in found}
    kept = [f for f in found if (f.rule, f.path) not in exceptions]
    for rule, path in exceptions.keys() - used:
        kept.append(Finding("exceptions", "tests/tidy/exceptions.txt", 0,
                            f"'{rule} {path}' excuses nothing: remove it"))
    return kept


def main():
    root = HERE.parents[1]
    exceptions, found = read_exceptions((HERE / "exceptions.txt").read_text())
    tree = read_tree(root, root / "build" / "check")
    found += apply_exceptions(findings_of(tree), exceptions)
    for finding in found:
        print(finding)
    print(f"tidy: {len(tree.files)} files, {len(found)} findings, {len(exceptions)} exceptions")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
