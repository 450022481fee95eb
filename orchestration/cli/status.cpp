// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <iostream>
#include <memory>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kStatusAnswer{5000};

void status(const RunningOptions& options) {
  const auto reply = ask_supervisor<StatusReply>(options, StatusRequest{}, kStatusAnswer);
  if (options.json) {
    std::cout << json_text(status_json(reply)) << '\n';
  } else {
    std::cout << status_text(reply, wants_colour(STDOUT_FILENO));
  }
}

}  // namespace

void add_status(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "status",
      "show processes of a running topology: state, pid, restarts, packets; latest events");
  auto options = std::make_shared<RunningOptions>();
  add_running_options(*command, *options);
  add_remote_options(*command, *options);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { status(*options); });
  });
}

}  // namespace millrace
