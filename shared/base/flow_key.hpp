// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

/// What most functions on headers ask of the usual frame, in 16 bytes: what looks at a batch from
/// afar (a GPU over the bus) reads these side by side instead of a line of memory for each packet.

namespace millrace {

/// The usual frame: Ethernet with at most two tags, IPv4 without options and no fragment, TCP or
/// UDP, whole up to and with the flags of TCP. `protocol` is 0 for every other one: its bytes have
/// to be read. Addresses and ports as on the wire.
struct alignas(16) FlowKey {
  std::uint32_t source, destination;
  std::uint16_t source_port, destination_port;
  std::uint8_t protocol;   ///< 6, 17; 0: not the usual frame, nothing else here is said
  std::uint8_t tcp_flags;  ///< 0 for UDP
  std::uint8_t padding[2];
};
static_assert(sizeof(FlowKey) == 16 && offsetof(FlowKey, source_port) == 8 &&
              offsetof(FlowKey, protocol) == 12 && offsetof(FlowKey, tcp_flags) == 13);

/// Of a frame without tags, that are looked at: 14 + 20 + 14.
inline constexpr std::size_t kFlowKeyBytes = 48;

/// The key of the first `size` bytes of a frame: u8(at), and le16(at), le32(at), whose first byte
/// is the lowest. For CPU and GPU.
template <typename Bytes>
constexpr FlowKey flow_key(const Bytes& bytes, std::size_t size) {
  std::size_t at = 0;  // behind what comes before EtherType
  for (int tags = 0; tags < 2 && at + kFlowKeyBytes <= size; ++tags, at += 4) {
    const std::uint16_t type = bytes.le16(at + 12);
    if (type != 0x0081 && type != 0xa888) break;  // 802.1Q, 802.1ad
  }
  if (at + kFlowKeyBytes > size) return {};
  // EtherType, IP version and header length; then all but "don't fragment".
  if ((bytes.le32(at + 12) & 0xffffff) != 0x450008 || (bytes.le16(at + 20) & 0xff3f) != 0) {
    return {};
  }
  const std::uint32_t total_bytes = std::uint32_t{bytes.u8(at + 16)} << 8 | bytes.u8(at + 17);
  const std::uint8_t protocol = bytes.u8(at + 23);
  const bool tcp = protocol == 6;
  if (tcp ? total_bytes < 40 : protocol != 17 || total_bytes < 28) return {};
  FlowKey key{};
  key.source = bytes.le32(at + 26);
  key.destination = bytes.le32(at + 30);
  key.source_port = bytes.le16(at + 34);
  key.destination_port = bytes.le16(at + 36);
  key.protocol = protocol;
  key.tcp_flags = tcp ? bytes.u8(at + 47) : std::uint8_t{0};
  return key;
}

/// The same of a frame on a CPU.
inline FlowKey flow_key_of(std::span<const std::byte> frame) noexcept {
  struct Bytes {
    const std::byte* data;
    std::uint8_t u8(std::size_t at) const noexcept { return static_cast<std::uint8_t>(data[at]); }
    std::uint16_t le16(std::size_t at) const noexcept {
      std::uint16_t value;
      std::memcpy(&value, data + at, sizeof value);
      return value;
    }
    std::uint32_t le32(std::size_t at) const noexcept {
      std::uint32_t value;
      std::memcpy(&value, data + at, sizeof value);
      return value;
    }
  };
  return flow_key(Bytes{frame.data()}, frame.size());
}

}  // namespace millrace
