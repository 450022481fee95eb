// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/functions/ids/protocols/app_session.hpp"

/// What sessions tell, as values that tests compare.

namespace millrace {

inline std::span<const std::byte> app_bytes(std::string_view text) {
  return std::as_bytes(std::span{text});
}

/// Of one direction of a transaction, as it was told last.
struct AppRecord {
  AppProtocol protocol = AppProtocol::kUnknown;
  std::map<RuleBuffer, std::vector<std::string>> buffers;
  bool is_complete = false;

  friend bool operator==(const AppRecord&, const AppRecord&) = default;

  /// The only value; "(none)": there is not one.
  std::string value(RuleBuffer buffer) const {
    const auto found = buffers.find(buffer);
    return found != buffers.end() && found->second.size() == 1 ? found->second[0] : "(none)";
  }
};

class AppRecorder final : public TransactionSink {
 public:
  void on_news(Transaction& transaction, std::uint8_t direction) noexcept override {
    AppRecord record{.protocol = transaction.protocol(),
                     .buffers = {},
                     .is_complete = transaction.is_complete(direction)};
    for (std::size_t i = 0; i < kRuleBufferCount; ++i) {
      const auto buffer = static_cast<RuleBuffer>(i);
      for (const BufferPart& part : transaction.parts(direction, buffer)) {
        record.buffers[buffer].push_back(part.bytes);
      }
    }
    transaction.taken(direction);
    records[{transaction.number(), direction}] = std::move(record);
    ++told;
  }

  const AppRecord& record(std::uint64_t number, std::uint8_t direction) {
    return records[{number, direction}];
  }

  std::map<std::pair<std::uint64_t, std::uint8_t>, AppRecord> records;  ///< by number, direction
  std::size_t told = 0;
};

}  // namespace millrace
