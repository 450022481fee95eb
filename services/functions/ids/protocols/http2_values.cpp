// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "services/functions/ids/protocols/app_events.hpp"
#include "services/functions/ids/protocols/http2_parser.hpp"

/// What frames have beside headers and bodies, as values of buffers.

namespace millrace {
namespace {

constexpr std::size_t kWordBytes = 4, kSettingBytes = 6, kGoAwayCodeAt = 4, kWeightAt = 4;

}  // namespace

/// Detection looks while there are not too many that it has not seen.
void Http2Parser::put_value(std::uint8_t direction, RuleBuffer buffer, std::string_view value,
                            Transaction& transaction) {
  if (transaction.parts(direction, buffer).size() >= Transaction::kNewValuesMax) {
    sink_->on_news(transaction, direction);
  }
  transaction.put_new(direction, buffer, value);
}

void Http2Parser::put_frame_type(std::uint8_t direction, Transaction& transaction) {
  const auto type = static_cast<char>(sides_[direction].frames.frame().type_number);
  put_value(direction, RuleBuffer::kHttp2FrameType, {&type, 1}, transaction);
}

void Http2Parser::put_values(std::uint8_t direction, std::string_view payload,
                             Transaction& transaction) {
  const Http2Frame& frame = sides_[direction].frames.frame();
  put_frame_type(direction, transaction);
  const auto put = [&](RuleBuffer buffer, std::size_t at, std::size_t bytes) {
    if (payload.size() < at + bytes) return;
    put_value(direction, buffer, payload.substr(at, bytes), transaction);
  };
  const bool has_priority =
      frame.type == Http2Type::kPriority ||
      (frame.type == Http2Type::kHeaders && frame.has(http2_flags::kPriority));
  if (has_priority) put(RuleBuffer::kHttp2Priority, kWeightAt, 1);
  if (frame.type == Http2Type::kResetStream) put(RuleBuffer::kHttp2ErrorCode, 0, kWordBytes);
  if (frame.type == Http2Type::kGoAway) put(RuleBuffer::kHttp2ErrorCode, kGoAwayCodeAt, kWordBytes);
  if (frame.type == Http2Type::kWindowUpdate) put(RuleBuffer::kHttp2Window, 0, kWordBytes);
  if (frame.type != Http2Type::kSettings) return;
  for (std::size_t at = 0; at < payload.size(); at += kSettingBytes) {
    put(RuleBuffer::kHttp2Setting, at, kSettingBytes);
  }
  if (payload.size() % kSettingBytes != 0) {
    app_events::put(transaction, direction, app_events::kHttp2FrameLength);
  }
}

}  // namespace millrace
