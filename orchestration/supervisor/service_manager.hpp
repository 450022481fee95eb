// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// What systemd wants to hear of a service with Type=notify (sd_notify(3)), without its library.
/// Says nothing where no manager listens. Never blocks, never fails: no traffic depends on
/// it.
class ServiceManager {
 public:
  /// Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment, so that no child
  /// speaks for us. Before any thread starts.
  ServiceManager();

  bool listens() const { return static_cast<bool>(socket_); }
  /// Everything runs. `status`: a line for `systemctl status`.
  void ready(const std::string& status);
  /// Call often: tells the watchdog three times within its limit that the supervisor lives.
  void alive();
  void stopping();

 private:
  using Clock = std::chrono::steady_clock;
  void send(const std::string& text) noexcept;

  UniqueFd socket_;
  std::string address_;                    ///< of the manager, as in sockaddr_un
  std::chrono::microseconds interval_{0};  ///< 0: no watchdog
  Clock::time_point next_{};
};

/// Our unit, "millrace@NAME.service", that systemd runs a process of; empty: none, or no systemd.
std::string unit_of(pid_t pid);
/// The same from the text of its /proc/PID/cgroup (cgroups(7)).
std::string unit_in(std::string_view cgroup);

}  // namespace millrace
