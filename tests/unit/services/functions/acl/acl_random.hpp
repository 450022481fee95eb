// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "services/functions/acl/acl_text.hpp"
#include "tests/unit/services/functions/acl/acl_traces.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

/// Rules and packets drawn at random so that they often meet: prefixes of the addresses that
/// FrameBuilder gives, few ports, few protocols.

namespace millrace {

/// A prefix of `bytes` bytes of an address near `base`, as text.
inline std::string random_prefix(std::mt19937& random, const std::uint8_t* base, int family) {
  const unsigned bits = family == AF_INET ? 32 : 128;
  std::uint8_t address[16] = {};
  std::memcpy(address, base, bits / 8);
  const unsigned length = random() % 4 == 0 ? bits : static_cast<unsigned>(random() % (bits + 1));
  if (length > 0 && random() % 3 == 0) {
    const unsigned bit = static_cast<unsigned>(random() % length);
    address[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
  }
  for (unsigned bit = length; bit < bits; ++bit) {
    address[bit / 8] &= static_cast<std::uint8_t>(~(0x80 >> bit % 8));
  }
  char text[INET6_ADDRSTRLEN];
  inet_ntop(family, address, text, sizeof text);
  return std::string(text) + "/" + std::to_string(length);
}

inline constexpr std::uint8_t kFrameSource4[] = {10, 1, 0, 5},
                              kFrameDestination4[] = {192, 0, 2, 9};

/// Addresses of FrameBuilder::ipv6.
inline std::vector<std::uint8_t> frame_address6(bool source) {
  std::vector<std::uint8_t> bytes;
  for (unsigned i = 0; i < 16; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(source ? 0x20 + i : 0x50 + i * 3));
  }
  return bytes;
}

/// Few values, so that ranges meet and their classes stay few.
inline unsigned random_port(std::mt19937& random) {
  const unsigned ports[] = {0, 1, 2, 3, 80, 443, 1023, 1024, 65534, 65535};
  return ports[random() % 10];
}

inline std::string random_ports(std::mt19937& random) {
  const unsigned one = random_port(random), other = random_port(random);
  if (random() % 3 == 0) return " port " + std::to_string(one);
  if (random() % 2 == 0) return "";
  return " port " + std::to_string(std::min(one, other)) + "-" +
         std::to_string(std::max(one, other));
}

inline std::string random_side(std::mt19937& random, int family, bool source) {
  if (family == 0 || random() % 5 == 0) return "any";
  if (family == AF_INET6) return random_prefix(random, frame_address6(source).data(), family);
  return random_prefix(random, source ? kFrameSource4 : kFrameDestination4, family);
}

/// Conditions that frames of FrameBuilder and random_key() may meet; empty now and then.
inline std::string random_conditions(std::mt19937& random, const std::string& protocol) {
  const char* const fragments[] = {"first", "later", "any", "no"};
  const char* const vlans[] = {"none", "0-4095", "100", "0-200"};
  const char* const dscps[] = {"0", "ef", "cs1", "af41"};
  const char* const types[] = {"8", "echo-reply", "3/1", "unreachable"};
  std::string line;
  if (random() % 3 == 0) line += std::string(" fragment ") + fragments[random() % 4];
  if (random() % 3 == 0) line += std::string(" vlan ") + vlans[random() % 4];
  if (random() % 4 == 0) line += std::string(" dscp ") + dscps[random() % 4];
  const bool icmp = protocol == "icmp" || protocol == "icmp6";
  if (icmp && random() % 2 == 0) line += std::string(" icmp ") + types[random() % 4];
  return line;
}

/// One rule; it is never refused.
inline std::string random_rule(std::mt19937& random, bool conditions) {
  const std::vector<std::string> actions = {"drop", "pass", "alert"};
  const std::vector<std::string> protocols = {"ip",   "ip4",   "tcp",       "udp", "icmp",
                                              "sctp", "17/1",  "0x00/0x08", "tcp", "ip6",
                                              "gre",  "6/254", "icmp6",     "dccp"};
  const std::string& protocol = protocols[random() % protocols.size()];
  int family = std::vector<int>{0, AF_INET, AF_INET6}[random() % 3];
  if (protocol == "ip4" && family == AF_INET6) family = AF_INET;
  if (protocol == "ip6" && family == AF_INET) family = AF_INET6;
  const bool ports = protocol != "icmp" && protocol != "icmp6" && protocol != "gre";
  std::string line = actions[random() % actions.size()] + " " + protocol + " ";
  line += random_side(random, family, true) + (ports ? random_ports(random) : "") + " -> ";
  line += random_side(random, family, false) + (ports ? random_ports(random) : "");
  const char* const flags[] = {" flags S/SA", " flags 0/FSR", " flags PA/PA"};
  if (protocol == "tcp" && random() % 3 == 0) line += flags[random() % 3];
  if (conditions) line += random_conditions(random, protocol);
  return line + "\n";
}

inline std::string random_rules(std::mt19937& random, std::size_t count, bool conditions = false) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += random_rule(random, conditions);
  return text;
}

