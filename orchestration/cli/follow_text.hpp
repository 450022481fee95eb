// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "orchestration/cli/follow_reader.hpp"

namespace millrace {

/// The filter of `millrace flows` for a connection that is named as that prints it
/// ("10.0.0.1:5000 > 192.0.2.9:80", "[2001:db8::1]:5000 > [2001:db8::2]:80", "TCP" in front or
/// not); of TCP alone. Of other text: the text, which is such a filter.
std::string follow_filter(std::string_view text);
/// The pcap filter that takes packets of the connection, with two VLAN tags at most.
std::string follow_pcap_filter(const FlowTuple& tuple);

/// Bytes as text: printable ones as they are, line ends kept, others as \xNN, \t, \r, \\.
std::string escaped_text(std::span<const std::byte> bytes);
/// Lines for people: "> " in front of what the first sender says, "< " of what it is told;
/// "[n bytes missing]" where some did not come by.
std::string followed_text(const FollowedPiece& piece);
/// A line of JSON: direction, position, missing, bytes, data (base64), text.
std::string followed_json(const FollowedPiece& piece);

}  // namespace millrace
