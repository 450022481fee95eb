// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "shared/base/packet.hpp"
#include "shared/layout/batch.hpp"

namespace millrace {

/// Turns a segment of TCP into a RST for its receiver, without data and options; it goes on where
/// the segment would have gone, so no address of a next hop needs to be known. `headers`: of the
/// packet. `expects`: the number that the receiver expects next (RFC 5961 3.2: it takes no RST with
/// another one); nothing: that of the segment. False, and nothing changed: it is no whole segment,
/// a RST itself, or its headers are longer than what a function may change.
bool turn_into_reset(const Batch& batch, std::uint16_t packet, const PacketHeaders& headers,
                     std::optional<std::uint32_t> expects) noexcept;

}  // namespace millrace
