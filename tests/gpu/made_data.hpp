// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/route/route_text.hpp"
#include "tests/unit/services/functions/acl/acl_oracle.hpp"
#include "tests/unit/services/functions/acl/acl_traces.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

/// What stands in for captures, rule sets and routing tables on a machine that has none: made by
/// seeds, alike on every machine, of the shapes that real ones have.

namespace millrace::test {

using Random = std::mt19937;

inline std::uint32_t below(Random& random, std::uint32_t limit) {
  return static_cast<std::uint32_t>(random() % limit);
}

// Payloads and literals.

/// Two to five syllables: few enough of them that literals share their beginnings.
inline std::string made_word(Random& random) {
  constexpr const char* kSyllables[] = {"ad",  "min", "con", "fig", "php", "sys", "tem",
                                        "in",  "dex", "log", "pa",  "ss",  "wo",  "rd",
                                        "cgi", "up",  "lo",  "se",  "le",  "ct"};
  std::string word;
  for (std::uint32_t i = 2 + below(random, 4); i > 0; --i) word += kSyllables[below(random, 20)];
  return word;
}

inline std::string made_bytes(Random& random, std::size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

/// Rules of `match`, and the bytes that each looks for.
struct MadeRules {
  std::string text;
  std::vector<std::string> literals;
};

inline MadeRules made_rules(Random& random, std::size_t count) {
  constexpr const char* kOptions[] = {" nocase", " nocase", "", " proto tcp", " port 80"};
  constexpr const char* kActions[] = {"alert", "alert", "alert", "class odd", "drop"};
  MadeRules rules;
  std::set<std::string> seen;
  while (rules.literals.size() < count) {
    std::string literal, written;
    if (below(random, 5) == 0) {
      literal = made_bytes(random, 4 + below(random, 12));
      char hex[4];
      for (const char byte : literal) {
        std::snprintf(hex, sizeof hex, "%02x ", static_cast<unsigned char>(byte));
        written += hex;
      }
      written.back() = '|';
      written = "|" + written;
    } else {
      constexpr const char* kAround[] = {"", "/", "=", ".", "User-Agent: "};
      literal = kAround[below(random, 5)] + made_word(random) + kAround[below(random, 4)];
      if (below(random, 2) == 0) literal += made_word(random);
      written = literal;
    }
    if (literal.size() < 4 || !seen.insert(literal).second) continue;
    rules.text += std::string(kActions[below(random, 5)]) + " \"" + written + "\"" +
                  kOptions[below(random, 5)] + "\n";
    rules.literals.push_back(literal);
  }
  return rules;
}

inline std::string made_payload(Random& random, std::span<const std::string> literals) {
  std::string text;
  const std::size_t bytes = below(random, 8) == 0 ? below(random, 60) : below(random, 1400);
  const std::uint32_t kind = below(random, 4);
  if (kind == 0) text = "GET /" + made_word(random) + "?" + made_word(random) + "=1 HTTP/1.1\r\n";
  if (kind == 1) text = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
  while (text.size() < bytes) {
    text += kind == 3 ? made_bytes(random, 64) : made_word(random) + " \r\n<>&;/"[random() % 8];
  }
  for (std::uint32_t i = below(random, 4); i > 0 && !text.empty(); --i) {
    std::string put = literals[random() % literals.size()];
    const std::uint32_t change = below(random, 4);
    if (change == 0) put[random() % put.size()] ^= 0x20;  // the other case, or another letter
    if (change == 1) put.pop_back();
    text.insert(random() % text.size(), put);
  }
  text.resize(std::min<std::size_t>(text.size(), 1400));
  return text;
}

inline Frame made_frame(Random& random, std::span<const std::string> literals) {
  const std::string text = made_payload(random, literals);
  const auto bytes = static_cast<unsigned>(text.size());
  const bool tcp = below(random, 4) != 0;
  FrameBuilder builder;
  if (below(random, 16) == 0) builder.vlan(0x8100);
  if (below(random, 4) == 0) {
    builder.ipv6(tcp ? 6 : 17, (tcp ? 20 : 8) + bytes);
  } else {
    builder.ipv4(tcp ? 6 : 17, (tcp ? 20 : 8) + bytes);
  }
  constexpr unsigned kPorts[] = {80, 80, 443, 53, 8080};
  const unsigned to = kPorts[below(random, 5)], from = 1024 + below(random, 60000);
  return (tcp ? builder.tcp(5, from, to) : builder.udp(bytes, from, to)).text(text).build();
}

// Routes.

/// One prefix a line; lengths as full tables have them, most /24 and /48, neighbours near.
inline std::vector<std::string> made_prefixes(Random& random, std::size_t ipv4, std::size_t ipv6) {
  constexpr std::uint32_t kLengths4[] = {24, 24, 24, 24, 24, 24, 23, 22,
                                         22, 21, 20, 19, 18, 16, 12, 29};
  constexpr std::uint32_t kLengths6[] = {48, 48, 48, 48, 44, 40, 36, 32, 32, 29, 56, 64, 128};
  std::set<std::string> prefixes;
  while (prefixes.size() < ipv4) {
    const std::uint32_t length = kLengths4[below(random, 16)];
    const std::uint32_t address = (20 + below(random, 40)) << 24 | below(random, 1u << 24);
    prefixes.insert(ipv4_text(address & ~0u << (32 - length)) + "/" + std::to_string(length));
  }
  while (prefixes.size() < ipv4 + ipv6) {
    const std::uint32_t length = kLengths6[below(random, 13)];
    const std::uint64_t high = std::uint64_t{0x2400 + below(random, 8) * 0x40} << 48 |
                               std::uint64_t{below(random, 4096)} << 32 | random();
    const Ipv6Address address = Ipv6Address{high, random()} & ipv6_mask(length);
    prefixes.insert(ipv6_text(address) + "/" + std::to_string(length));
  }
  return {prefixes.begin(), prefixes.end()};
}

// Rule sets of `acl` in the form of ClassBench.

/// Access lists name hosts and services, firewalls much of everything, chains are between them.
enum class MadeAcl { kAccess, kFirewall, kChain };

inline std::string made_side(Random& random, MadeAcl kind) {
  const std::uint32_t any = kind == MadeAcl::kAccess ? 20 : kind == MadeAcl::kChain ? 5 : 2;
  if (below(random, any) == 0) return "0.0.0.0/0";
  const std::uint32_t length =
      kind == MadeAcl::kFirewall ? 8 + below(random, 25) : 24 + below(random, 9);
  const std::uint32_t address = 0x0a000000 | below(random, 16) << 16 | below(random, 4096);
  return ipv4_text(address & ~0u << (32 - length)) + "/" + std::to_string(length);
}

inline std::string made_ports(Random& random, MadeAcl kind, bool source) {
  constexpr std::uint32_t kServices[] = {22, 25, 53, 80, 110, 143, 443, 1433, 3306, 8080};
  if (below(random, source ? 8 : 4) != 0) {
    if (source || below(random, 4) == 0) return "0 : 65535";
    const std::string port = std::to_string(kServices[below(random, 10)]);
    return port + " : " + port;
  }
  if (kind == MadeAcl::kAccess) return "1024 : 65535";
  const std::uint32_t low = kServices[below(random, 10)], high = low + 1 + below(random, 20);
  return std::to_string(low) + " : " + std::to_string(high);
}

/// The narrow ones first: else a few wide ones would be all that is ever met.
inline std::string made_acl(Random& random, MadeAcl kind, std::size_t count) {
  constexpr const char* kProtocols[] = {"0x06/0xFF", "0x06/0xFF", "0x11/0xFF", "0x00/0x00",
                                        "0x01/0xFF"};
  const auto length = [](const std::string& prefix) {
    return std::stoi(prefix.substr(prefix.find('/') + 1));
  };
  std::vector<std::pair<int, std::string>> lines;
  while (lines.size() < count) {
    const std::string from = made_side(random, kind), to = made_side(random, kind);
    const std::string source = made_ports(random, kind, true);
    const std::string ports = source + "\t" + made_ports(random, kind, false);
    lines.emplace_back(-length(from) - length(to), "@" + from + "\t" + to + "\t" + ports + "\t" +
                                                       kProtocols[below(random, 5)] +
                                                       "\t0x0000/0x0000\n");
  }
  std::ranges::stable_sort(lines, {}, &std::pair<int, std::string>::first);
  std::string text;
  for (const auto& [narrow, line] : lines) text += line;
  return text;
}

/// Packets of TCP and UDP, most of them of one of the rules; the words are those of the oracle.
inline AclTrace made_trace(Random& random, std::span<const AclNamedRule> rules, std::size_t count) {
  AclTrace trace;
  const auto inside = [&](const std::uint8_t* prefix, std::uint32_t length) {
    const std::uint32_t mask = length == 0 ? 0 : ~0u << (32 - length);
    const std::uint32_t address = static_cast<std::uint32_t>(prefix[0]) << 24 |
                                  static_cast<std::uint32_t>(prefix[1]) << 16 |
                                  static_cast<std::uint32_t>(prefix[2]) << 8 | prefix[3];
    return address | (static_cast<std::uint32_t>(random()) & ~mask);
  };
  const auto between = [&](unsigned low, unsigned high) {
    return low + below(random, high - low + 1);
  };
  while (trace.keys.size() < count) {
    const AclRule& rule = rules[random() % rules.size()].rule;
    const unsigned protocol = rule.protocol == 6 || rule.protocol == 17 ? rule.protocol
                              : below(random, 2) == 0                   ? 6u
                                                                        : 17u;
    AclKey key = acl_key(inside(rule.source, rule.source_length),
                         inside(rule.destination, rule.destination_length),
                         between(rule.source_port_low, rule.source_port_high),
                         between(rule.destination_port_low, rule.destination_port_high), protocol);
    if (below(random, 8) == 0) key.destination[0] ^= 1u << below(random, 32);
    trace.keys.push_back(key);
    trace.words.push_back(oracle::acl_word(oracle::acl_packet(key), rules));
  }
  return trace;
}

}  // namespace millrace::test
