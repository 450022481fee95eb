// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "shared/base/file_lender.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// Keeps of ports what is to outlive io-workers (io-worker/ports/kept_file.hpp): the interfaces of
/// `tap` ports, which the hub makes, and the sockets of `afpacket` queues, which their first
/// readers leave here. Processes that move packets have them from the hub or from the standby,
/// which has them too. They go with the last of these processes; nothing else has to be taken back.
/// They lend the segment as well, for a supervisor that may not look at descriptors of its
/// processes.
class PortKeeper {
 public:
  enum class Part {
    kHub,        ///< makes interfaces
    kSuccessor,  ///< a hub that succeeds another one: has them from it
    kStandby,    ///< has them from the hub
  };
  /// Throws Error that names the port.
  PortKeeper(const Plan& plan, const std::string& run_dir, Part part);
  /// Starts to lend, by a thread that has the rights of its caller. Once. Throws Error.
  void lend();

  /// Calls `tell` with the port's name for each interface of a `tap` port that a user has brought
  /// down or up since the last time. Of one that was moved into another network namespace nothing
  /// is known.
  void watch_links(const std::function<void(const std::string& port, bool up)>& tell);

 private:
  struct Tap {
    std::string port;
    std::uint32_t index = 0;  ///< of its interface, which it keeps whatever it is called
    bool up = true;
  };

  const std::string run_dir_;
  const Part part_;
  std::vector<Tap> taps_;
  std::map<std::string, UniqueFd> files_;  ///< until they are lent
  std::set<std::string> places_;           ///< for what readers leave
  std::optional<FileLender> lender_;
};

}  // namespace millrace
