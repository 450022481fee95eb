// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/changing.hpp"

#include <unistd.h>

#include <iostream>

#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/pulse.hpp"
#include "shared/base/error.hpp"
#include "shared/base/run_words.hpp"
#include "shared/control/plan_file.hpp"

namespace millrace {
namespace {

// However long builders take, and what is before it: its pulse says whether it goes on.
constexpr std::chrono::hours kAnswer{24 * 30};

std::string hangs(const std::string& who) {
  return who + " has answered nothing for " + std::to_string(Pulse::kQuietMax.count() / 1000) +
         " s: it hangs, and traffic goes on without it. Whether the change was made is not known";
}

std::string hangs_here(pid_t pid, const std::string& run_dir) {
  return hangs("the supervisor (pid " + std::to_string(pid) + ")") + "; " +
         how_to_go_on(pid, run_dir) + ", and see what is in use: millrace history " +
         words_for_run(topology_in(run_dir), run_dir);
}

}  // namespace

ChangeReply ask_change(const std::string& run_dir, const ChangeRequest& request) {
  const pid_t pid = require_supervisor(run_dir);
  Pulse pulse(ControlClient(run_dir, kSupervisorEndpoint), hangs_here(pid, run_dir));
  return ControlClient(run_dir, kSupervisorEndpoint)
      .request_for<ChangeReply>(request, kAnswer, [&] {
        pulse.look();
        return SupervisorLock::holder(run_dir) == pid;
      });
}

ChangeReply ask_change(const RunningOptions& options, const ChangeRequest& request) {
  if (options.remote.at.empty()) return ask_change(running_dir(options), request);
  Pulse pulse(remote_supervisor(options), hangs("the supervisor at " + options.remote.at));
  return remote_supervisor(options).request_for<ChangeReply>(request, kAnswer, [&] {
    pulse.look();
    return true;
  });
}

ChangeReply ask_change_to(const Plan& plan, const std::string& run_dir, ChangeRequest request) {
  request.plan = run_dir + "/plan.bin.wanted." + std::to_string(::getpid());
  save_plan(plan, request.plan);
  try {
    ChangeReply reply = ask_change(run_dir, request);
    ::unlink(request.plan.c_str());
    return reply;
  } catch (const Error&) {
    ::unlink(request.plan.c_str());
    throw;
  }
}

void print_change(const ChangeReply& reply, bool json) {
  if (json) {
    const nlohmann::ordered_json answer = {
        {"ok", true}, {"generation", reply.generation}, {"done", reply.lines}};
    std::cout << json_text(answer) << '\n';
    return;
  }
  for (const std::string& line : reply.lines) std::cout << line << '\n';
}

}  // namespace millrace
