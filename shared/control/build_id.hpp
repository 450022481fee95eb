// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace {

/// The linker's build id of the running executable, in hex; empty when it was linked without one.
/// It only informs: processes of different builds work together as long as layouts and schema
/// agree.
std::string build_id();

/// The first 16 digits of a build id as a number, for the status file; 0: there are fewer.
std::uint64_t build_number(std::string_view id) noexcept;
/// These digits again, which `file` and `readelf -n` show of an executable; "none" for 0.
std::string build_name(std::uint64_t number);

}  // namespace millrace
