// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io-worker/ports/interface.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/config/plan.hpp"
#include "shared/control/messages.hpp"

namespace millrace {

/// Follows the kernel's interfaces that are ports of a topology: says when a link goes down and
/// comes back, and when its MTU is not the port's; sets those down that `follow` one without a
/// carrier, and takes an interface again that was deleted and has come back. One that only gets
/// another name is the same one. One thread; no call waits.
class PortWatch {
 public:
  using Clock = std::chrono::steady_clock;
  struct Hooks {
    std::function<void(Event)> tell;
    /// The receive queues of this port have to be opened anew.
    std::function<void(std::uint32_t port)> reopen;
    /// An interface of a port that was called `from` is called `to`.
    std::function<void(const std::string& from, const std::string& to)> renamed;
  };

  /// The interfaces have been taken. `plan` is borrowed.
  PortWatch(const Plan& plan, std::string run_dir, InUse in_use, Hooks hooks);

  /// Readable when tend() has something to do at once; -1: there is nothing to watch.
  int descriptor() const { return changes_.get(); }
  /// Looks when something has changed, and now and then.
  void tend(Clock::time_point now);

 private:
  struct Watched {
    std::uint32_t port = 0;
    InterfaceWish wish;
    int follow = -1;          ///< number in watched_ of the port that it follows
    std::uint32_t index = 0;  ///< of the interface; 0: it is lost
    std::string name;         ///< of the interface, as it was seen last
    std::uint32_t mtu = 0;    ///< as it was seen last, or as the port's
    bool up = true;           ///< the host wants it up
    bool carrier = true;
    bool held_down = false;  ///< by us
    std::string trouble;     ///< why it cannot be taken again, as told last
    Clock::time_point raised{};
  };

  void look(Watched& watched);
  void look_at_missing(Watched& watched);
  void look_at_mtu(Watched& watched, std::uint32_t mtu);
  void look_at_name(Watched& watched, const std::string& name);
  void take_again(Watched& watched, std::uint32_t index);
  void follow(Watched& watched, Clock::time_point now);
  bool is_out(const Watched& watched, Clock::time_point now) const;
  std::string called(const Watched& watched) const;
  void say(Severity severity, const char* kind, const std::string& text) const;

  const Plan& plan_;
  std::string run_dir_;
  InUse in_use_;
  Hooks hooks_;
  UniqueFd changes_;
  std::vector<Watched> watched_;
  Clock::time_point next_{};
};

}  // namespace millrace
