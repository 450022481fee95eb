// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iostream>
#include <memory>
#include <string>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/event_text.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/running.hpp"
#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/control/plan_file.hpp"

namespace millrace {
namespace {

struct EventsOptions : RunningOptions {
  std::uint64_t count = 0;
};

UniqueFd connect_to_events(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw Error(path + " is too long for a socket");
  path.copy(address.sun_path, path.size());
  UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  if (!client || ::connect(client.get(), to, sizeof address) != 0) {
    throw system_error("connect to " + path +
                           " (the process `events` starts again by itself; "
                           "millrace status says how it is)",
                       errno);
  }
  return client;
}

/// Prints lines as they come, until the topology ends, or so many were printed.
void events(const EventsOptions& options) {
  const std::string run_dir = running_dir(options);
  const Plan plan = load_plan(run_dir + "/plan.bin");
  if (!plan.events) {
    throw Error("topology '" + plan.name +
                "' has no events: its file needs a section `events: {}`, and a restart");
  }
  const UniqueFd client = connect_to_events(events_socket_path(plan, run_dir));
  std::array<char, 65536> block;
  std::string text;
  for (std::uint64_t printed = 0;;) {
    const ssize_t bytes = ::read(client.get(), block.data(), block.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return;
    text.append(block.data(), static_cast<std::size_t>(bytes));
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string line = text.substr(begin, end - begin);
      std::cout << (options.json ? line : text_of_event(line)) << '\n';
      if (++printed == options.count) {
        std::cout << std::flush;
        return;
      }
    }
    text.erase(0, begin);
    std::cout << std::flush;
    if (!std::cout) return;
  }
}

}  // namespace

void add_events(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "events", "what functions tell of packets from now on, until the topology ends, or Ctrl-C");
  auto options = std::make_shared<EventsOptions>();
  add_running_options(*command, *options);
  command->add_option("-n,--count", options->count, "end after so many");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { events(*options); });
  });
}

}  // namespace millrace
