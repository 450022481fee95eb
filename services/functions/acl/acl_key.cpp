// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_key.hpp"

namespace millrace {
namespace {

struct FrameBytes {
  const std::byte* data;
  std::uint8_t u8(std::size_t at) const { return static_cast<std::uint8_t>(data[at]); }
};

}  // namespace

bool acl_key_of(std::span<const std::byte> frame, const PacketHeaders& headers, AclKey& key,
                std::uint32_t& word) noexcept {
  return acl_walk_key(FrameBytes{frame.data()}, headers, key, word);
}

bool acl_key_of(std::span<const std::byte> frame, bool conditions, AclKey& key,
                std::uint32_t& word) noexcept {
  const FlowKey usual = conditions ? FlowKey{} : flow_key_of(frame);
  if (usual.protocol == 0) return acl_key_of(frame, parse_headers(frame), key, word);
  acl_key_of(usual, key);
  return true;
}

}  // namespace millrace
