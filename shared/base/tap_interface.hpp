// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// Interfaces that tap ports make, as the kernel knows them. Their alias says whose they are, so
/// that one which gets another name while it is in use stays the port's. Control plane.

namespace millrace {

/// "millrace: port INTERFACE of the topology in RUN_DIR"; `interface`: as the topology calls it.
std::string tap_alias(const std::string& interface, const std::string& run_dir);

/// The run directory in such an alias, also without INTERFACE, as earlier builds wrote it; empty:
/// it is another text.
std::string run_dir_of_tap(const std::string& alias);

/// Index of the interface that a tap port of the topology in `run_dir` has made for this name,
/// whatever it is called by now. Without one, or without a `run_dir`: of the interface that has the
/// name; 0: there is none. Throws Error.
std::uint32_t tap_interface_index(const std::string& interface, const std::string& run_dir);

}  // namespace millrace
