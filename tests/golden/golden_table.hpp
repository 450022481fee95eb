// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/builder/build_image.hpp"
#include "services/functions/stage_runner.hpp"
#include "services/functions/table.hpp"
#include "shared/config/plan_reasons.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/golden/golden_steps.hpp"
#include "tests/places.hpp"

/// A function's golden table: what it does with each kind of packet, as data. A text file of
///
///     port NAME MAC [ADDRESS/LENGTH ...]      ports, in the order of their numbers
///     set KEY VALUE                           a setting
///     file KEY                                a setting: a file with the lines up to `end`
///     case DESCRIPTION                        then, each on a line of its own:
///       in HEX                                the frame
///       wire BYTES                            its length on the wire, when the capture was cut
///       drop REASON | out HEX                 without either: it passes unchanged
///       to PORT                               the output port
///       class MASK                            classes that are set, a number
///
/// What answers, waits or takes time is a case in steps: one packet after the other, from an empty
/// table of neighbours at 0 s, with an egress behind the function that does what it asks for:
///
///     mtu PORT BYTES                          of a port; 1500 without
///     case DESCRIPTION                        then, each on a line of its own:
///       from PORT                             where packets come in from here on
///       at SECONDS s                          it is so late from here on; what waits is tended
///       in HEX                                a frame; the lines below say what it does
///       times N                               it comes so often, and does the same each time
///       drop REASON | consumed REASON | done [REASON]     without one: it passes
///       out PORT [KIND] HEX                   what leaves, all of it; by a port in this order.
///                                             KIND: reason that counts it as generated; without:
///                                             it is the packet itself
///       ends KIND drop|consumed REASON        something generated that does not leave itself
///
/// An `at` is a step of its own, with `out` and `ends`. What no function sends elsewhere leaves by
/// the next port. Comments begin with #. Frames and expectations come from another implementation
/// (Scapy), never from ours.

