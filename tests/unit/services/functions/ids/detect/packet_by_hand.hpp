// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "services/functions/ids/detect/packet_tests.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

/// A packet of an established flow, to the server, and the view that detection has of it.

namespace millrace::by_hand {

struct Packet {
  explicit Packet(Frame of) : frame(std::move(of)), headers(parse_headers(frame)) {
    tuple = flow_tuple_of(frame, headers).value_or(FlowTuple{});
  }
  explicit Packet(const FrameBuilder& builder) : Packet(builder.build()) {}
  static Packet udp(std::string_view payload) {
    const auto bytes = static_cast<unsigned>(payload.size());
    return Packet(FrameBuilder().ipv4(17, 8 + bytes).udp(bytes).text(payload));
  }
  static Packet tcp(std::string_view payload) {
    const auto bytes = static_cast<unsigned>(payload.size());
    return Packet(FrameBuilder().ipv4(6, 20 + bytes).tcp(5).text(payload));
  }

  PacketView view() const {
    return {.frame = frame,
            .headers = headers,
            .tuple = tuple,
            .direction = direction,
            .has_flow = has_flow,
            .is_established = true,
            .app = app,
            .payload = rule_payload(frame, headers)};
  }

  Frame frame;
  PacketHeaders headers;
  FlowTuple tuple;
  std::uint8_t direction = 0;
  bool has_flow = true;
  AppProtocol app = AppProtocol::kNone;
};

}  // namespace millrace::by_hand
