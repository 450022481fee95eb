// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orchestration/cli/flow_line.hpp"

namespace millrace::test {

/// A connection of TCP from 10.1.0.5:40000 to 192.0.2.9:443.
inline FlowLine tcp_line() {
  FlowLine line;
  line.function = "flow";
  line.path = "main";
  line.lane = 3;
  line.number = 17;
  line.tuple = {{10, 1, 0, 5}, {192, 0, 2, 9}, 40000, 443, 6, 4, 0};
  line.answer = reversed(line.tuple);
  line.packets = {7, 5};
  line.bytes = {700, 5000};
  line.started_ms = 10'000;
  line.lasted_ms = 60'000;
  line.now_ms = 71'500;
  line.deadline_ms = 371'500;
  line.state = "established";
  line.is_assured = true;
  return line;
}

/// The same from behind 203.0.113.1:1024.
inline FlowLine translated_line() {
  FlowLine line = tcp_line();
  line.answer.destination = {203, 0, 113, 1};
  line.answer.destination_port = 1024;
  return line;
}

/// A question of ICMP without an answer.
inline FlowLine icmp_line() {
  FlowLine line = tcp_line();
  line.tuple = {{10, 1, 0, 6}, {192, 0, 2, 9}, 77, 8, 1, 4, 0};
  line.answer = reversed(line.tuple);
  line.state = "new";
  line.packets = {1, 0};
  line.bytes = {84, 0};
  return line;
}

/// UDP over IPv6.
inline FlowLine ipv6_line() {
  FlowLine line = tcp_line();
  line.tuple = {{0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5},
                {0x20, 1, 0x0d, 0xb8, 0, 1},
                5000,
                53,
                17,
                6,
                0};
  line.answer = reversed(line.tuple);
  return line;
}

}  // namespace millrace::test