namespace millrace {

struct GoldenCase {
  std::string description;
  std::vector<GoldenStep> steps;  ///< not empty: the members below have no meaning
  std::string from;               ///< port of the next packet
  std::uint64_t now_ns = 0;       ///< of the next packet
  std::vector<std::byte> in, out;
  std::uint32_t wire_length = 0;
  std::string drop;  ///< empty: passes
  std::string to;
  std::uint32_t classes = 0;
};

struct GoldenTable {
  std::vector<PlanPort> ports;
  Settings settings;
  std::vector<std::pair<std::string, std::string>> files;  ///< key, text
  std::vector<GoldenCase> cases;
};

inline std::vector<std::byte> bytes_of_hex(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline PlanPort golden_port(std::istringstream& line) {
  PlanPort port{.device = "null"};
  line >> port.name >> port.mac;
  for (std::string address; line >> address;) port.addresses.push_back(address);
  return port;
}

inline std::string golden_file(std::istream& in) {
  std::string text;
  for (std::string line; std::getline(in, line) && line != "end";) text += line + "\n";
  return text;
}

/// "1.5 s" in nanoseconds.
inline std::uint64_t golden_time(const std::string& text) {
  std::istringstream words(text);
  double seconds = 0;
  std::string unit;
  words >> seconds >> unit;
  EXPECT_TRUE(words && unit == "s") << "at " << text;
  return static_cast<std::uint64_t>(std::llround(seconds * 1e9));
}

inline GoldenOut golden_out(std::istringstream& words) {
  std::string port, kind, hex;
  words >> port >> kind;
  if (!(words >> hex)) hex = std::exchange(kind, "");
  return {port, kind, bytes_of_hex(hex)};
}

/// A line of a case in steps; false: it is none.
inline bool add_to_steps(GoldenCase& golden, const std::string& word, const std::string& rest) {
  std::istringstream words(rest);
  if (word == "from") {
    golden.from = rest;
    return true;
  }
  if (word == "at") {
    golden.now_ns = golden_time(rest);
    golden.steps.push_back({.now_ns = golden.now_ns});
    return true;
  }
  if (word == "in" && !golden.from.empty()) {
    golden.steps.push_back(
        {.now_ns = golden.now_ns, .from = golden.from, .in = bytes_of_hex(rest)});
    return true;
  }
  if (golden.steps.empty()) return false;
  GoldenStep& step = golden.steps.back();
  if (word == "out") {
    step.out.push_back(golden_out(words));
  } else if (word == "times") {
    words >> step.times;
  } else if (word == "ends") {
    GoldenEnd& end = step.ends.emplace_back();
    words >> end.kind >> end.fate >> end.reason;
  } else if (word == "drop" || word == "consumed" || word == "done") {
    step.fate = word;
    words >> step.reason;
  } else {
    ADD_FAILURE() << golden.description << ": what is `" << word << "`?";
  }
  return true;
}

inline void add_to_case(GoldenCase& golden, const std::string& word, const std::string& rest) {
  if (add_to_steps(golden, word, rest)) return;
  if (word == "in") golden.in = golden.out = bytes_of_hex(rest);
  if (word == "out") golden.out = bytes_of_hex(rest);
  if (word == "wire") golden.wire_length = static_cast<std::uint32_t>(std::stoul(rest));
  if (word == "drop") golden.drop = rest;
  if (word == "to") golden.to = rest;
  if (word == "class") golden.classes = static_cast<std::uint32_t>(std::stoul(rest));
}

/// `name`: of a file beside this one.
inline GoldenTable read_golden(const std::string& name) {
  GoldenTable table;
  std::ifstream in(test::source_folder() / "tests/golden" / name);
  EXPECT_TRUE(in) << name;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string word, key;
    words >> word >> std::ws;
    if (word == "port") {
      table.ports.push_back(golden_port(words));
    } else if (word == "mtu") {
      words >> key;
      words >> std::ranges::find(table.ports, key, &PlanPort::name)->mtu;
    } else if (word == "file" || word == "set") {
      words >> key >> std::ws;
      std::string value;
      std::getline(words, value);
      if (word == "file") table.files.emplace_back(key, golden_file(in));
      if (word == "set") table.settings.emplace_back(key, value);
    } else {
      std::string rest;
      std::getline(words, rest);
      if (word == "case") {
        table.cases.push_back({.description = rest});
      } else {
        add_to_case(table.cases.at(table.cases.size() - 1), word, rest);
      }
    }
  }
  return table;
}

/// Runs a function over the cases of its table.
class GoldenRun {
 public:
  GoldenRun(GoldenTable table, const std::string& type) : table_(std::move(table)) {
    std::filesystem::create_directory(folder_);
    for (const auto& [key, text] : table_.files) {
      std::ofstream(folder_ / (type + "." + key)) << text;
      table_.settings.emplace_back(key, folder_ / (type + "." + key));
    }
    plan_ = {.name = type, .type = type, .settings = table_.settings};
    for (const auto& [key, value] : table_.settings) {
      if (key == "classes") plan_.class_mask = plan_.class_mask * 2 + 1;
    }
    const FunctionType& row = function_type(type);
    row_ = &row;
    number_reasons(reasons_, row.traits.reasons);
    const FunctionContext context{.function = plan_, .ports = table_.ports};
    if (row.build != nullptr) {
      plan_.image = folder_ / (type + ".img");
      const BuildReport report = build_image(context);
      EXPECT_EQ(report.refused, 0u) << testing::PrintToString(report.refusals);
    }
    make();
    std::ranges::stable_partition(table_.cases,
                                  [](const GoldenCase& golden) { return golden.steps.empty(); });
  }
  GoldenRun(const GoldenRun&) = delete;
  GoldenRun& operator=(const GoldenRun&) = delete;
  ~GoldenRun() { std::filesystem::remove_all(folder_); }

  /// Cases [first, last) in one batch; `in_halves`: as on a device.
  void expect(std::size_t first, std::size_t last, bool in_halves) {
    BatchArena arena(kBatchCapacityMax);
    for (std::size_t i = first; i < last; ++i) {
      arena.add(table_.cases[i].in, table_.cases[i].wire_length);
    }
    const Batch batch = arena.batch();
    if (in_halves) {
      std::vector<std::uint32_t> results(batch.capacity);
      runner_->run_compute(batch, results);
      runner_->run_finish(batch, results, {});
    } else {
      runner_->run(batch, {});
    }
    for (std::size_t i = first; i < last; ++i) {
      expect_case(table_.cases[i], batch, static_cast<std::uint32_t>(i - first));
    }
  }

