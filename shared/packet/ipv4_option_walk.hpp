// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/option_walk.hpp"

/// Options of an IPv4 header (RFC 791 3.1), for the sources of this folder.

namespace millrace::ipv4_options {

// Types as they stand in the header: copied flag, class and number.
inline constexpr std::uint8_t kEnd = OptionWalk::kEnd, kNoOperation = OptionWalk::kNoOperation,
                              kRecordRoute = 7, kTimestamp = 68, kLooseSourceRoute = 131,
                              kStrictSourceRoute = 137, kRouterAlert = 148;
/// The option stands in every fragment, not in the first alone.
inline constexpr std::uint8_t kCopied = 0x80;

using Walk = OptionWalk;
static_assert(ipv4_wire::kHeaderBytesMin == OptionWalk::kOptionsAt);

}  // namespace millrace::ipv4_options
