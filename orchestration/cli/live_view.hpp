// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "orchestration/cli/snapshot.hpp"

/// What went on between two looks, for people.

namespace millrace {

/// A page: ports, drops by reason, latency, then the actors in the order of the path with what each
/// moved and how busy it was. `colour` for terminals.
std::string live_page(const Plan& plan, const Snapshot& before, const Snapshot& after, bool colour);

/// At most so many lines of a page, the last of which says how many more there are; 0: all.
std::string first_lines(const std::string& page, std::size_t count_max);
/// At most so many columns of each line; colours, which have none, stay whole.
std::string first_columns(const std::string& page, std::size_t count_max);

/// The same in one line, for files and pipes.
std::string live_line(const Plan& plan, const Snapshot& before, const Snapshot& after);

/// The same as data.
nlohmann::ordered_json live_json(const Plan& plan, const Snapshot& before, const Snapshot& after);

/// "950", "12.3 k", "1.20 M": three digits.
std::string rate_text(double value);

/// False when no process is alive any more: the topology has ended.
bool anybody_alive(const Snapshot& look);

}  // namespace millrace
