// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/changing.hpp"

#include <iostream>

namespace millrace {
namespace {

// A full route table takes seconds, and other changes may be before it.
constexpr std::chrono::minutes kAnswer{10};

}  // namespace

ChangeReply ask_change(const std::string& run_dir, const ChangeRequest& request) {
  return ask_supervisor<ChangeReply>(run_dir, request, kAnswer);
}

ChangeReply ask_change(const RunningOptions& options, const ChangeRequest& request) {
  return ask_supervisor<ChangeReply>(options, request, kAnswer);
}

void print_change(const ChangeReply& reply, bool json) {
  if (json) {
    const nlohmann::ordered_json answer = {
        {"ok", true}, {"generation", reply.generation}, {"done", reply.lines}};
    std::cout << answer.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
              << '\n';
    return;
  }
  for (const std::string& line : reply.lines) std::cout << line << '\n';
}

}  // namespace millrace
