// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The TCP cases of flow-cases, which the Linux kernel is held against too, decided by begin_tcp()
// and follow_tcp() alone.

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/golden/tcp_filter.hpp"
#include "tests/places.hpp"

namespace millrace {
namespace {

/// How many lines it had.
int play_cases(const std::string& name) {
  std::ifstream in(test::source_folder() / "tests/golden/flow-cases" / name);
  tcp_filter::Filter filter;
  std::string text;
  int count = 0;
  for (int number = 1; std::getline(in, text); ++number) {
    if (text == "policy strict") filter.policy.pickup = false;
    if (text == "policy liberal") filter.policy.liberal = true;
    if (text.starts_with("case ")) filter.forget();
    if (!text.starts_with("> ") && !text.starts_with("< ")) continue;
    const char* const verdict = filter.passes(text) ? "pass" : "drop";
    EXPECT_EQ(verdict, tcp_script::read_line(text).step) << name << ":" << number << ": " << text;
    ++count;
  }
  return count;
}

TEST(FlowGolden, TcpIsDecidedAsTheCasesSay) {
  for (const char* const name :
       {"tcp-open.cases", "tcp-data.cases", "tcp-close.cases", "tcp-reset.cases", "tcp-odd.cases",
        "tcp-strict.cases", "tcp-liberal.cases"}) {
    EXPECT_GT(play_cases(name), 15) << name;
  }
}

}  // namespace
}  // namespace millrace
