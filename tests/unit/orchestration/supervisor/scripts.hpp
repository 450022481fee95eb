// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

/// Shell scripts in the place of our programs.

namespace millrace::test {

/// What an actor does that has nothing to do but to end when it is told to, or when the test that
/// started it was aborted.
inline constexpr const char* kIdleScript =
    "trap 'exit 0' TERM; while kill -0 $PPID 2>/dev/null; do sleep 0.02; done";

/// `part`: "hub" for millrace-hub. `shell`: what runs it.
inline void write_script(const std::string& folder, const std::string& part,
                         const std::string& script, const std::string& shell = "/bin/sh") {
  const std::string path = folder + "/millrace-" + part;
  std::ofstream(path) << "#!" << shell << "\n" << script << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

/// The same one for all that a supervisor keeps running.
inline void write_scripts(const std::string& folder, const std::string& script = kIdleScript) {
  for (const char* part : {"hub", "io-worker", "classifier", "gpu-worker", "telemetry"}) {
    write_script(folder, part, script);
  }
}

}  // namespace millrace::test
