// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace millrace {
namespace {

std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

ServiceManager::ServiceManager() {
  constexpr std::uint64_t kPerLimit = 3;
  address_ = take_variable("NOTIFY_SOCKET");
  const std::string limit_us = take_variable("WATCHDOG_USEC");
  const std::string pid = take_variable("WATCHDOG_PID");
  const bool is_path = address_.starts_with('/');
  if ((!is_path && !address_.starts_with('@')) ||
      address_.size() >= sizeof(sockaddr_un::sun_path)) {
    return;
  }
  if (!is_path) address_[0] = '\0';  // of the abstract namespace
  socket_ = UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (pid.empty() || number_of(pid) == static_cast<std::uint64_t>(::getpid())) {
    interval_ = std::chrono::microseconds(number_of(limit_us) / kPerLimit);
  }
}

void ServiceManager::send(const std::string& text) noexcept {
  if (!socket_) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address_.data(), address_.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  static_cast<void>(::sendto(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&to), bytes));
}

void ServiceManager::ready(const std::string& status) {
  send("READY=1\nSTATUS=" + status + "\nMAINPID=" + std::to_string(::getpid()));
}

void ServiceManager::alive() {
  if (interval_.count() == 0 || Clock::now() < next_) return;
  next_ = Clock::now() + interval_;
  send("WATCHDOG=1");
}

void ServiceManager::stopping() { send("STOPPING=1"); }

std::string unit_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cgroup");
  return unit_in(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string unit_in(std::string_view cgroup) {
  constexpr std::string_view kPrefix = "/millrace@", kSuffix = ".service";
  const std::size_t at = cgroup.find(kPrefix);
  if (at == std::string_view::npos) return "";
  const std::string_view name = cgroup.substr(at + 1, cgroup.find_first_of("/\n", at + 1) - at - 1);
  return name.ends_with(kSuffix) ? std::string(name) : "";
}

}  // namespace millrace
