// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "services/functions/flow/tcp_track.hpp"
#include "shared/packet/wire_bytes.hpp"

/// Connections as text, a segment a line:
///
///     > S 100 win 5000 ws 7 sackok = fine syn_sent
///     < SA 500 ack 101 win 9000 = fine syn_recv
///     > PA 101+10 ack 501 sack 600-700 = invalid established
///
/// Direction, flags, sequence number and bytes of data; then what follow_tcp() says, and the state
/// behind it. `win` is 10000 where it is not said; `offset` and `short` are those of
/// tests/golden/flow-cases. `invalid` of the first line: no flow begins.

namespace millrace::tcp_script {

inline constexpr std::array kSteps = {"fine", "ignored", "over", "invalid", "reopened"};
inline constexpr std::array kStates = {"none",     "syn_sent",   "syn_recv", "established",
                                       "fin_wait", "close_wait", "last_ack", "time_wait",
                                       "close",    "syn_sent2"};

struct Line {
  std::uint8_t direction = 0;
  std::vector<std::byte> bytes;
  std::string step, state;
};

inline std::uint8_t flags_of(const std::string& letters) {
  std::uint8_t flags = 0;
  for (const char letter : letters) {
    const std::size_t bit = std::string("FSRPAUEC").find(letter);
    if (bit != std::string::npos) flags = static_cast<std::uint8_t>(flags | 1u << bit);
  }
  return flags;
}

inline void add(std::vector<std::byte>& bytes, std::initializer_list<unsigned> values) {
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
}

inline void add32(std::vector<std::byte>& bytes, std::uint32_t value) {
  bytes.resize(bytes.size() + 4);
  wire_bytes::put32(bytes, bytes.size() - 4, value);
}

inline Line read_line(const std::string& text) {
  std::istringstream in(text);
  std::string direction, flags, word;
  std::uint32_t sequence = 0, data = 0, acknowledgment = 0, window = 10000;
  std::uint32_t offset = 0, missing = 0;
  char sign = 0;
  in >> direction >> flags >> sequence;
  if (in.peek() == '+') in >> sign >> data;
  std::vector<std::byte> options;
  Line line;
  while (in >> word && word != "=") {
    std::uint32_t number = 0, other = 0;
    if (word == "ack") in >> acknowledgment;
    if (word == "win") in >> window;
    if (word == "offset") in >> offset;
    if (word == "short") in >> missing;
    if (word == "sackok") add(options, {4, 2});
    if (word == "ws" && in >> number) add(options, {3, 3, number});
    if (word == "sack" && in >> number >> sign >> other) {
      add(options, {1, 1, 5, 10});
      add32(options, number);
      add32(options, other);
    }
  }
  in >> line.step >> line.state;
  while (options.size() % 4 != 0) options.push_back(std::byte{0});
  line.direction = direction == ">" ? 0 : 1;
  line.bytes.resize(20);
  wire_bytes::put32(line.bytes, 4, sequence);
  wire_bytes::put32(line.bytes, 8, acknowledgment);
  line.bytes[12] = static_cast<std::byte>((20 + options.size()) / 4 << 4);
  line.bytes[13] = static_cast<std::byte>(flags_of(flags));
  wire_bytes::put16(line.bytes, 14, static_cast<std::uint16_t>(window));
  line.bytes.insert(line.bytes.end(), options.begin(), options.end());
  line.bytes.resize(line.bytes.size() + data - missing);
  if (offset != 0) line.bytes[12] = static_cast<std::byte>(offset << 4);
  return line;
}

/// Plays the lines, and compares each with what it says. The track at the end.
inline TcpTrack play(const std::string& script, const TcpPolicy& policy = {}) {
  std::istringstream in(script);
  std::string text;
  TcpTrack track = {};
  bool begun = false;
  while (std::getline(in, text)) {
    if (text.find('=') == std::string::npos) continue;
    const Line line = read_line(text);
    const auto segment = parse_tcp_segment(line.bytes);
    if (!segment) {
      EXPECT_EQ(line.step, "malformed") << text;
      continue;
    }
    std::string step = "fine";
    if (!begun) {
      const auto first = begin_tcp(*segment, policy);
      if (first) track = *first;
      begun = first.has_value();
      if (!begun) step = "invalid";
    } else {
      step =
          kSteps.at(static_cast<std::size_t>(follow_tcp(track, line.direction, *segment, policy)));
    }
    EXPECT_EQ(step, line.step) << text;
    EXPECT_EQ(kStates.at(static_cast<std::size_t>(state_of(track))), line.state) << text;
  }
  return track;
}

}  // namespace millrace::tcp_script
