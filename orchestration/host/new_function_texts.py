# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The texts of `make new-function`, by the kind of function; braces are those of str.format."""

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

# What both kinds have in front of the class.
REASONS = """
/// Why it drops: places in kReasons.
enum class Why : std::uint8_t {{ kTooShort }};
constexpr std::array kReasons = {{
    DeclaredReason{{"too_short", ReasonCause::kPacket, "ends within its Ethernet header"}}}};
constexpr std::size_t kEthernetBytes = 14;

"""

# What both kinds have behind it.
ROW = """
void check_settings(const PlanFunction& function) {{
  if (function.settings.empty()) return;
  throw Error("'" + function.settings[0].first + "' is no setting of {name}");
}}

std::unique_ptr<Function> make_{name}(const FunctionContext& context) {{
  check_settings(context.function);
  return {make};
}}

constexpr std::array kRegions = {{Region{{Region::Start::kFrame, 64}}}};

}}  // namespace

FunctionType {name}_type() {{
  return {{.traits = {{.type = "{name}",
                     .summary = "{summary}",
                     .regions = kRegions,
                     {traits}}},
          .make = make_{name},
          .build = nullptr,
          .check = check_settings}};
}}

}}  // namespace millrace
"""

BATCH_SOURCE = CPP_SPDX + """
#include "services/functions/{name}/{name}.hpp"

#include <array>
#include <memory>
#include <string>

#include "shared/base/error.hpp"

namespace millrace {{
namespace {{
""" + REASONS + """\
constexpr std::uint32_t kPass = 0, kDrop = 1;  ///< result words

class {type} final : public Function {{
 public:
  void compute(const Batch& batch, Selection selected,
               std::span<std::uint32_t> results) noexcept override {{
    for (const std::uint16_t packet : selected.packets) {{
      results[packet] = batch.length[packet] < kEthernetBytes ? kDrop : kPass;
    }}
  }}

  void finish(const FinishContext& call) noexcept override {{
    for (const std::uint16_t packet : call.selected.packets) {{
      if (call.results[packet] != kPass) {{
        call.batch.drop(packet, call.reason(Why::kTooShort));
        continue;
      }}
      call.counters.hit(0);
    }}
  }}
}};
""" + ROW

PACKET_SOURCE = CPP_SPDX + """
#include "services/functions/{name}/{name}.hpp"

#include <array>
#include <memory>
#include <string>

#include "services/functions/packet_function.hpp"
#include "shared/base/error.hpp"

namespace millrace {{
namespace {{
""" + REASONS + """\
/// An event that is not overridden calls the more general one: tcp, udp -> ip -> ethernet.
class {type} final : public PacketFunction {{
 public:
  void ethernet(Packet& packet) noexcept override {{
    if (packet.bytes().size() < kEthernetBytes) return packet.drop(Why::kTooShort);
    packet.hit(0);
  }}
  void ip(Packet& packet) noexcept override {{ packet.hit(1); }}
  void udp(Packet& packet) noexcept override {{ packet.hit(2); }}
  void tcp(Packet& packet) noexcept override {{ packet.hit(3); }}
}};
""" + ROW

README = """# {name}

{does}

## Settings

None.

## Verdict and reason

The first row that applies decides.

| case | verdict | reason |
|---|---|---|
| frame that ends within its Ethernet header | drop | `too_short` |
| any other | pass | `none` |

## Counters

{counters}

## Tests

`tests/golden/{name}.golden` has each row of the table as packets in and out.
"""

CMAKE = HASH_SPDX + """
target_sources(millrace_functions PRIVATE {name}.cpp)
"""

BATCH_TEST = CPP_SPDX + """
#include "services/functions/{name}/{name}.hpp"

#include <gtest/gtest.h>

#include <array>

#include "shared/base/error.hpp"
#include "shared/layout/batch_arena.hpp"

namespace millrace {{
namespace {{

TEST({type}, DropsWhatIsTooShortAndCountsTheRest) {{
  const PlanFunction plan;
  const auto function = {name}_type().make({{.function = plan, .ports = {{}}}});
  BatchArena arena;
  arena.add({{}});
  arena.add(std::array<std::byte, 60>{{}});
  const Batch batch = arena.batch();
  const std::array<std::uint16_t, 2> packets = {{0, 1}};
  std::array<std::uint64_t, 1> hits{{}};
  const std::array<std::uint8_t, 1> numbers = {{57}};  // as a plan may say
  function->compute(batch, {{packets}}, batch.results(0));
  function->finish({{batch, {{packets}}, batch.results(0), {{hits}}, {{}}, {{}}, {{}}, numbers}});
  EXPECT_TRUE(batch.is_dropped(0));
  EXPECT_EQ(batch.reason[0], 57);
  EXPECT_TRUE(batch.goes_on(1));
  EXPECT_EQ(hits[0], 1u);
}}

TEST({type}, RefusesSettings) {{
  PlanFunction plan;
  plan.settings = {{{{"colour", "red"}}}};
  EXPECT_THROW({name}_type().check(plan), Error);
}}

}}  // namespace
}}  // namespace millrace
"""

