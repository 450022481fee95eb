// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

/// Small files that are read and written as a whole.

namespace millrace {

/// Writes `<path>.tmp` with mode 0600 and renames it to `path`. Throws Error that names the path.
void write_whole_file(const std::string& path, std::span<const std::byte> bytes);

/// The bytes of `path`. Throws Error when it cannot be read or is longer than `bytes_max`.
std::vector<std::byte> read_whole_file(const std::string& path, std::size_t bytes_max);

}  // namespace millrace
