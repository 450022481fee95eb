// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/acl/acl_rule.hpp"
#include "shared/base/packet.hpp"

/// From a frame to what it is compared by.

namespace millrace {

/// Sets `key` and returns true; false (and `key.version` 0) for a frame that is no IP packet or
/// whose IP header is not there: `word` then says which of the two. Reads nothing outside `frame`.
bool acl_key_of(std::span<const std::byte> frame, const PacketHeaders& headers, AclKey& key,
                std::uint32_t& word) noexcept;

/// The same for a frame of which nothing is known yet. An untagged IPv4 frame without options or
/// fragmentation that carries TCP or UDP takes a short way.
bool acl_key_of(std::span<const std::byte> frame, AclKey& key, std::uint32_t& word) noexcept;

}  // namespace millrace
