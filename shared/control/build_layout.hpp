// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/config/plan.hpp"

/// Whether processes of another build can join a running topology: its memory layout and theirs.

namespace millrace {

/// Layout of segment and status file for one plan. Equal ones work together.
struct BuildLayout {
  std::uint64_t segment_abi = 0, segment_hash = 0, segment_bytes = 0;
  std::uint64_t status_abi = 0, status_hash = 0, status_bytes = 0;
  friend bool operator==(const BuildLayout&, const BuildLayout&) = default;
};

/// What this build makes of the plan.
BuildLayout layout_of_build(const Plan& plan);

/// The hub writes what it has made into the run directory. Throws Error.
void save_layout(const BuildLayout& layout, const std::string& run_dir);
/// What the topology that runs there has in memory. Throws Error when nothing says it.
BuildLayout layout_of_running(const std::string& run_dir);

/// One line, the answer of executables to `--layout`:
/// "layout segment ABI HASH BYTES status ABI HASH BYTES".
std::string to_text(const BuildLayout& layout);
/// Nothing for any other line.
std::optional<BuildLayout> parse_layout(std::string_view line);

/// Which of the two differs and how, for an error; empty when they are equal.
std::string difference(const BuildLayout& running, const BuildLayout& build);

}  // namespace millrace
