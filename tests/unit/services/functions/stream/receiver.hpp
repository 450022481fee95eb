// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace millrace {

/// What a receiver has of a stream, as RFC 9293 leaves it free: of bytes that come twice before
/// they are delivered the first or the last ones count.
struct Receiver {
  explicit Receiver(bool last) : last_counts(last) {}
  void take(std::size_t at, std::string_view data) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (at + i < delivered.size()) continue;
      if (last_counts)
        waiting[at + i] = data[i];
      else
        waiting.emplace(at + i, data[i]);
    }
    for (auto next = waiting.find(delivered.size()); next != waiting.end();
         next = waiting.find(delivered.size())) {
      delivered += next->second;
      waiting.erase(next);
    }
  }
  bool last_counts;
  std::string delivered;
  std::map<std::size_t, char> waiting;
};

}  // namespace millrace
