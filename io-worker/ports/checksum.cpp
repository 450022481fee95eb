// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/checksum.hpp"

#include <arpa/inet.h>

#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet.hpp"

namespace millrace {
namespace {

using ip_protocol::kTcp, ip_protocol::kUdp;

}  // namespace

void complete_bare_checksum(std::span<std::byte> frame) noexcept {
  const PacketHeaders headers = parse_headers(frame);
  const std::size_t start = headers.transport_offset;
  const bool tcp = headers.protocol == kTcp;
  if (start == 0 || headers.fragment || headers.status != ParseStatus::kOk) return;
  if (!tcp && headers.protocol != kUdp) return;
  const std::size_t field = tcp ? 16 : 6;
  const std::size_t end = headers.payload_end;
  if (start + field + 2 > end) return;
  const bool v6 = headers.ip_version == 6;
  const std::byte* addresses = frame.data() + headers.network_offset + (v6 ? 8 : 12);
  const auto length = static_cast<std::uint16_t>(end - start);
  const std::uint16_t pseudo = folded_sum(std::uint64_t{sum_of_words({addresses, v6 ? 32u : 8u})} +
                                          htons(headers.protocol) + htons(length));
  std::uint16_t found = 0;
  std::memcpy(&found, frame.data() + start + field, sizeof found);
  if (found == pseudo) complete_checksum(frame.first(end), start, field);
}

}  // namespace millrace
