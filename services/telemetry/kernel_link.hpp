// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace millrace {

struct LinkState {
  bool up = false;
  std::uint64_t bytes_per_second = 0;  ///< 0: not known (a virtual interface has none)
};

/// The state of a kernel interface in this process's network namespace. Nothing when there is no
/// such interface or it cannot be asked. Needs no rights.
std::optional<LinkState> read_kernel_link(const std::string& interface);

}  // namespace millrace
