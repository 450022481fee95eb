// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/problem.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace millrace {
namespace {

constexpr std::size_t kShownBytesMax = 48;

std::string lines_of(const std::vector<Problem>& problems, std::size_t total) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += to_text(problem);
  }
  if (total > problems.size()) {
    text += "\nand " + std::to_string(total - problems.size()) + " more";
  }
  return text;
}

}  // namespace

std::string to_text(const SourceMark& mark) {
  if (mark.line == 0) return mark.file;
  return mark.file + ':' + std::to_string(mark.line) + ':' + std::to_string(mark.column);
}

std::string to_text(const Problem& problem) {
  std::string text = to_text(problem.mark) + ": found " + problem.found;
  if (!problem.allowed.empty()) text += "; allowed: " + problem.allowed;
  if (!problem.nearest.empty()) text += "; did you mean '" + problem.nearest + "'?";
  return text;
}

std::string shown(const std::string& text) {
  std::string out = text.substr(0, kShownBytesMax);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text.size() > kShownBytesMax ? out + "..." : out;
}

TopologyError::TopologyError(std::vector<Problem> problems, std::size_t total)
    : Error(lines_of(problems, total)), problems_(std::move(problems)), total_(total) {}

void Problems::add(SourceMark mark, std::string found, std::string allowed, std::string nearest) {
  all_.push_back({std::move(mark), std::move(found), std::move(allowed), std::move(nearest)});
}

void Problems::throw_if_any() const {
  if (all_.empty()) return;
  std::vector<Problem> sorted = all_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.mark.file, a.mark.line, a.mark.column) <
           std::tie(b.mark.file, b.mark.line, b.mark.column);
  });
  sorted.resize(std::min(sorted.size(), kProblemCountMax));
  throw TopologyError(std::move(sorted), all_.size());
}

}  // namespace millrace
