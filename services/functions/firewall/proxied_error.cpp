// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/proxied_error.hpp"

#include "services/functions/firewall/proxy_segment.hpp"
#include "services/functions/firewall/tcp_options.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/quoted_headers.hpp"
#include "shared/packet/tcp_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;
constexpr std::size_t kIcmpChecksumAt = 2;
constexpr std::uint32_t kFlagsOfWord = 0xff0000;  // of the word at tcp_wire::kOffsetAt

/// A number of the quoted segment, where the quote has it.
void put_quoted(std::span<std::byte> segment, std::size_t at, std::uint32_t value) noexcept {
  if (segment.size() >= tcp_wire::kHeaderBytesMin) {
    change_segment_u32(segment, at, value);
  } else if (segment.size() >= at + sizeof value) {
    wire_bytes::put32(segment, at, value);
  }
}

void add_quoted(std::span<std::byte> segment, std::size_t at, std::uint32_t more) noexcept {
  if (segment.size() < at + sizeof more) return;
  put_quoted(segment, at, u32(segment, at) + more);
}

void as_server_sent(const ProxiedFlow& flow, std::span<std::byte> segment) noexcept {
  add_quoted(segment, tcp_wire::kSequenceAt, 0 - flow.shift);
  const TcpOptions options = read_tcp_options(segment);
  if (options.has_timestamp) add_quoted(segment, options.timestamp_at, 0 - flow.timestamp);
}

/// The proof of the cookie, which the client has sent and the server has not seen.
void as_proof(const ProxiedFlow& flow, std::span<std::byte> segment) noexcept {
  put_quoted(segment, tcp_wire::kSequenceAt, flow.client + 1);
  put_quoted(segment, tcp_wire::kAcknowledgmentAt, flow.cookie + 1);
  if (segment.size() < tcp_wire::kHeaderBytesMin) {
    wire_bytes::put8(segment, tcp_wire::kFlagsAt, tcp_wire::kAck);
    return;
  }
  const std::uint32_t kept = u32(segment, tcp_wire::kOffsetAt) & ~kFlagsOfWord;
  change_segment_u32(segment, tcp_wire::kOffsetAt, kept | std::uint32_t{tcp_wire::kAck} << 16);
}

void as_client_sent(const ProxiedFlow& flow, std::span<std::byte> segment) noexcept {
  if (segment.size() <= tcp_wire::kFlagsAt) {  // a SYN has no other number than this one
    if (segment.size() >= tcp_wire::kAcknowledgmentAt &&
        u32(segment, tcp_wire::kSequenceAt) == flow.client) {
      put_quoted(segment, tcp_wire::kSequenceAt, flow.client + 1);
    }
    if (flow.is_open != 0) add_quoted(segment, tcp_wire::kAcknowledgmentAt, flow.shift);
    return;
  }
  const std::uint8_t flags = u8(segment, tcp_wire::kFlagsAt);
  if ((flags & tcp_wire::kSyn) != 0) return as_proof(flow, segment);
  if (flow.is_open == 0 || (flags & tcp_wire::kAck) == 0) return;
  add_quoted(segment, tcp_wire::kAcknowledgmentAt, flow.shift);
  const TcpOptions options = read_tcp_options(segment);
  if (options.has_timestamp) add_quoted(segment, options.timestamp_at + 4, flow.timestamp);
  for (std::size_t i = 0; i < options.sack_edges; ++i) {
    add_quoted(segment, options.sack_at + 4 * i, flow.shift);
  }
}

}  // namespace

void revert_segment(const ProxiedFlow& flow, ProxyError to, std::span<std::byte> segment) noexcept {
  if (to == ProxyError::kToClient) {
    as_client_sent(flow, segment);
  } else if (flow.is_open != 0) {
    as_server_sent(flow, segment);
  }
}

void translate_error(const ProxiedFlow& flow, ProxyError to, std::span<std::byte> frame,
                     const PacketHeaders& headers) noexcept {
  const auto quoted = quoted_headers(frame, headers);
  if (!quoted || quoted->protocol != ip_protocol::kTcp || quoted->transport_offset == 0) return;
  if (quoted->transport_offset >= headers.payload_end) return;
  const std::span<std::byte> segment =
      frame.first(headers.payload_end).subspan(quoted->transport_offset);
  const std::uint16_t before = internet_sum(segment);
  revert_segment(flow, to, segment);
  const std::size_t at = headers.transport_offset + kIcmpChecksumAt;
  wire_bytes::put16(frame, at, updated_checksum(u16(frame, at), before, internet_sum(segment)));
}

}  // namespace millrace
