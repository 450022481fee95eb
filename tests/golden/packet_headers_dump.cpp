// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads frames from standard input, each as a 32-bit length in this machine's byte order and so
// many bytes, and prints a line for each: status, VLAN tags, EtherType, IP version, protocol,
// fragment, first fragment, offsets of network, transport, payload and its end, flow hash.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "shared/base/flow_hash.hpp"
#include "shared/base/packet.hpp"

namespace {

void print(const std::vector<std::byte>& frame) {
  const millrace::PacketHeaders found = millrace::parse_headers(frame);
  std::printf("%d %u %u %u %u %d %d %u %u %u %u %u\n", static_cast<int>(found.status),
              found.vlan_tags, found.ether_type, found.ip_version, found.protocol,
              found.fragment ? 1 : 0, found.first_fragment ? 1 : 0, found.network_offset,
              found.transport_offset, found.payload_offset, found.payload_end,
              millrace::flow_hash_of(frame));
}

}  // namespace

int main() {
  std::uint32_t bytes = 0;
  while (std::fread(&bytes, sizeof bytes, 1, stdin) == 1) {
    std::vector<std::byte> frame(bytes);
    if (std::fread(frame.data(), 1, bytes, stdin) != bytes) return 1;
    print(frame);
  }
  return 0;
}
