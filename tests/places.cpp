// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/places.hpp"

#include <cstdlib>

namespace millrace::test {

std::filesystem::path source_folder() { return MILLRACE_SOURCE_DIR; }

std::filesystem::path programs_folder() { return MILLRACE_BIN_DIR; }

std::filesystem::path shared_folder() {
  const char* given = std::getenv("MILLRACE_SHARED");
  return given != nullptr ? std::filesystem::path(given) : source_folder() / "../shared";
}

}  // namespace millrace::test
