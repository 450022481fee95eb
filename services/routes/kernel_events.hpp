// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// Messages of the kernel about its routes (rtnetlink(7)), and about changes that alter routes
/// without a message. One thread; no call waits.
class KernelEvents {
 public:
  /// Throws Error when the kernel does not let it listen.
  KernelEvents();

  /// What read() has found beside messages of routes.
  struct Heard {
    bool lost = false;       ///< the kernel had no room for a message: any may be missing
    bool disturbed = false;  ///< a link, an address or a next hop changed: routes may have, untold
    bool more = false;       ///< there may be more to read
  };
  /// Calls `visit` for each message of a route, in order, and returns after some of them.
  Heard read(const std::function<void(std::span<const std::byte> message)>& visit);
  /// Reads and drops all messages: a dump that is made afterwards has their changes. A kernel that
  /// has lost a message reports that only when all messages before it have been read. `alive`:
  /// called now and then. True: a message was lost.
  bool discard(const std::function<void()>& alive);
  /// Readable when there is something to read.
  int descriptor() const { return socket_.get(); }

 private:
  void take(const nlmsghdr& header, std::span<const std::byte> message, Heard& heard,
            const std::function<void(std::span<const std::byte>)>& visit);
  bool link_changed(std::span<const std::byte> message, bool gone);

  UniqueFd socket_;
  std::vector<std::byte> buffer_;
  std::unordered_map<int, std::uint32_t> flags_;  ///< of interfaces, as told last
};

}  // namespace millrace
