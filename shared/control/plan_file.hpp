// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "shared/config/plan.hpp"

/// The plan as a file: the supervisor saves it as `<run directory>/plan.bin`, every process of the
/// topology loads it. The format is the `Plan` of control.capnp; it may change between builds of
/// different schema only by fields at the end.

namespace millrace {

inline constexpr std::size_t kPlanBytesMax = std::size_t{4} << 20;  ///< larger files are refused

/// Writes `<path>.tmp`, then renames it to `path`: a reader sees the old plan or the new one. Mode
/// 0600. Throws Error that names the path.
void save_plan(const Plan& plan, const std::string& path);

/// Reads what save_plan() wrote. Throws Error when the file is absent, is not a plan, or
/// contradicts itself: every index of the returned plan is inside the vector that it points into,
/// and every count is within shared/base/limits.hpp, whatever the file held.
Plan load_plan(const std::string& path);

/// The bytes of save_plan() and load_plan() without the file.
std::vector<std::byte> encode_plan(const Plan& plan);
Plan decode_plan(std::span<const std::byte> bytes);

/// Throws Error for the first index out of range or count over its limit; "stream 2: port 7 of 2".
void check_plan(const Plan& plan);

}  // namespace millrace