  /// Each case alone, then all together, then all as on a device. Those in steps: alone, both ways.
  void expect_all() {
    ASSERT_FALSE(table_.cases.empty());
    const auto in_steps = std::ranges::find_if(
        table_.cases, [](const GoldenCase& golden) { return !golden.steps.empty(); });
    const auto count = static_cast<std::size_t>(in_steps - table_.cases.begin());
    for (std::size_t i = 0; i < count; ++i) expect(i, i + 1, false);
    for (const bool in_halves : {false, true}) {
      for (std::size_t i = 0; i < count; i += kBatchCapacityMax) {
        expect(i, std::min<std::size_t>(i + kBatchCapacityMax, count), in_halves);
      }
    }
    for (const GoldenCase& golden : std::ranges::subrange(in_steps, table_.cases.end())) {
      for (const bool in_halves : {false, true}) {
        make();
        expect_steps(golden.description, golden.steps, table_.ports, reasons_, *runner_, in_halves);
      }
    }
  }

 private:
  /// The function as it is when it has seen no packet yet.
  void make() {
    runner_.reset();
    function_ = row_->make({.function = plan_, .ports = table_.ports});
    runner_ = std::make_unique<StageRunner>(std::vector<StageFunction>{
        {.function = function_.get(),
         .class_mask = ~0u,
         .regions = row_->traits.regions,
         .reason_numbers = reason_numbers(reasons_, row_->traits.reasons)}});
  }

  void expect_case(const GoldenCase& golden, const Batch& batch, std::uint32_t packet) const {
    const std::string reason(reason_text(reasons_, batch.reason[packet]));
    ASSERT_EQ(batch.goes_on(packet) ? "" : reason, golden.drop) << golden.description;
    EXPECT_TRUE(std::ranges::equal(batch.bytes(packet), golden.out)) << golden.description;
    EXPECT_EQ(batch.classes[packet], golden.classes) << golden.description;
    const std::uint8_t output = batch.output[packet];
    const std::string port = output < table_.ports.size() ? table_.ports[output].name : "";
    EXPECT_EQ(port, golden.to) << golden.description;
    expect_within_traits(golden, batch, packet);
  }

  /// What the function did to the bytes is what its traits say.
  void expect_within_traits(const GoldenCase& golden, const Batch& batch,
                            std::uint32_t packet) const {
    const FunctionTraits& traits = row_->traits;
    const auto before = static_cast<std::int64_t>(golden.in.size());
    const std::int64_t front = std::int64_t{kBufferHeadroom} - batch.offset[packet];
    const std::int64_t back = batch.length[packet] - before - front;
    EXPECT_LE(front, traits.headroom) << golden.description;
    EXPECT_LE(back, traits.tailroom) << golden.description;
    if (batch.goes_on(packet)) {
      EXPECT_LE(batch.length[packet], before + traits.growth) << golden.description;
    }
    if (traits.rewrites == Rewrites::kAll) return;
    const std::span<const std::byte> received(
        batch.buffers.at(batch.buffer[packet]) + kBufferHeadroom, golden.in.size());
    const std::size_t from = traits.rewrites == Rewrites::kNone ? 0 : kHeaderRewriteBytes;
    const std::size_t kept = std::min(from, received.size());
    EXPECT_TRUE(std::ranges::equal(received.subspan(kept), std::span(golden.in).subspan(kept)))
        << golden.description << ": bytes from " << from << " on are not the function's to change";
  }

  std::filesystem::path folder_ =
      std::filesystem::path("/dev/shm") / ("millrace-golden-" + std::to_string(getpid()));
  GoldenTable table_;
  PlanFunction plan_;
  const FunctionType* row_ = nullptr;
  std::vector<PlanReason> reasons_;
  std::unique_ptr<Function> function_;
  std::unique_ptr<StageRunner> runner_;
};

}  // namespace millrace
