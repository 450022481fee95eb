// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/firewall/tcp_options.hpp"
#include "shared/base/packet.hpp"

/// Segments of TCP that `synproxy` reads, makes and changes.

namespace millrace {

/// A segment without data.
struct ProxySegment {
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::uint16_t window = 0;
  std::uint8_t flags = 0;
  TcpOptions options;
};

/// What stands in a frame. Nothing: no TCP over IP, a fragment, a header that is cut.
std::optional<ProxySegment> read_proxy_segment(std::span<const std::byte> frame,
                                               const PacketHeaders& headers) noexcept;

/// The frame may be answered, and what it asks is what its sender has sent: addresses of single
/// hosts, on the link too, and a right checksum of TCP. `frame`: one with a ProxySegment.
bool may_answer_segment(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept;

/// Room for the longest: two tags, IPv6.
struct ProxyFrame {
  std::array<std::byte, 14 + 2 * 4 + 40 + 20 + kTcpOptionBytesMax> room;
  std::size_t size = 0;
  std::span<const std::byte> bytes() const noexcept { return std::span(room).first(size); }
};

/// Between which hosts a frame goes that is made from another one.
enum class ProxyWay : std::uint8_t {
  kOn,    ///< from its sender to its receiver, with as many hops left
  kBack,  ///< from its receiver to its sender
};

/// A frame of `segment`, between the hosts of `frame` (one with a ProxySegment), with its tags,
/// without options or extension headers of IP.
ProxyFrame make_proxy_frame(std::span<const std::byte> frame, const PacketHeaders& headers,
                            ProxyWay way, const ProxySegment& segment) noexcept;

/// Puts a number of 4 bytes, or the window, at an offset of the TCP header that begins `segment`;
/// the checksum follows, and stays wrong where it was. It lies within the header.
void change_segment_u32(std::span<std::byte> segment, std::size_t at, std::uint32_t value) noexcept;
void change_segment_window(std::span<std::byte> segment, std::uint16_t window) noexcept;

}  // namespace millrace
