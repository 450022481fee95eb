// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "services/functions/ids/ids.hpp"
#include "services/functions/stream/tcp_streams.hpp"

namespace millrace {

/// Of the last counters of `ids`, behind those of its rules; in their order.
inline constexpr std::array<std::string_view, 19> kIdsCounterNames = {
    // IdsCounter
    "dropped_flow", "passed_flow", "lost_parser", "hidden", "reset", "datagram", "carried", "clean",
    "given_up", "made_room",
    // StreamCounter
    "texts", "ahead", "seen", "no_flow", "unread", "checksum", "conflicts", "no_room", "urgent"};
static_assert(kIdsCounterNames.size() == static_cast<std::size_t>(IdsCounter::kCount) +
                                             static_cast<std::size_t>(StreamCounter::kCount));

}  // namespace millrace
