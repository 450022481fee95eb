// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_key.hpp"

#include <cstring>

namespace millrace {
namespace {

constexpr std::uint8_t kTcp = 6, kUdp = 17;
constexpr std::size_t kShortWayBytes = 14 + 20 + kTcpFlagsAt + 1;

template <typename T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// All of the usual frame, or false.
bool short_way(std::span<const std::byte> frame, AclKey& key) noexcept {
  if (frame.size() < kShortWayBytes) return false;
  const std::byte* const bytes = frame.data();
  // EtherType, IP version and header length; then all but "don't fragment".
  if ((load<std::uint32_t>(bytes + 12) & 0xffffff) != 0x450008) return false;
  if ((load<std::uint16_t>(bytes + 20) & 0xff3f) != 0) return false;
  const std::uint32_t total_bytes = __builtin_bswap16(load<std::uint16_t>(bytes + 16));
  const auto protocol = static_cast<std::uint8_t>(bytes[23]);
  if (protocol == kTcp ? total_bytes < 40 : protocol != kUdp || total_bytes < 28) return false;
  key = {};
  key.protocol = protocol;
  key.version = 4;
  key.has_ports = 1;
  key.flags =
      protocol == kTcp ? static_cast<std::uint8_t>(bytes[34 + kTcpFlagsAt]) : std::uint8_t{0};
  key.source[0] = load<std::uint32_t>(bytes + 26);
  key.destination[0] = load<std::uint32_t>(bytes + 30);
  key.source_port = load<std::uint16_t>(bytes + 34);
  key.destination_port = load<std::uint16_t>(bytes + 36);
  return true;
}

struct FrameBytes {
  const std::byte* data;
  std::uint8_t u8(std::size_t at) const { return static_cast<std::uint8_t>(data[at]); }
};

}  // namespace

bool acl_key_of(std::span<const std::byte> frame, const PacketHeaders& headers, AclKey& key,
                std::uint32_t& word) noexcept {
  return acl_walk_key(FrameBytes{frame.data()}, headers, key, word);
}

bool acl_key_of(std::span<const std::byte> frame, AclKey& key, std::uint32_t& word) noexcept {
  if (short_way(frame, key)) [[likely]]
    return true;
  return acl_key_of(frame, parse_headers(frame), key, word);
}

}  // namespace millrace
