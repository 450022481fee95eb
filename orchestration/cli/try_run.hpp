// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "orchestration/cli/capture_writer.hpp"
#include "services/functions/function.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"

/// What `millrace try` does: functions over captures in this process alone, without root, huge
/// pages or any other process. Their tables are built and mapped as always, in a folder that goes
/// with it.

namespace millrace {

struct TryOptions {
  std::string functions;              ///< types, in the order of the path: "route,match"
  std::vector<std::string> captures;  ///< files to read
  std::string out;                    ///< file for one capture, folder for several; empty: none
  std::string verdicts;               ///< likewise, a line of text a packet; empty: none
  std::vector<std::string> settings;  ///< "key=value" or "type.key=value"
  std::vector<std::string> ports;     ///< "name=mac,address/length,..."; empty: see README of route
};

/// One function under trial and what came of it.
struct TriedFunction {
  PlanFunction plan;
  const FunctionTraits* traits = nullptr;
  BuildReport report;
  std::unique_ptr<Function> function;
  std::unique_ptr<StageRunner> runner;
  std::vector<std::uint64_t> hits;
  std::vector<std::uint64_t> state;  ///< of the one lane
  std::uint64_t packets = 0;         ///< in the batches that it was given
  std::uint64_t time_ns = 0;
};

struct TryTotals {
  std::uint64_t packets = 0;
  std::uint64_t passed = 0;
  std::array<std::uint64_t, kReasonCount> dropped{};  ///< by reason
  std::vector<std::string> broken;                    ///< captures that break off, and how
};

class TryRun {
 public:
  /// Builds all tables. Throws Error: unknown type, setting or port, or what a builder says.
  explicit TryRun(const TryOptions& options);
  TryRun(const TryRun&) = delete;  // the folder of the tables goes with one of them
  TryRun& operator=(const TryRun&) = delete;
  ~TryRun();

  /// All captures of the options, one after the other; state and counters go on.
  void run();
  const TryTotals& totals() const { return totals_; }
  const std::vector<TriedFunction>& functions() const { return functions_; }
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  void add_function(const std::string& type);
  void check_outputs() const;
  void run_capture(const std::string& path, const std::string& out, const std::string& verdicts);
  void run_batch(CaptureWriter* out, std::ostream* verdicts);
  void count(const Batch& batch, std::uint32_t packet);

  TryOptions options_;
  std::string folder_;
  std::vector<PlanPort> ports_;
  std::vector<std::string> classes_;
  std::vector<TriedFunction> functions_;
  BatchArena arena_;
  std::uint64_t first_number_ = 0;       ///< in the capture, of the arena's first packet
  std::vector<std::uint64_t> times_ns_;  ///< of the packets in the arena
  TryTotals totals_;
};

}  // namespace millrace
