// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/golden/golden_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>

#include "shared/config/plan_reasons.hpp"
#include "tests/golden/golden_egress.hpp"

namespace millrace {
namespace {

class GoldenSteps {
 public:
  GoldenSteps(const std::vector<PlanPort>& ports, const std::vector<PlanReason>& reasons,
              StageRunner& runner, bool in_halves)
      : ports_(ports), reasons_(reasons), runner_(runner), in_halves_(in_halves), egress_(ports) {}

  void expect(const std::string& description, const std::vector<GoldenStep>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (std::uint32_t time = 0; time < steps[i].times; ++time) {
        SCOPED_TRACE(description + ", step " + std::to_string(i + 1) + ", time " +
                     std::to_string(time + 1) + (in_halves_ ? ", in halves" : ""));
        expect_step(steps[i]);
      }
    }
  }

 private:
  using Counts = std::map<std::string, std::uint64_t>;

  void expect_step(const GoldenStep& step) {
    const LaneRecord before = egress_.totals();
    if (step.from.empty()) {
      egress_.tend(step.now_ns);
    } else {
      const Batch batch = egress_.receive(number_of(step.from), step.in);
      run(batch, number_of(step.from), step.now_ns);
      EXPECT_EQ(fate_of(batch) + " " + reason_of(batch), step.fate + " " + step.reason);
      egress_.release(batch, step.now_ns);
    }
    const LaneRecord after = egress_.totals();
    expect_counts(step, before, after);
    expect_frames(step);
    expect_law(after);
  }

  void expect_counts(const GoldenStep& step, const LaneRecord& before, const LaneRecord& after) {
    Counts generated, dropped, consumed;
    if (step.fate == "drop") ++dropped[step.reason];
    if (step.fate == "consumed") ++consumed[step.reason];
    if (step.fate == "done" && step.reason != "none") ++consumed["answered"];
    for (const GoldenOut& out : step.out) {
      if (!out.kind.empty()) ++generated[out.kind];
    }
    for (const GoldenEnd& end : step.ends) {
      ++generated[end.kind];
      ++(end.fate == "drop" ? dropped : consumed)[end.reason];
    }
    EXPECT_EQ(more(before.generated, after.generated), generated) << "generated";
    EXPECT_EQ(more(before.dropped, after.dropped), dropped) << "dropped";
    EXPECT_EQ(more(before.consumed, after.consumed), consumed) << "consumed";
  }

  void run(const Batch& batch, std::uint8_t port, std::uint64_t now_ns) {
    const BatchFacts facts{.port_in = port, .now_ns = now_ns, .neighbours = &egress_.neighbours()};
    if (!in_halves_) {
      runner_.run(batch, {}, facts);
      return;
    }
    std::vector<std::uint32_t> results(batch.capacity);
    runner_.run_compute(batch, results);
    runner_.run_finish(batch, results, {}, facts);
  }

  /// What leaves by a port is in order; between ports there is none.
  void expect_frames(const GoldenStep& step) {
    for (std::size_t port = 0; port < ports_.size(); ++port) {
      std::vector<std::string> expected, found;
      for (const GoldenOut& out : step.out) {
        if (out.port == ports_[port].name) expected.push_back(hex_of(out.frame));
      }
      for (const GoldenFrame& frame : egress_.taken(port)) found.push_back(hex_of(frame));
      EXPECT_EQ(found, expected) << "by port " << ports_[port].name;
    }
  }

  /// Received and generated packets are transmitted, dropped or consumed; of those that wait
  /// nothing is generated yet.
  void expect_law(const LaneRecord& all) const {
    std::uint64_t begun = all.received, ended = 0;
    for (const std::uint64_t packets : all.transmitted) ended += packets;
    for (std::size_t i = 0; i < kReasonCount; ++i) {
      begun += all.generated[i];
      ended += all.dropped[i] + all.consumed[i];
    }
    constexpr auto kHeld = static_cast<std::size_t>(Reason::kHeld);
    EXPECT_EQ(begun, ended);
    EXPECT_EQ(all.consumed[kHeld] - all.generated[kHeld], egress_.waiting());
  }

  Counts more(const std::uint64_t (&before)[kReasonCount],
              const std::uint64_t (&after)[kReasonCount]) const {
    Counts counts;
    for (std::size_t i = 0; i < kReasonCount; ++i) {
      if (after[i] == before[i]) continue;
      counts[std::string(reason_text(reasons_, i))] = after[i] - before[i];
    }
    return counts;
  }
  static std::string fate_of(const Batch& batch) {
    static constexpr const char* kFates[] = {"pass", "drop", "done", "consumed"};
    return kFates[batch.verdict[0] & 3];
  }
  std::string reason_of(const Batch& batch) const {
    return std::string(reason_text(reasons_, batch.reason[0]));
  }
  static std::string hex_of(const GoldenFrame& frame) {
    std::ostringstream text;
    text << std::hex << std::setfill('0');
    for (const std::byte byte : frame) text << std::setw(2) << std::to_integer<int>(byte);
    return text.str();
  }
  std::uint8_t number_of(const std::string& name) const {
    const auto at = std::ranges::find(ports_, name, &PlanPort::name);
    EXPECT_NE(at, ports_.end()) << "no port " << name;
    return static_cast<std::uint8_t>(at == ports_.end() ? 0 : at - ports_.begin());
  }

  const std::vector<PlanPort>& ports_;
  const std::vector<PlanReason>& reasons_;
  StageRunner& runner_;
  const bool in_halves_;
  GoldenEgress egress_;
};

}  // namespace

void expect_steps(const std::string& description, const std::vector<GoldenStep>& steps,
                  const std::vector<PlanPort>& ports, const std::vector<PlanReason>& reasons,
                  StageRunner& runner, bool in_halves) {
  GoldenSteps(ports, reasons, runner, in_halves).expect(description, steps);
}

}  // namespace millrace
