// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/run_words.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "shared/base/error.hpp"

namespace millrace {

std::string default_run_dir(const std::string& name) {
  if (::geteuid() == 0) return std::string(kRunDirs) + "/" + name;
  const char* base = std::getenv("XDG_RUNTIME_DIR");
  if (base == nullptr || *base == '\0') {
    throw Error("XDG_RUNTIME_DIR is not set: name a directory with --run-dir");
  }
  return std::string(base) + "/millrace/" + name;
}

std::string words_for_run(const std::string& name, const std::string& run_dir) {
  try {
    std::error_code failed;
    const auto usual = std::filesystem::weakly_canonical(default_run_dir(name), failed);
    if (!failed && run_dir == usual) return name;
  } catch (const Error&) {
    // This user has no default one.
  }
  return name + " --run-dir " + run_dir;
}

std::string words_for_run_in(const std::string& run_dir) {
  return words_for_run(run_dir.substr(run_dir.rfind('/') + 1), run_dir);
}

}  // namespace millrace
