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

/// Writes all of them to an open file, which `path` names in the Error that it throws.
void write_all(int file, std::span<const std::byte> bytes, const std::string& path);

/// The bytes of `path`. Throws Error when it cannot be read or is longer than `bytes_max`.
std::vector<std::byte> read_whole_file(const std::string& path, std::size_t bytes_max);

}  // namespace millrace
