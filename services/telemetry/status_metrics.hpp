// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/telemetry/families.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/status_layout.hpp"

/// What the status file says, as metrics: one function for each section of metrics.yaml. They read
/// while others write, each word or record consistent in itself; they write nothing and hold no
/// lock, so a scrape never touches traffic. A reading that makes no sense yet is left out.

namespace millrace {

/// What all of them read. Borrowed.
struct StatusSource {
  const Plan& plan;
  const StatusView& status;
};

/// Counters of each actor that ever ran.
void add_actor_counters(const StatusSource& source, Families& families);
/// The actor table.
void add_roster(const StatusSource& source, Families& families);
/// Ledgers, summed over the lanes of each stream, and latency.
void add_streams(const StatusSource& source, Families& families);
/// Recovery, and what is watched. `version`: of this program.
void add_topology(const StatusSource& source, const char* version, Families& families);
/// Function counters, summed over all actors.
void add_functions(const StatusSource& source, Families& families);

/// Functions with more counters than this give their sum only: the number of series is bounded.
inline constexpr std::uint32_t kFunctionSeriesMax = 64;

}  // namespace millrace
