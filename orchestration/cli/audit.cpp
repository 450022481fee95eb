// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <iostream>
#include <memory>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/supervisor/leader_client.hpp"

namespace millrace {
namespace {

void audit(const RunningOptions& options) {
  constexpr std::chrono::milliseconds kAnswer{10'000};
  const auto reply = options.remote.at.empty()
                         ? ask_leader<AuditReply>(running_dir(options), AuditRequest{})
                         : ask_supervisor<AuditReply>(options, AuditRequest{}, kAnswer);
  if (options.json) {
    std::cout << json_text(audit_json(reply)) << '\n';
  } else {
    std::cout << audit_text(reply, wants_colour(STDOUT_FILENO));
  }
  if (!reply.exact) throw CLI::RuntimeError(kExitInvalid);
}

}  // namespace

void add_audit(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "audit", "check that every packet, slot and buffer of a running topology is accounted for");
  auto options = std::make_shared<RunningOptions>();
  add_running_options(*command, *options);
  add_remote_options(*command, *options);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { audit(*options); });
  });
}

}  // namespace millrace
