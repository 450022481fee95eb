# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What `make new-function` lays out for each kind passes its own test, and is formatted."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "orchestration/host"))

from new_function_texts import KINDS, texts_of  # noqa: E402  (a script of the product)

# All that a new function and its unit test need of the tree.
NEEDED = ("services/functions/packet_function.cpp", "shared/base/packet.cpp",
          "shared/base/check.cpp", "shared/base/say.cpp", "shared/base/clock.cpp",
          "shared/base/error.cpp", "shared/layout/batch_arena.cpp")
COMPILE = ("g++", "-std=c++20", "-O0", "-march=x86-64-v3", "-Wall", "-Wextra", "-Werror",
           "-Wno-missing-field-initializers", f"-I{ROOT}")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write(folder, name, kind):
    """The sources of a new function below `folder`."""
    texts = texts_of(name, kind)
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return [folder / path for path in texts if path.endswith((".cpp", ".hpp"))]


@pytest.fixture(name="needed", scope="module")
def fixture_needed(tmp_path_factory):
    """The objects of NEEDED, compiled once."""
    folder = tmp_path_factory.mktemp("needed")
    for path in NEEDED:
        run(*COMPILE, "-c", ROOT / path, "-o", folder / f"{pathlib.Path(path).stem}.o")
    return sorted(folder.glob("*.o"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_function_of_each_kind_passes_its_own_test(tmp_path, needed, kind):
    own = [path for path in write(tmp_path, "rate_limit", kind)
           if path.name in ("rate_limit.cpp", "rate_limit_test.cpp")]
    assert len(own) == 2
    test = tmp_path / "own_test"
    run(*COMPILE, f"-I{tmp_path}", *own, *needed, "-lgmock", "-lgtest", "-lgtest_main", "-o", test)
    assert "[  PASSED  ] 2 tests." in run(test)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_laid_out_is_formatted(tmp_path, kind):
    (tmp_path / ".clang-format").write_text((ROOT / ".clang-format").read_text())
    sources = [path for name in ("nat", "rate_limit", "name_of_20_character")
               for path in write(tmp_path, name, kind)]
    run("clang-format", "--dry-run", "-Werror", *sources)


def test_the_functions_that_the_documents_show_are_those_that_are_tested():
    shown = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(),
                       re.MULTILINE | re.DOTALL)
    tested = (ROOT / "tests/unit/services/functions/packet_function_test.cpp").read_text()
    assert len(shown) == 4
    for text in shown:
        assert text in tested
        assert text.count("\n") < 10
