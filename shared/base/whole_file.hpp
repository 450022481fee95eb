// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// What a file is: "a regular file", "a folder", "a pipe", "a socket" or "a device".
std::string_view file_kind(mode_t mode);

/// What stands where a file should be: "a folder", "a pipe", "a socket" or "a device". Empty for a
/// regular file, for /dev/null, which is an empty one, and where nothing is.
std::string_view no_file_at(const std::string& path);

/// Opens a file that an operator wrote, for reading, and never waits for a pipe. Throws Error with
/// the path when it cannot be read, or no_file_at() says something of it.
UniqueFd open_regular_file(const std::string& path);

/// All of a file that open_regular_file() opens. Throws Error with the path when it cannot be read
/// or has more than `bytes_max` bytes; no more of it than these are in memory.
std::string whole_file(const std::string& path, std::size_t bytes_max);

}  // namespace millrace
