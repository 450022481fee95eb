// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace millrace {

/// All of a file, or what a pipe gives until its end. Throws Error with the path when it cannot be
/// read, is a folder, or has more than `bytes_max` bytes; no more of it than these are in memory.
/// Blocks as read(2) does.
std::string whole_file(const std::string& path, std::size_t bytes_max);

}  // namespace millrace
