// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/functions/ids/protocols/app_parser.hpp"

/// Dialogues for parsers, and what they made of them.

namespace millrace {

struct DialoguePiece {
  std::uint8_t direction;
  std::string bytes;
};
using Dialogue = std::vector<DialoguePiece>;

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
      take(transaction.parts(direction, buffer), known.buffers[{direction, buffer}]);
      if (known.buffers[{direction, buffer}].empty()) known.buffers.erase({direction, buffer});
    }
    known.is_complete[direction] = transaction.is_complete(direction);
    transaction.taken(direction);
  }

  /// All values, one behind the other with a bar between.
  std::string text(std::uint64_t number, int direction, RuleBuffer buffer) const {
    std::string made;
    const auto transaction = transactions.find(number);
    if (transaction == transactions.end()) return "(no transaction)";
    const auto found = transaction->second.buffers.find({direction, buffer});
    if (found == transaction->second.buffers.end()) return "(none)";
    for (const Value& value : found->second) {
      if (&value != &found->second.front()) made += '|';
      made += value.bytes;
    }
    return made;
  }

  std::map<std::uint64_t, OfTransaction> transactions;
  std::size_t news = 0;
  bool lost_bytes = false;  ///< some were cut off before they were seen

 private:
  void take(const std::vector<BufferPart>& parts, std::vector<Value>& values) noexcept {
    // Values in front may have been forgotten: the last ones are those that go on.
    const std::size_t front = values.size() > parts.size() ? values.size() - parts.size() : 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (front + i == values.size()) values.emplace_back();
      Value& value = values[front + i];
      if (parts[i].base > value.bytes.size()) lost_bytes = true;
      const std::size_t known =
          value.bytes.size() - std::min<std::size_t>(value.bytes.size(), parts[i].base);
      if (known < parts[i].bytes.size()) value.bytes.append(parts[i].bytes, known);
      value.is_complete = parts[i].is_complete;
    }
  }
};

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

}  // namespace millrace
