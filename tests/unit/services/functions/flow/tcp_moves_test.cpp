// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/tcp_moves.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

namespace millrace {
namespace {

// States: no, SYN sent (ss), SYN received (sr), established (es), FIN wait (fw), close wait (cw),
// last ACK (la), time wait (tw), closed (cl), SYN sent by both (s2). Others: invalid (--), passes
// as it is (ok), opens anew (re).
constexpr const char* kNames = "no ss sr es fw cw la tw cl s2 -- ok re";
constexpr const char* kTable =
    "0 syn    ss ss ok ok ok ok ok re re s2 "
    "0 synack -- -- sr -- -- -- -- -- -- sr "
    "0 fin    -- -- fw fw la la la tw cl -- "
    "0 ack    es -- es es cw cw tw tw cl -- "
    "0 rst    -- cl cl cl cl cl cl cl cl cl "
    "0 none   -- -- -- -- -- -- -- -- -- -- "
    "1 syn    -- s2 -- -- -- -- -- re -- s2 "
    "1 synack -- sr ok ok ok ok ok ok ok sr "
    "1 fin    -- -- fw fw la la la tw cl -- "
    "1 ack    -- ok sr es cw cw tw tw cl ok "
    "1 rst    -- cl cl cl cl cl cl cl cl cl "
    "1 none   -- -- -- -- -- -- -- -- -- -- ";

TEST(TcpMoves, AreThoseOfTheTable) {
  std::map<std::string, TcpMove> names;
  std::istringstream all(kNames), table(kTable);
  std::string name;
  while (all >> name) names.emplace(name, static_cast<TcpMove>(names.size()));
  const std::map<std::string, TcpKind> kinds = {
      {"syn", TcpKind::kSyn}, {"synack", TcpKind::kSynAck}, {"fin", TcpKind::kFin},
      {"ack", TcpKind::kAck}, {"rst", TcpKind::kReset},     {"none", TcpKind::kNone}};
  std::size_t count = 0;
  for (std::string direction, kind; table >> direction >> kind;) {
    for (std::size_t state = 0; state < kTcpStates; ++state, ++count) {
      table >> name;
      EXPECT_EQ(tcp_move(direction == "0" ? 0 : 1, kinds.at(kind), static_cast<TcpState>(state)),
                names.at(name))
          << direction << " " << kind << " in state " << state;
    }
  }
  EXPECT_EQ(count, 2 * 6 * kTcpStates);
}

}  // namespace
}  // namespace millrace
