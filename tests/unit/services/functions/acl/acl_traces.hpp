// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "services/functions/acl/acl_text.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

/// Rule sets and traces of ClassBench. A line of a trace: source, destination, ports, protocol, and
/// the number of the first rule that matches, from 0; -1 none.

namespace millrace {

struct AclTrace {
  std::vector<AclKey> keys;
  std::vector<std::uint32_t> words;  ///< expected
};

inline AclKey acl_key(std::uint32_t source, std::uint32_t destination, unsigned source_port,
                      unsigned destination_port, unsigned protocol) {
  AclKey key{};
  key.version = 4;
  key.has_ports = 1;
  key.protocol = static_cast<std::uint8_t>(protocol);
  key.source[0] = __builtin_bswap32(source);
  key.destination[0] = __builtin_bswap32(destination);
  key.source_port = __builtin_bswap16(static_cast<std::uint16_t>(source_port));
  key.destination_port = __builtin_bswap16(static_cast<std::uint16_t>(destination_port));
  return key;
}

inline std::vector<AclNamedRule> read_acl_rules(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return parse_acl_rules(text, path, {}).rules;
}

inline std::vector<AclRule> plain_rules(const std::vector<AclNamedRule>& named) {
  std::vector<AclRule> rules;
  rules.reserve(named.size());
  for (const AclNamedRule& one : named) rules.push_back(one.rule);
  return rules;
}

inline AclTrace read_acl_trace(const std::string& path) {
  AclTrace trace;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string source, destination;
    unsigned from = 0, to = 0, protocol = 0;
    int rule = -1;
    words >> source >> destination >> from >> to >> protocol >> rule;
    trace.keys.push_back(acl_key(ntohl(inet_addr(source.c_str())),
                                 ntohl(inet_addr(destination.c_str())), from, to, protocol));
    trace.words.push_back(static_cast<std::uint32_t>(rule + 1));
  }
  return trace;
}

/// A frame with this key, TCP or UDP; its length fields and checksums are those of FrameBuilder.
inline std::vector<std::byte> frame_of(const AclKey& key) {
  const unsigned from = __builtin_bswap16(key.source_port);
  const unsigned to = __builtin_bswap16(key.destination_port);
  FrameBuilder builder;
  std::vector<std::byte> frame =
      key.protocol == 6 ? builder.ipv4(6, 20).tcp(5, from, to).build()
                        : builder.ipv4(17, 8 + 10).udp(10, from, to).padding(10).build();
  frame.resize(60);
  std::memcpy(&frame[26], key.source, 4);
  std::memcpy(&frame[30], key.destination, 4);
  return frame;
}

}  // namespace millrace
