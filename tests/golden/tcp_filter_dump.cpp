// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads cases as those of flow-cases, and says "pass" or "drop" for each line of TCP:
// test_flow_random.py holds that against the Linux kernel. No connection is picked up.

#include <iostream>
#include <string>

#include "tests/golden/tcp_filter.hpp"

int main() {
  millrace::tcp_filter::Filter filter;
  filter.policy.pickup = false;
  for (std::string text; std::getline(std::cin, text);) {
    if (text.starts_with("case ")) {
      filter.forget();
    } else if (!text.empty()) {
      std::cout << (filter.passes(text) ? "pass\n" : "drop\n");
    }
  }
}
