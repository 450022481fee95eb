// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/nat/nat.hpp"
#include "services/functions/nat/nat_address.hpp"
#include "tests/unit/services/functions/translation_stage.hpp"

/// A stage of `flow` and `nat`: hosts of 10.0.0.0/24 behind 203.0.113.1.

namespace millrace::nat_test {

inline constexpr std::uint8_t kTurn = 2;
inline constexpr std::uint32_t kHost = 0x0a000005, kOther = 0x0a000006, kServer = 0xc0000209,
                               kPublic = 0xcb007101, kFixed = 0xcb007105;

/// A packet of UDP; of TCP with SYN, or with SYN and ACK where it answers; or a question of ICMP
/// (source_port) or its answer.
struct Sent {
  std::uint32_t source = kHost, destination = kServer;
  std::uint16_t source_port = 5000, destination_port = 53;
  std::uint8_t protocol = 17;
  std::uint16_t fragment = 0;
  bool answers = false;

  Frame frame() const {
    FrameBuilder builder;
    builder.ipv4(protocol, protocol == 6 ? 20 : 8, 20, fragment);
    if (protocol == 6) {
      builder.tcp(5, source_port, destination_port);
    } else {
      builder.udp(0, source_port, destination_port);
    }
    Frame bytes = builder.build();
    wire_bytes::put32(bytes, 26, source);
    wire_bytes::put32(bytes, 30, destination);
    if (protocol == 6) {
      wire_bytes::put32(bytes, 38, 0);  // sequence
      wire_bytes::put32(bytes, 42, answers ? 1 : 0);
      wire_bytes::put8(bytes, 47, answers ? 0x12 : 2);
    }
    if (protocol == 1) {
      wire_bytes::put16(bytes, 34, answers ? 0 : 0x0800);
      wire_bytes::put16(bytes, 38, answers ? destination_port : source_port);
    }
    return bytes;
  }
};

/// A packet behind nat: its tuple, or why it was dropped.
struct Seen {
  std::optional<FlowTuple> tuple;
  Frame frame;
  int reason = -1;
  bool turned = false;  ///< it leaves by kTurn at once

  std::uint32_t source() const { return nat_address(tuple->source); }
  std::uint32_t destination() const { return nat_address(tuple->destination); }
  /// What answers it.
  Sent answered() const {
    return {.source = destination(),
            .destination = source(),
            .source_port = tuple->destination_port,
            .destination_port = tuple->source_port,
            .protocol = tuple->protocol,
            .answers = true};
  }
};

class NatTest : public TranslationStage {
 protected:
  NatTest()
      : TranslationStage(nat_type(), {{"inside", "lan"}, {"pool", "203.0.113.1"}, {"max", "100"}},
                         {{.name = "lan", .addresses = {"10.0.0.1/24"}},
                          {.name = "wan", .addresses = {"203.0.113.254/24"}},
                          {.name = "turn", .device = "loop"}}) {}

  std::vector<Seen> send_frames(std::uint8_t port, const std::vector<Frame>& frames) {
    run(port, frames);
    std::vector<Seen> all;
    for (std::uint32_t i = 0; i < frames.size(); ++i) {
      Seen seen{.tuple = {}, .frame = frame_at(i)};
      seen.tuple = flow_tuple_of(seen.frame, parse_headers(seen.frame));
      seen.turned = !arena_.batch().goes_on(i) && arena_.batch().leaves(i) &&
                    arena_.batch().output[i] == kTurn;
      if (arena_.batch().is_dropped(i)) seen.reason = arena_.batch().reason[i] - kFirstReason;
      all.push_back(std::move(seen));
    }
    return all;
  }
  Seen send(std::uint8_t port, const Sent& packet) {
    return send_frames(port, {packet.frame()}).front();
  }
  /// Of translations, since the last call: "+ 10.0.0.5:5000 203.0.113.1:5000".
  std::vector<std::string> told() {
    std::vector<std::string> all;
    for (const EventRecord& record : events_.told()) {
      if (record.kind != EventKind::kTranslation) continue;
      const TranslationEvent& to = record.translation;
      const bool block = to.scope == TranslationScope::kBlock;
      const auto end = [](const std::array<std::uint8_t, 16>& address, std::uint16_t port) {
        std::string text;
        for (std::size_t i = 0; i < 4; ++i)
          text += (i == 0 ? "" : ".") + std::to_string(address[i]);
        return text + (port == 0 ? "" : ":" + std::to_string(port));
      };
      all.push_back((to.action == TranslationAction::kCreated ? "+ " : "- ") +
                    end(record.source, record.source_port) + " " + end(to.source, to.source_port) +
                    (block ? "-" + std::to_string(to.destination_port) : ""));
    }
    return all;
  }
};

}  // namespace millrace::nat_test
