// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/places.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"

extern char** environ;

namespace millrace::test {

/// Runs a program and waits; its exit status, 127 when it cannot be run.
inline int run_program(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    return 127;
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// The public captures, unpacked into a folder that goes away with this: data/pcap.tar.xz of the
/// folder that the environment variable MILLRACE_SHARED names, or of `shared` beside the
/// repository.
class Corpus {
 public:
  static Corpus open() {
    Corpus corpus;
    const std::filesystem::path packed = shared_folder() / "data" / "pcap.tar.xz";
    if (!std::filesystem::exists(packed)) {
      corpus.why_not_ = "no " + packed.string() + " (set MILLRACE_SHARED)";
      return corpus;
    }
    // What cannot be unpacked leaves no captures, which the tests count.
    run_program({"tar", "-xJf", packed.string(), "-C", corpus.folder_->path("")});
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(corpus.folder_->path(""))) {
      if (entry.is_regular_file()) corpus.captures_.push_back(entry.path());
    }
    std::sort(corpus.captures_.begin(), corpus.captures_.end());
    return corpus;
  }
  bool there() const { return why_not_.empty(); }
  const std::string& why_not() const { return why_not_; }
  /// Every file of the set; some are no captures.
  const std::vector<std::string>& captures() const { return captures_; }

 private:
  std::unique_ptr<TestFolder> folder_ = std::make_unique<TestFolder>();
  std::vector<std::string> captures_;
  std::string why_not_;
};

}  // namespace millrace::test
