// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// The XDP program of an interface: five instructions that hand each frame to the AF_XDP socket of
/// its receive queue, or drop it while there is none. All processes that receive from the interface
/// hold the same link; when the last of them ends, however it ends, the kernel detaches the
/// program.
class XdpProgram {
 public:
  /// Finds the program that another queue's process has attached, or attaches one. May wait some
  /// 100 ms for one that is just being attached. Throws Error.
  static XdpProgram attach(const std::string& interface);
  /// Frames of this receive queue go to `socket` until it is closed. Throws Error.
  void serve(std::uint32_t queue, const UniqueFd& socket) const;

 private:
  XdpProgram(UniqueFd link, UniqueFd map) : link_(std::move(link)), map_(std::move(map)) {}

  UniqueFd link_;
  UniqueFd map_;  ///< receive queue -> socket
};

}  // namespace millrace