/// What conditions ask for, for a key without a state.
inline void set_random_conditions(std::mt19937& random, AclKey& key) {
  const unsigned vlans[] = {65535, 0, 100, 150, 4095}, dscps[] = {0, 46, 8, 34, 63};
  const unsigned types[] = {0x0800, 0x0000, 0x0301, 0x0100, 0x8000};
  key.vlan = __builtin_bswap16(static_cast<std::uint16_t>(vlans[random() % 5]));
  unsigned marks = dscps[random() % 5] | (key.has_ports != 0 ? 1u << 8 : 1u << (8 + random() % 3));
  const bool icmp = key.protocol == 1 || key.protocol == 58;
  if (icmp && random() % 4 != 0) {
    key.icmp = __builtin_bswap16(static_cast<std::uint16_t>(types[random() % 5]));
  } else {
    marks |= 64;
  }
  key.marks = __builtin_bswap32(marks);
}

/// A key near FrameBuilder's addresses.
inline AclKey random_key(std::mt19937& random) {
  AclKey key{};
  const std::uint8_t protocols[] = {6, 17, 1, 132, 47, 6, 17, 58};
  key.version = random() % 2 == 0 ? 4 : 6;
  key.protocol = protocols[random() % 8];
  const std::size_t bytes = key.version == 4 ? 4 : 16;
  const std::vector<std::uint8_t> source6 = frame_address6(true), to6 = frame_address6(false);
  std::memcpy(key.source, bytes == 4 ? kFrameSource4 : source6.data(), bytes);
  std::memcpy(key.destination, bytes == 4 ? kFrameDestination4 : to6.data(), bytes);
  for (std::uint32_t* address : {key.source, key.destination}) {
    if (random() % 2 == 0) continue;
    auto* const at = reinterpret_cast<std::uint8_t*>(address);
    at[random() % bytes] ^= static_cast<std::uint8_t>(1u << random() % 8);
  }
  set_random_conditions(random, key);
  if (!acl_protocol_has_ports(key.protocol) || random() % 6 == 0) return key;
  key.has_ports = 1;
  const auto port = [&] { return random() % 2 == 0 ? random_port(random) : random() % 65536; };
  key.source_port = __builtin_bswap16(static_cast<std::uint16_t>(port()));
  key.destination_port = __builtin_bswap16(static_cast<std::uint16_t>(port()));
  if (key.protocol == 6) key.flags = static_cast<std::uint8_t>(random());
  return key;
}

/// A fragment near the limits of what acl lets pass: offsets 0 to 2, 0 to 24 bytes.
inline Frame random_small_fragment(std::mt19937& random) {
  const unsigned protocols[] = {6, 6, 6, 17, 132, 1};
  const unsigned protocol = protocols[random() % 6];
  const auto bytes = static_cast<unsigned>(random() % 25);
  const auto offset = static_cast<unsigned>(random() % 3);
  const bool more = random() % 4 != 0;
  FrameBuilder builder;
  if (random() % 2 == 0) {
    builder.ipv4(protocol, bytes, random() % 4 == 0 ? 24 : 20, (more ? 0x2000u : 0u) + offset);
  } else {
    const unsigned before = random() % 3 == 0 ? 8 : 0, inner = random() % 4 == 0 ? 8 : 0;
    builder.ipv6(44, 8 + before + inner + bytes);
    builder.fragment(before != 0 ? 60 : inner != 0 ? 44 : protocol, offset * 8, more);
    if (before != 0) builder.extension(inner != 0 ? 44 : protocol, 8);
    if (inner != 0) builder.fragment(protocol, 0, false);
  }
  Frame frame = builder.tcp(5, random_port(random), random_port(random)).padding(4).build();
  if (random() % 2 == 0) frame.resize(frame.size() - 24 + bytes);
  return frame;
}

/// random_frame() with a bit of an address changed now and then.
inline Frame random_acl_frame(std::mt19937& random) {
  if (random() % 8 == 0) return random_small_fragment(random);
  Frame frame = random_frame(random);
  if (random() % 2 == 0 || frame.size() < 54) return frame;
  if (random() % 4 == 0) frame[15] ^= std::byte{1} << random() % 8;  // DSCP, or a tag's number
  frame[26 + random() % 28] ^= std::byte{1} << random() % 8;
  return frame;
}

}  // namespace millrace
