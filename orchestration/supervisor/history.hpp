// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/config/plan.hpp"

namespace millrace {

/// What a topology has been since its start, planned restarts included, in its run directory:
///
///     history/list          a line a generation: number, time, hash, what was done
///     history/N.plan        the plan of generation N
///     history/HASH/NAME     what was in a file of a function then; not above kFileBytesMax.
///                           HASH covers the path too: equal files in two folders have two
class History {
 public:
  static constexpr std::size_t kGenerationsKept = 50;
  static constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;

  struct Entry {
    std::uint64_t generation = 0;
    std::uint64_t time_ns = 0;
    std::string hash;
    std::string what;
  };

  explicit History(const std::string& run_dir) : folder_(run_dir + "/history") {}

  /// Takes over what a run in another directory had, which has ended or will; files are shared with
  /// it. Returns its last generation, 0 for none. Throws Error.
  std::uint64_t resume(const std::string& run_dir) const;
  /// Enters `plan` as its generation. Throws Error when it cannot be written.
  void add(const Plan& plan, const std::string& what, std::uint64_t time_ns) const;
  /// Oldest first; those that are no longer kept are left out.
  std::vector<Entry> entries() const;
  /// The plan of a generation. A file of a function that says something else by now is replaced by
  /// what was kept of it. Throws Error that says which generations there are, or what was too long
  /// to be kept.
  Plan plan_of(std::uint64_t generation) const;
  /// The plan with the files that people write, where a rollback has put what was kept of them.
  Plan as_written(Plan plan) const;
  /// The file that people write, where `path` is of `plan` and a rollback has put what was kept of
  /// it; else `path`.
  std::string written_path(const Plan& plan, const std::string& path) const;

 private:
  std::string plan_path(std::uint64_t generation) const;
  std::string kept_path(const std::string& source) const;
  void forget_old(const std::vector<Entry>& entries) const;
  void forget_files(const std::vector<Entry>& kept) const;

  std::string folder_;
};

}  // namespace millrace