PACKET_TEST = CPP_SPDX + """
#include "services/functions/{name}/{name}.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/batch_of_frames.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {{
namespace {{

TEST({type}, DropsWhatIsTooShortAndCountsTheRestByEvent) {{
  const PlanFunction plan;
  const auto function = {name}_type().make({{.function = plan, .ports = {{}}}});
  const std::array frames = {{Frame(60), FrameBuilder().ipv4(1, 8).padding(8).build(),
                             FrameBuilder().ipv6(17, 8).udp(0).build(),
                             FrameBuilder().ipv4(6, 20).tcp(5).build(), Frame(13)}};
  BatchArena arena;
  const Batch batch = batch_of(arena, frames);
  const std::array<std::uint16_t, 5> packets = {{0, 1, 2, 3, 4}};
  std::array<std::uint64_t, 4> hits{{}};
  const std::array<std::uint8_t, 1> numbers = {{57}};  // as a plan may say
  function->compute(batch, {{packets}}, batch.results(0));
  function->finish({{batch, {{packets}}, batch.results(0), {{hits}}, {{}}, {{}}, {{}}, numbers}});
  EXPECT_THAT(batch.verdict, testing::ElementsAre(0, 0, 0, 0, 1));
  EXPECT_EQ(batch.reason[4], 57);
  EXPECT_THAT(hits, testing::ElementsAre(1, 1, 1, 1));
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

case an empty frame is dropped
in
drop too_short

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

# kind -> what differs: the two texts, and words in them and in the others.
KINDS = {
    "batch": {
        "source": BATCH_SOURCE,
        "test": BATCH_TEST,
        "make": "std::make_unique<{type}>()",
        "traits": (".runs_on_gpu = true,\n                     .counter_count = 1,\n"
                   "                     .reasons = kReasons,\n"
                   "                     .rewrites = Rewrites::kNone"),
        "summary": "counts packets, drops what is too short",
        "does": "Drops what is shorter than an Ethernet header; the rest passes and is counted.",
        "counters": "`hits[0]` counts packets that pass.",
    },
    "packet": {
        "source": PACKET_SOURCE,
        "test": PACKET_TEST,
        "make": "make_packet_function<{type}>(context)",
        "traits": (".counter_count = 4,\n"
                   "                     .reasons = kReasons,\n"
                   "                     .rewrites = Rewrites::kNone"),
        "summary": "counts packets by event, drops what is too short",
        "does": ("Drops what is shorter than an Ethernet header; the rest passes and is counted\n"
                 "by event\n"
                 "([packet_function.hpp](../packet_function.hpp) says which packet is of which)."),
        "counters": ("| counter | counts packets of |\n|--:|---|\n| 0 | ethernet: no IP in them |\n"
                     "| 1 | ip: neither UDP nor TCP |\n| 2 | udp |\n| 3 | tcp |"),
    },
}


def texts_of(name, kind):
    """path -> text of every new file of a function; `kind`: one of KINDS."""
    kept = KINDS[kind]
    words = {"name": name, "type": "".join(part.capitalize() for part in name.split("_"))}
    words |= {key: kept[key].format(**words) for key in ("make", "traits", "summary", "does",
                                                         "counters")}
    texts = {
        f"{FUNCTIONS}/{name}/{name}.hpp": HEADER,
        f"{FUNCTIONS}/{name}/{name}.cpp": kept["source"],
        f"{FUNCTIONS}/{name}/README.md": README,
        f"{FUNCTIONS}/{name}/CMakeLists.txt": CMAKE,
        f"tests/unit/{FUNCTIONS}/{name}/{name}_test.cpp": kept["test"],
        f"tests/golden/{name}.golden": GOLDEN,
        f"tests/golden/{name}_golden_test.cpp": GOLDEN_TEST,
        f"tests/fuzz/{name}_fuzz.cpp": FUZZ,
    }
    return {path: text.format(**words) for path, text in texts.items()}
