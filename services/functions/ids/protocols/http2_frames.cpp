// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http2_frames.hpp"

#include <algorithm>
#include <span>

#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

constexpr std::size_t kHeaderBytes = 9, kPriorityBytes = 5, kPromiseBytes = 4;
constexpr std::size_t kFlagsAt = 4, kStreamAt = 5;
constexpr std::uint32_t kStreamMask = 0x7fffffff;
constexpr Http2Piece kInvalid{.kind = Http2Piece::Kind::kInvalid, .bytes = {}};

Http2Frame frame_of(std::string_view header) noexcept {
  const auto bytes = std::as_bytes(std::span(header));
  Http2Frame frame;
  frame.length = wire_bytes::u32(bytes, 0) >> 8;
  frame.type_number = wire_bytes::u8(bytes, 3);
  frame.type = static_cast<Http2Type>(
      std::min<std::uint8_t>(frame.type_number, static_cast<std::uint8_t>(Http2Type::kCount)));
  frame.flags = wire_bytes::u8(bytes, kFlagsAt);
  frame.stream = wire_bytes::u32(bytes, kStreamAt) & kStreamMask;
  return frame;
}

}  // namespace

/// True: held_ has so many bytes.
bool Http2FrameReader::gather(std::size_t wanted, std::string_view& bytes) {
  if (is_used_) held_.clear();
  is_used_ = false;
  const std::size_t taken = std::min(wanted - std::min(wanted, held_.size()), bytes.size());
  held_.append(bytes.substr(0, taken));
  bytes.remove_prefix(taken);
  return held_.size() >= wanted;
}

Http2Piece Http2FrameReader::begin_frame() {
  frame_ = frame_of(held_);
  is_used_ = true;
  left_ = frame_.length;
  padding_ = 0;
  const bool is_padded = frame_.has(http2_flags::kPadded);
  if (frame_.type == Http2Type::kData) {
    at_ = is_padded ? At::kPadLength : At::kData;
    return {};
  }
  if (frame_.type == Http2Type::kCount || frame_.type == Http2Type::kPing) {
    at_ = At::kRest;
    return {.kind = Http2Piece::Kind::kSkipped, .bytes = {}};
  }
  if (frame_.length > kPayloadMax) return kInvalid;
  at_ = At::kPayload;
  return {};
}

/// Without its padding, priority stays in front of headers.
Http2Piece Http2FrameReader::whole_frame() {
  at_ = At::kHeader;
  is_used_ = true;
  std::string_view payload(held_);
  const bool may_be_padded =
      frame_.type == Http2Type::kHeaders || frame_.type == Http2Type::kPushPromise;
  if (may_be_padded && frame_.has(http2_flags::kPadded)) {
    if (payload.empty()) return kInvalid;
    const auto padding = static_cast<std::uint8_t>(payload.front());
    payload.remove_prefix(1);
    if (padding > payload.size()) return kInvalid;
    payload.remove_suffix(padding);
  }
  const bool is_short =
      (frame_.type == Http2Type::kPushPromise && payload.size() < kPromiseBytes) ||
      (frame_.type == Http2Type::kHeaders && frame_.has(http2_flags::kPriority) &&
       payload.size() < kPriorityBytes);
  if (is_short) return kInvalid;
  return {.kind = Http2Piece::Kind::kFrame, .bytes = payload};
}

Http2Piece Http2FrameReader::data(std::string_view& bytes) {
  const std::string_view taken = bytes.substr(0, left_);
  left_ -= static_cast<std::uint32_t>(taken.size());
  bytes.remove_prefix(taken.size());
  const bool is_last = left_ == 0;
  if (!is_last && taken.empty()) return {};
  if (is_last) {
    at_ = At::kRest;
    left_ = padding_;
  }
  return {.kind = Http2Piece::Kind::kData, .bytes = taken, .is_last = is_last};
}

Http2Piece Http2FrameReader::next(std::string_view& bytes) {
  for (;;) {
    switch (at_) {
      case At::kHeader: {
        if (!gather(kHeaderBytes, bytes)) return {};
        const Http2Piece begun = begin_frame();
        if (begun.kind != Http2Piece::Kind::kMore) return begun;
        break;
      }
      case At::kPadLength:
        if (left_ == 0) return kInvalid;
        if (bytes.empty()) return {};
        padding_ = static_cast<std::uint8_t>(bytes.front());
        bytes.remove_prefix(1);
        if (padding_ > left_ - 1) return kInvalid;
        left_ -= 1 + padding_;
        at_ = At::kData;
        break;
      case At::kPayload:
        if (!gather(frame_.length, bytes)) return {};
        return whole_frame();
      case At::kData:
        return data(bytes);
      case At::kRest: {
        const std::size_t taken = std::min<std::size_t>(left_, bytes.size());
        bytes.remove_prefix(taken);
        left_ -= static_cast<std::uint32_t>(taken);
        if (left_ != 0) return {};
        at_ = At::kHeader;
        break;
      }
    }
  }
}

}  // namespace millrace
