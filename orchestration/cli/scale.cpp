// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <iostream>
#include <memory>

#include "orchestration/cli/changing.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"

namespace millrace {
namespace {

struct ScaleOptions : RunningOptions {
  std::vector<std::string> changes;
};

GroupCount parse_change(const std::string& text) {
  const std::size_t equals = text.find('=');
  GroupCount request{.group = text.substr(0, equals)};
  const char* end = text.data() + text.size();
  const char* start = equals == std::string::npos ? end : text.data() + equals + 1;
  const auto [stop, error] = std::from_chars(start, end, request.count);
  if (error != std::errc() || stop != end || request.group.empty()) {
    throw Error("'" + text + "' is not GROUP=NUMBER, as in front=3");
  }
  return request;
}

void scale(const ScaleOptions& options) {
  ChangeRequest request;
  request.what = "scale";
  for (const std::string& text : options.changes) {
    request.scale.push_back(parse_change(text));
    request.what += " " + text;
  }
  print_change(ask_change(options, request), options.json);
}

}  // namespace

void add_scale(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("scale", "change how many workers groups have, while traffic flows");
  auto options = std::make_shared<ScaleOptions>();
  add_running_options(*command, *options);
  add_remote_options(*command, *options);
  command->add_option("changes", options->changes, "GROUP=NUMBER, as in front=3; several at once")
      ->required();
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { scale(*options); });
  });
}

}  // namespace millrace
