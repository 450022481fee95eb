# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The rule on words for persons, with what breaks it and what does not."""

import pytest

from source import File
from words import persons

HASH = "\x23"  # in a string it would be a comment to the rule


def words(text, path="shared/links/inbox.hpp"):
    return [finding.message.split("'")[1] for finding in persons(File(path, text))]


@pytest.mark.parametrize("path, text", [
    ("shared/links/inbox.hpp", "/// Belongs to who" "ever takes it.\n"),
    ("shared/links/inbox.cpp", "  take();  // no" "body else has it\n"),
    ("tests/harness/wire.py", "    pass  " + HASH + " anyone reads it\n"),
    ("README.md", "A batch goes to wh" "o has least.\n"),
    ("orchestration/topologies/demo.yaml", "a: b  " + HASH + " for whom\n")])
def test_a_process_that_is_called_a_person_is_found(path, text):
    assert len(words(text, path)) == 1


@pytest.mark.parametrize("path, text", [
    ("shared/links/inbox.hpp", "void say(std::string_view who);  // its name\n"),
    ("shared/links/inbox.hpp", "/// `who`: the name of its log.\n"),
    ("README.md", "systemctl kill --kill-who=main\n"),
    ("README.md", "The other half, whose header it is.\n"),
    ("tests/golden/a.golden", "a frame that nobody knows\n")])
def test_what_is_quoted_or_code_is_left_alone(path, text):
    assert words(text, path) == []
