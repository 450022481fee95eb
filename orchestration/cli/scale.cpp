// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <iostream>
#include <memory>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/running.hpp"

namespace millrace {
namespace {

// Longer than the supervisor waits for its workers: its own words are better.
constexpr std::chrono::milliseconds kAnswer{30'000};

struct ScaleOptions : RunningOptions {
  std::string change;
};

ScaleRequest parse_change(const std::string& text) {
  const std::size_t equals = text.find('=');
  ScaleRequest request{.group = text.substr(0, equals)};
  const char* end = text.data() + text.size();
  const char* start = equals == std::string::npos ? end : text.data() + equals + 1;
  const auto [stop, error] = std::from_chars(start, end, request.count);
  if (error != std::errc() || stop != end || request.group.empty()) {
    throw Error("'" + text + "' is not GROUP=NUMBER, as in front=3");
  }
  return request;
}

void scale(const ScaleOptions& options) {
  const ScaleRequest request = parse_change(options.change);
  const auto reply = ask_supervisor<ScaleReply>(running_dir(options), request, kAnswer);
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"ok", true}, {"group", request.group}, {"before", reply.before}, {"after", reply.after}};
    std::cout << json.dump(2) << '\n';
    return;
  }
  std::cout << request.group << ": " << reply.before << " -> " << reply.after << " workers\n";
}

}  // namespace

void add_scale(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "scale", "change how many workers a group with dispatch: any has, while traffic flows");
  auto options = std::make_shared<ScaleOptions>();
  add_running_options(*command, *options);
  command->add_option("change", options->change, "GROUP=NUMBER, as in front=3")->required();
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { scale(*options); });
  });
}

}  // namespace millrace
