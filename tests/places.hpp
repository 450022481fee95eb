// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace millrace::test {

/// Where the tests find what they read. One source knows the paths, so that a compiler's cache
/// serves the objects of all others to another clone of the tree.
std::filesystem::path source_folder();    // the root of the tree
std::filesystem::path programs_folder();  // the executables of this build

/// MILLRACE_SHARED, or `shared` beside the tree. It may not be there.
std::filesystem::path shared_folder();

}  // namespace millrace::test
