# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""make new-function NAME=x: the folder of a new network function, its tests, its row in the table.

What it lays out builds and passes: a function that lets every packet pass and counts it. From there
on it is ordinary code, to be changed by hand.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTIONS = "services/functions"
SPDX = ("{mark} SPDX-FileCopyrightText: 2026 The Millrace authors\n"
        "{mark} SPDX-License-Identifier: Apache-2.0\n")
CPP_SPDX = SPDX.format(mark="//")
HASH_SPDX = SPDX.format(mark="#")

HEADER = CPP_SPDX + """#pragma once

#include "services/functions/function.hpp"

namespace millrace {{

/// The row of `{name}`. What it does, and with which reasons, stands in README.md beside this file.
FunctionType {name}_type();

}}  // namespace millrace
"""

SOURCE = CPP_SPDX + """
#include "services/functions/{name}/{name}.hpp"

#include <array>
#include <memory>
#include <string>

#include "shared/base/error.hpp"

namespace millrace {{
namespace {{

constexpr std::uint32_t kPass = 0;  ///< result word: nothing to do

class {type} final : public Function {{
 public:
  void compute(const Batch&, Selection selected,
               std::span<std::uint32_t> results) noexcept override {{
    for (const std::uint16_t packet : selected.packets) results[packet] = kPass;
  }}

  void finish(const FinishContext& call) noexcept override {{
    for (const std::uint16_t packet : call.selected.packets) {{
      if (call.results[packet] != kPass) call.batch.drop(packet, Reason::kRule);
      call.counters.hit(0);
    }}
  }}
}};

void check_settings(const PlanFunction& function) {{
  if (function.settings.empty()) return;
  throw Error("'" + function.settings[0].first + "' is no setting of {name}");
}}

std::unique_ptr<Function> make_{name}(const FunctionContext& context) {{
  check_settings(context.function);
  return std::make_unique<{type}>();
}}

constexpr std::array kRegions = {{Region{{Region::Start::kFrame, 64}}}};

}}  // namespace

FunctionType {name}_type() {{
  return {{.traits = {{.type = "{name}",
                     .summary = "lets every packet pass and counts it",
                     .regions = kRegions,
                     .runs_on_gpu = true,
                     .counter_count = 1}},
          .make = make_{name},
          .build = nullptr,
          .check = check_settings}};
}}

}}  // namespace millrace
"""

README = """# {name}

Lets every packet pass and counts it.

## Settings

None.

## Verdict and reason

The first row that applies decides.

| case | verdict | reason |
|---|---|---|
| any frame | pass | `none` |

## Counters

`hits[0]` counts packets.

## Tests

`tests/golden/{name}.golden` has each row of the table as packets in and out.
"""

CMAKE = HASH_SPDX + """
target_sources(millrace_functions PRIVATE {name}.cpp)
"""

UNIT_TEST = CPP_SPDX + """
#include "services/functions/{name}/{name}.hpp"

#include <gtest/gtest.h>

#include <array>

#include "shared/base/error.hpp"
#include "shared/layout/batch_arena.hpp"

namespace millrace {{
namespace {{

TEST({type}, LetsEveryPacketPassAndCountsIt) {{
  const PlanFunction plan;
  const auto function = {name}_type().make({{.function = plan, .ports = {{}}}});
  BatchArena arena;
  arena.add({{}});
  arena.add(std::array<std::byte, 60>{{}});
  const Batch batch = arena.batch();
  const std::array<std::uint16_t, 2> packets = {{0, 1}};
  std::array<std::uint64_t, 1> hits{{}};
  function->compute(batch, {{packets}}, batch.results(0));
  function->finish({{batch, {{packets}}, batch.results(0), {{hits}}, {{}}, {{}}}});
  EXPECT_TRUE(batch.goes_on(0));
  EXPECT_TRUE(batch.goes_on(1));
  EXPECT_EQ(hits[0], 2u);
}}

TEST({type}, RefusesSettings) {{
  PlanFunction plan;
  plan.settings = {{{{"colour", "red"}}}};
  EXPECT_THROW({name}_type().check(plan), Error);
}}

}}  // namespace
}}  // namespace millrace
"""

