// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "shared/control/curve_keys.hpp"

/// CURVE keys in files, one a line, which says which half it is:
///
///     # a comment
///     secret KEY         in FILE, which others may not read
///     public KEY NOTE    in FILE.pub; NOTE is whatever helps to tell them apart
///
/// Both halves look alike: the word keeps a secret one from being handed around.

namespace millrace {

/// Writes a new pair to `path`, mode 0600, and `path`.pub, mode 0644. Neither may be there. Throws
/// Error that names the path.
void write_key_files(const std::string& path, const std::string& note);

/// The pair whose secret half is in `path`. Throws Error, without a byte of the file, when others
/// can read it or when it holds anything but one secret key.
CurveKeys read_secret_key(const std::string& path);

/// All keys in `path`, at least one. Throws Error as read_secret_key(), with the line.
std::vector<std::string> read_public_keys(const std::string& path);

}  // namespace millrace
