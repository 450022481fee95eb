// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/event_stream.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "shared/base/error.hpp"
#include "shared/base/run_words.hpp"

namespace millrace {
namespace {

UniqueFd connect_to_events(const std::string& path, const std::string& run) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw Error(path + " is too long for a socket");
  path.copy(address.sun_path, path.size());
  UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  if (!client || ::connect(client.get(), to, sizeof address) != 0) {
    throw system_error("connect to " + path +
                           " (the process `events` starts again by itself; "
                           "how it is: millrace status " +
                           run + ")",
                       errno);
  }
  return client;
}

std::string socket_of(const Plan& plan, const std::string& run_dir) {
  if (!plan.events) {
    throw Error("topology '" + plan.name +
                "' has no events: its file needs a section `events: {}`, and a restart");
  }
  return events_socket_path(plan, run_dir);
}

}  // namespace

EventStream::EventStream(const Plan& plan, const std::string& run_dir)
    : client_(connect_to_events(socket_of(plan, run_dir), words_for_run(plan.name, run_dir))) {}

bool EventStream::next(std::string& line) {
  for (;;) {
    if (const std::size_t end = text_.find('\n', at_); end != std::string::npos) {
      line.assign(text_, at_, end - at_);
      at_ = end + 1;
      return true;
    }
    text_.erase(0, at_);
    at_ = 0;
    std::array<char, 65536> block;
    const ssize_t bytes = ::read(client_.get(), block.data(), block.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    text_.append(block.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace millrace
