// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shared/base/error.hpp"

/// What is wrong with a topology file: collected, so that one run tells all of it.

namespace millrace {

/// A place in a file. Lines and columns count from 1; 0: no place (a default).
struct SourceMark {
  std::string file;
  int line = 0;
  int column = 0;
};

/// A value and where it was written; the mark of the section when it is a default.
template <typename T>
struct Marked {
  T value{};
  SourceMark mark;
};

struct Problem {
  SourceMark mark;
  std::string found;
  std::string allowed;  ///< empty: nothing to say
  std::string nearest;  ///< the valid name that was probably meant; empty: none is near
};

/// "file:line:column", or the file alone.
std::string to_text(const SourceMark& mark);

/// "file:line:column: found X; allowed: Y; did you mean 'Z'?", without the parts that are empty.
std::string to_text(const Problem& problem);

/// `text` as it may stand in a message: at most 48 bytes, control characters replaced.
std::string shown(const std::string& text);

inline constexpr std::size_t kProblemCountMax = 20;  ///< reported; the rest is counted

/// A topology that was refused. what() has one line a problem.
class TopologyError : public Error {
 public:
  /// `total`: all that were found; `problems` has the first of them.
  TopologyError(std::vector<Problem> problems, std::size_t total);
  const std::vector<Problem>& problems() const { return problems_; }
  std::size_t total() const { return total_; }

 private:
  std::vector<Problem> problems_;
  std::size_t total_;
};

/// Collects problems. One thread.
class Problems {
 public:
  void add(SourceMark mark, std::string found, std::string allowed = {}, std::string nearest = {});
  bool empty() const { return all_.empty(); }
  /// Throws TopologyError with the first kProblemCountMax by position, when there is any.
  void throw_if_any() const;

 private:
  std::vector<Problem> all_;
};

}  // namespace millrace
