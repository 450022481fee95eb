// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The files that a plan was made from, as Plan::sources has them: "HASH PATH", 16 hexadecimal
/// digits and a path.

namespace millrace {

inline constexpr std::string_view kNoSuchFile = "----------------";

/// Hash of what is in the file now; kNoSuchFile when it cannot be read.
std::string hash_of_file(const std::string& path);

/// The entry of a file as it is now.
std::string source_of(const std::string& path);

std::string path_of_source(const std::string& source);
std::string hash_of_source(const std::string& source);

/// Hash of all of them together; the same files with the same contents give the same. Of none:
/// empty.
std::string hash_of_sources(const std::vector<std::string>& sources);

}  // namespace millrace
