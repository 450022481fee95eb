// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/cli/watching.hpp"

/// The steps of packets that were followed (TraceStep in shared/watch/watch_file.hpp), put together
/// and shown.

namespace millrace {

struct TracedStep {
  TraceStep step{};
  Verdict verdict = Verdict::kPass;
  Reason reason = Reason::kNone;
  std::uint32_t wire_length = 0;
  std::uint64_t since_ns = 0, until_ns = 0;  ///< system clock
};

/// One packet, from its arrival until it was accounted for.
struct TracedPacket {
  std::vector<TracedStep> steps;  ///< by the time at which they ended
};

class TraceGatherer {
 public:
  /// The packet, once this was its last step. Other records than steps are left out, and steps of a
  /// packet whose begin was not seen.
  std::optional<TracedPacket> add(const Watching::Shown& shown, std::uint64_t since_ns);
  /// Packets that are still on their way.
  std::size_t open() const { return packets_.size(); }

 private:
  std::map<std::uint32_t, TracedPacket> packets_;  ///< by id
};

/// A line a step; `number`: of the packet, from 1.
std::string trace_text(const Plan& plan, const TracedPacket& packet, std::uint64_t number,
                       bool colour);
nlohmann::ordered_json trace_json(const Plan& plan, const TracedPacket& packet,
                                  std::uint64_t number);

}  // namespace millrace
