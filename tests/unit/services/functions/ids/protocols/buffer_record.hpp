// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/ids/protocols/app_session.hpp"

namespace millrace {

/// Keeps all bytes of all buffers of all transactions, however little of them a transaction keeps.
class BufferRecord final : public TransactionSink {
 public:
  struct Value {
    std::string bytes;
    bool is_complete = false;
    bool operator==(const Value&) const = default;
  };
  struct OfTransaction {
    std::map<std::pair<int, RuleBuffer>, std::vector<Value>> buffers;
    std::array<bool, 2> is_complete{};
    bool operator==(const OfTransaction&) const = default;
  };

  void on_news(Transaction& transaction, std::uint8_t direction) noexcept override {
    OfTransaction& known = transactions[transaction.number()];
    ++news;
    for (std::size_t i = 0; i < kRuleBufferCount; ++i) {
      const auto buffer = static_cast<RuleBuffer>(i);
      if (!transaction.has_news(direction, buffer)) continue;
      const std::vector<BufferPart>& parts = transaction.parts(direction, buffer);
      if (!parts.empty()) take(parts, known.buffers[{direction, buffer}]);
    }
    known.is_complete[direction] = transaction.is_complete(direction);
    transaction.taken(direction);
  }

  /// All values, one behind the other with a bar between.
  std::string text(std::uint64_t number, int direction, RuleBuffer buffer) const {
    const auto transaction = transactions.find(number);
    if (transaction == transactions.end()) return "(no transaction)";
    const auto found = transaction->second.buffers.find({direction, buffer});
    if (found == transaction->second.buffers.end()) return "(none)";
    std::string made;
    for (const Value& value : found->second) {
      if (&value != &found->second.front()) made += '|';
      made += value.bytes;
    }
    return made;
  }

  std::map<std::uint64_t, OfTransaction> transactions;
  std::size_t news = 0;
  bool lost_bytes = false;     ///< some were cut off before they were seen
  bool has_forgotten = false;  ///< a transaction has so many values that it forgets: none is known

 private:
  void take(const std::vector<BufferPart>& parts, std::vector<Value>& values) noexcept {
    has_forgotten = has_forgotten || values.size() > parts.size();
    if (has_forgotten) return;
    values.resize(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const BufferPart& part = parts[i];
      std::string& known = values[i].bytes;
      if (part.base > known.size()) lost_bytes = true;
      const std::size_t old = known.size() - std::min<std::size_t>(known.size(), part.base);
      if (old < part.bytes.size()) known.append(part.bytes, old);
      values[i].is_complete = part.is_complete;
    }
  }
};

}  // namespace millrace
