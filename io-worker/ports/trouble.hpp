// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <string_view>

namespace millrace {

/// A sentence for people that data threads may make: it allocates nothing.
class TroubleText {
 public:
  /// As printf, behind what is there. What does not fit is cut off.
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) noexcept {
    std::va_list values;
    va_start(values, format);
    const int more = std::vsnprintf(text_.data() + length_, text_.size() - length_, format, values);
    va_end(values);
    if (more > 0) length_ = std::min(length_ + static_cast<std::size_t>(more), text_.size() - 1);
  }
  /// Its end where it is longer than `bytes_max`, so that an event has room for what comes behind.
  void add_end(std::string_view what, std::size_t bytes_max) noexcept {
    const bool whole = what.size() <= bytes_max;
    const std::string_view shown = whole ? what : what.substr(what.size() - bytes_max);
    add("%s%.*s", whole ? "" : "...", static_cast<int>(shown.size()), shown.data());
  }
  void add_path(std::string_view path) noexcept { add_end(path, 80); }
  std::string text() const { return std::string(view()); }
  std::string_view view() const noexcept { return {text_.data(), length_}; }
  const char* c_str() const noexcept { return text_.data(); }
  bool empty() const noexcept { return length_ == 0; }

 private:
  std::array<char, 512> text_{};
  std::size_t length_ = 0;
};

}  // namespace millrace
