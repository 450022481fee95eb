// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>

#include "io-worker/ports/interface.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/supervisor/bypass.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

struct BypassOptions : RunningOptions {
  std::string wish = "status";
};

void bypass(const BypassOptions& options) {
  const std::string run_dir = run_dir_of(options.name, options.run_dir);
  const auto known = load_bypass(run_dir);
  if (!known) {
    throw Error("topology '" + options.name + "' has no bypass: nothing in " +
                bypass_path(run_dir));
  }
  std::string text = std::string("bypass ") + (known->on ? "on" : "off");
  bool on = known->on;
  if (options.wish != "status") {
    on = options.wish == "on";
    if (on && is_in_use(run_dir)) {
      throw Error("topology '" + options.name + "' runs: it has the interfaces");
    }
    // Of a topology that was killed whole: its filter would drop what the bypass is to pass on.
    if (on) give_back_interfaces(run_dir);
    text = turn_bypass(run_dir, on);
  }
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"ok", true}, {"topology", options.name}, {"on", on}, {"text", text}};
    std::cout << json_text(json) << '\n';
    return;
  }
  std::cout << options.name << ": " << text << '\n';
}

}  // namespace

void add_bypass(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "bypass", "forwarding while the topology does not run: turn it on or off, or show its state");
  auto options = std::make_shared<BypassOptions>();
  add_running_options(*command, *options);
  command->add_option("wish", options->wish, "on, off or status")
      ->check(CLI::IsMember({"on", "off", "status"}));
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { bypass(*options); });
  });
}

}  // namespace millrace
