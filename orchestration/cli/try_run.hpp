// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/cli/capture_writer.hpp"
#include "orchestration/cli/try_events.hpp"
#include "orchestration/cli/try_folder.hpp"
#include "services/functions/function.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "shared/layout/mapping.hpp"

/// What `millrace try` does: functions over captures in this process alone, without root, huge
/// pages or any other process. Their tables are built and mapped as always, in a folder that goes
/// with it.

namespace millrace {

/// A batch holds lengths of 16 bits: of an IP packet and its framing (Ethernet, two VLAN tags).
inline constexpr std::uint32_t kTryFramingBytes = 14 + 8;
inline constexpr std::uint32_t kTryMtuMax = UINT16_MAX - kTryFramingBytes;

struct TryOptions {
  std::string functions;              ///< types, in the order of the path: "route,match"
  std::vector<std::string> captures;  ///< files to read
  std::string out;                    ///< file for one capture, folder for several; empty: none
  std::string verdicts;               ///< likewise, a line of text a packet; empty: none
  std::string events;                 ///< one file for all, lines of EVE JSON; empty: none
  std::vector<std::string> settings;  ///< "key=value" or "type.key=value"
  std::vector<std::string> ports;     ///< "name=mac,address/length,..."; empty: see README of route
  std::string port_in;       ///< name of the port that they came in by; empty: none is known
  std::uint32_t mtu = 1500;  ///< longer packets are oversize; kMtuMin..kTryMtuMax
};

/// One function under trial and what came of it.
struct TriedFunction {
  PlanFunction plan;
  const FunctionTraits* traits = nullptr;
  BuildReport report;
  std::unique_ptr<Function> function;
  std::vector<std::uint64_t> hits;
  std::optional<Mapping> state;  ///< of the one lane
  std::uint64_t packets = 0;     ///< that it was given
  std::uint64_t time_ns = 0;
};

struct TryTotals {
  std::uint64_t packets = 0;
  std::uint64_t passed = 0;
  using ByReason = std::array<std::uint64_t, kReasonCount>;
  ByReason dropped{};
  ByReason done{};      ///< kNone: left as itself; else it became an answer of that kind
  ByReason consumed{};  ///< what they asked of the egress (fragments, copies) is not made here
  std::uint32_t oversize_longest = 0;  ///< bytes; 0: none was oversize
  std::vector<std::string> broken;     ///< captures not read whole, and why
};

/// Bytes of a packet at ports of this MTU; a longer one is oversize. Throws Error above kTryMtuMax.
std::uint32_t try_room(std::uint32_t mtu);
/// For such packets, each with `tailroom` bytes behind it for functions to grow it into.
BatchArena try_arena(std::uint32_t mtu, std::uint32_t tailroom);

class TryRun {
 public:
  /// Builds all tables. Throws Error: unknown type, setting or port, or what a builder says.
  explicit TryRun(const TryOptions& options);

  /// All captures of the options, one after the other; state and counters go on.
  void run();
  const TryTotals& totals() const { return totals_; }
  const std::vector<TriedFunction>& functions() const { return functions_; }
  const std::vector<std::string>& classes() const { return classes_; }
  const std::vector<PlanReason>& reasons() const { return reasons_; }

 private:
  std::uint8_t port_number(const std::string& name) const;
  void add_function(const std::string& type);
  void make_runner();
  void run_stage(const Batch& batch, std::uint64_t time_ns);
  void end_flows();
  void check_outputs() const;
  void run_capture(const std::string& path, const std::string& out, const std::string& verdicts);
  void run_batch(CaptureWriter* out, RecordFile* verdicts);
  void count(const Batch& batch, std::uint32_t packet);

  TryOptions options_;
  TryFolder folder_;
  std::vector<PlanPort> ports_;
  PlanPath path_;  ///< of all functions; what those so far translate
  std::uint8_t port_in_ = kOutputDefault;
  std::vector<std::string> classes_;
  std::vector<PlanReason> reasons_;  ///< of the functions, as in a plan
  std::vector<TriedFunction> functions_;
  std::unique_ptr<StageRunner> runner_;  ///< of all of them
  std::uint64_t began_ns_ = 0;           ///< time of the first packet
  std::uint64_t time_ns_ = 0;            ///< of the last batch; does not go back
  Plan plan_;                            ///< names for the events
  std::unique_ptr<TryEvents> events_;    ///< null: not asked for
  std::uint32_t room_;
  BatchArena arena_;
  std::uint64_t arena_bytes_ = 0;        ///< of the packets in it
  std::uint64_t first_number_ = 0;       ///< in the capture, of the arena's first packet
  std::vector<std::uint64_t> times_ns_;  ///< of the packets in the arena
  TryTotals totals_;
};

}  // namespace millrace
