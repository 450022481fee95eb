// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace millrace {

/// Room of texts that are over, for texts that begin: bodies come and go with each transaction, and
/// to allocate tens of kilobytes for each costs more than to copy them. One thread.
class TextPool {
 public:
  static constexpr std::size_t kTextsMax = 128;
  /// Larger ones are freed: the pool holds 16 MiB at most.
  static constexpr std::size_t kTextBytesMax = 128u << 10;
  /// Smaller ones too: they cost little.
  static constexpr std::size_t kTextBytesMin = 4u << 10;

  /// An empty text; with room, where there is some.
  std::string take() noexcept {
    if (texts_.empty()) return {};
    std::string text = std::move(texts_.back());
    texts_.pop_back();
    text.clear();
    return text;
  }
  /// Without the text, where the pool is full.
  void give(std::string text) {
    const bool fits = text.capacity() >= kTextBytesMin && text.capacity() <= kTextBytesMax;
    if (fits && texts_.size() < kTextsMax) texts_.push_back(std::move(text));
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace millrace
