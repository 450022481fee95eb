// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/nat/nat_address.hpp"
#include "services/functions/nat64/embedding.hpp"
#include "services/functions/nat64/version_change.hpp"
#include "shared/packet/quoted_headers.hpp"
#include "tests/places.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"
#include "tests/unit/shared/packet/hex_bytes.hpp"

/// The table nat64.golden, and the host and the server that it is about.

namespace millrace::nat64_test {

inline constexpr Ipv6Bytes kHost = {0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5};
inline constexpr std::uint32_t kPublic = 0xcb007101, kServer = 0xc0000209;
inline constexpr std::uint16_t kHostPort = 40000, kPublicPort = 1024, kNewId = 0x1234;

struct Case {
  std::string name, why;  ///< `why`: empty where there is `after`
  Frame before, after;
  std::vector<Frame> parts;  ///< in which it leaves, if it is cut; `after` is empty then
};

inline std::vector<Case> all_golden_cases() {
  std::ifstream file(test::source_folder() / "tests/golden/nat64.golden");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("case ")) cases.push_back({.name = line.substr(5)});
    if (line.starts_with("  in ")) cases.back().before = bytes_of_hex(line.substr(5));
    if (line.starts_with("  out ")) cases.back().parts.push_back(bytes_of_hex(line.substr(6)));
    if (line == "  unknown" || line == "  malformed") cases.back().why = line.substr(2);
  }
  for (Case& one : cases) {
    if (one.parts.size() == 1) one.after = std::move(one.parts[0]);
    if (!one.after.empty()) one.parts.clear();
  }
  return cases;
}

/// Those of packets that are cut, or the others.
inline std::vector<Case> golden_cases(bool are_cut = false) {
  std::vector<Case> cases = all_golden_cases();
  std::erase_if(cases, [&](const Case& one) { return one.parts.empty() == are_cut; });
  return cases;
}

inline bool is_error(const Frame& frame) {
  return quoted_headers(frame, parse_headers(frame)).has_value();
}

/// Of a later fragment the addresses and what the table has: UDP. Of an error: of its direction.
inline FlowTuple tuple_of(const Frame& frame) {
  const PacketHeaders headers = parse_headers(frame);
  if (const auto quoted = quoted_headers(frame, headers)) {
    if (const auto tuple = flow_tuple_of(frame, *quoted)) return reversed(*tuple);
  }
  if (const auto tuple = flow_tuple_of(frame, headers)) return *tuple;
  FlowTuple tuple{.protocol = headers.protocol, .version = headers.ip_version};
  const std::size_t bytes = tuple.version == 4 ? 4 : 16;
  const std::size_t at = headers.network_offset + (tuple.version == 4 ? 12u : 8u);
  for (std::size_t i = 0; i < bytes; ++i) {
    tuple.source[i] = std::to_integer<std::uint8_t>(frame[at + i]);
    tuple.destination[i] = std::to_integer<std::uint8_t>(frame[at + bytes + i]);
  }
  return tuple;
}

/// What the packet has on the other side.
inline FlowTuple other_of(FlowTuple tuple) {
  const Embedding prefix;
  const auto turn = [&](Ipv6Bytes& address, std::uint16_t& port) {
    if (tuple.version == 6 && address == kHost) {
      address = nat_bytes(kPublic);
    } else if (tuple.version == 6) {
      address = nat_bytes(prefix.ipv4_of(address).value_or(0));
    } else {
      address = nat_address(address) == kPublic ? kHost : prefix.of(nat_address(address));
    }
    if (port == kHostPort || port == kPublicPort) {
      port = port == kHostPort ? kPublicPort : kHostPort;
    } else if (tuple.protocol == 1 || tuple.protocol == 58) {
      port = tuple.protocol == 1 ? 128 : 8;
    }
  };
  turn(tuple.source, tuple.source_port);
  turn(tuple.destination, tuple.destination_port);
  if (tuple.protocol == 1 || tuple.protocol == 58) tuple.protocol = tuple.protocol == 1 ? 58 : 1;
  tuple.version = tuple.version == 4 ? 6 : 4;
  return tuple;
}

/// Translates a frame of the table, whichever way. `splits`: see NewFront.
inline Changed change_frame(Frame& frame, const FlowTuple& has, bool* splits = nullptr) {
  const PacketHeaders headers = parse_headers(frame);
  const VersionChange change{has, other_of(has), kNewId};
  NewFront front;
  Changed changed = Changed::kUnknown;
  if (headers.protocol == 1 || headers.protocol == 58 ? is_error(frame) : false) {
    const auto ip = std::span<const std::byte>(frame).subspan(headers.network_offset);
    const bool four = headers.ip_version == 4;
    const Ipv6Bytes reporter = four ? Embedding{}.of(wire_bytes::u32(ip, 12)) : change.gets.source;
    changed = change_version_of_error(frame, headers, change, reporter, front);
  } else {
    changed = change_version(frame, headers, change, front);
  }
  if (changed != Changed::kDone) return changed;
  Frame made(front.bytes.begin(), front.bytes.begin() + front.count);
  made.insert(made.end(), frame.begin() + front.replaces, frame.begin() + front.end);
  frame = made;
  if (splits != nullptr) *splits = front.splits;
  return changed;
}

}  // namespace millrace::nat64_test
