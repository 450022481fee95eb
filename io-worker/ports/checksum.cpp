// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/checksum.hpp"

#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet.hpp"
#include "shared/packet/ip_pseudo_sum.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp, ip_protocol::kUdp;

}  // namespace

void complete_bare_checksum(std::span<std::byte> frame) noexcept {
  const PacketHeaders headers = parse_headers(frame);
  const std::size_t start = headers.transport_offset;
  if (start == 0 || headers.fragment || headers.status != ParseStatus::kOk) return;
  if (headers.protocol != kTcp && headers.protocol != kUdp) return;
  const std::size_t field = transport_checksum_at(headers.protocol);
  const std::size_t end = headers.payload_end;
  if (start + field + 2 > end) return;
  const std::uint16_t pseudo =
      ip_pseudo_sum(frame.subspan(headers.network_offset), headers.protocol, end - start);
  if (wire_bytes::u16(frame, start + field) == pseudo) {
    complete_checksum(frame.first(end), start, field);
  }
}

}  // namespace millrace