GOLDEN = HASH_SPDX + """#
# What {name} does with each kind of packet. Format: tests/golden/golden_table.hpp. Frames and what
# becomes of them come from another implementation, never from ours.

case an empty frame passes
in

case a UDP packet passes unchanged
in 02000000000a02000000009908004500001c12340000401154980a0100050a0200070fa000350008dbfa
"""

GOLDEN_TEST = CPP_SPDX + """
#include <gtest/gtest.h>

#include "tests/golden/golden_table.hpp"

namespace millrace {{
namespace {{

TEST({type}Golden, EveryKindOfPacketEndsAsTheTableSays) {{
  GoldenRun(read_golden("{name}.golden"), "{name}").expect_all();
}}

}}  // namespace
}}  // namespace millrace
"""

FUZZ = CPP_SPDX + """//
// {name} against packets of any bytes.

#include <array>
#include <cstdint>
#include <span>

#include "services/functions/{name}/{name}.hpp"
#include "shared/layout/batch_arena.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {{
  static millrace::BatchArena arena(1);
  static const millrace::PlanFunction plan;
  static const millrace::FunctionType type = millrace::{name}_type();
  static const auto function = type.make({{.function = plan, .ports = {{}}}});
  if (size > arena.room()) return 0;
  arena.clear();
  arena.add(std::as_bytes(std::span(data, size)));
  const millrace::Batch batch = arena.batch();
  const std::array<std::uint16_t, 1> packets = {{0}};
  std::array<std::uint64_t, 1> hits{{}};
  function->compute(batch, {{packets}}, batch.results(0));
  function->finish({{batch, {{packets}}, batch.results(0), {{hits}}, {{}}, {{}}}});
  return 0;
}}
"""


class Refused(Exception):
    """The name cannot be taken, or the tree is not as expected."""


def files_of(name):
    """path -> text of every new file."""
    words = {"name": name, "type": "".join(part.capitalize() for part in name.split("_"))}
    texts = {
        f"{FUNCTIONS}/{name}/{name}.hpp": HEADER,
        f"{FUNCTIONS}/{name}/{name}.cpp": SOURCE,
        f"{FUNCTIONS}/{name}/README.md": README,
        f"{FUNCTIONS}/{name}/CMakeLists.txt": CMAKE,
        f"tests/unit/{FUNCTIONS}/{name}/{name}_test.cpp": UNIT_TEST,
        f"tests/golden/{name}.golden": GOLDEN,
        f"tests/golden/{name}_golden_test.cpp": GOLDEN_TEST,
        f"tests/fuzz/{name}_fuzz.cpp": FUZZ,
    }
    return {path: text.format(**words) for path, text in texts.items()}


def check_name(name, root):
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,19}", name) or name.endswith("_") or "__" in name:
        raise Refused(f"'{name}' is no name of a function: lower case letters, digits and single "
                      "underscores, at most 20, a letter first")
    taken = [path for path in files_of(name) if (root / path).exists()]
    if taken:
        raise Refused(f"'{name}' is there already: {taken[0]}")


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
    changed, count = re.subn(r"(foreach\(folder (?:\w+ )*)(builder\))", rf"\g<1>{name} \g<2>", text)
    if count != 1:
        raise Refused("CMakeLists.txt has no list 'foreach(folder ... builder)'")
    return changed


def lay_out(name, root=ROOT):
    """Writes all files; nothing is changed when anything is refused. Returns their paths."""
    check_name(name, root)
    table = root / FUNCTIONS / "table.cpp"
    cmake = root / FUNCTIONS / "CMakeLists.txt"
    texts = {root / path: text for path, text in files_of(name).items()}
    texts[table] = add_row(add_include(table.read_text(), name), name)
    texts[cmake] = add_folder(cmake.read_text(), name)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [str(path.relative_to(root)) for path in texts]


def main(arguments):
    if len(arguments) != 1:
        print("make new-function NAME=x: one name is expected", file=sys.stderr)
        return 2
    try:
        paths = lay_out(arguments[0])
    except Refused as refused:
        print(f"make new-function: {refused}", file=sys.stderr)
        return 1
    print("\n".join(paths))
    print(f"Next: say in {FUNCTIONS}/{arguments[0]}/README.md what it does, then `make test`.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
