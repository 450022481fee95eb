// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io-worker/ports/rtnetlink.hpp"

/// The record of interfaces that a topology has taken: `<run dir>/interfaces`, a line each, written
/// before anything is changed. By it an interface is known by its index, whatever it is called by
/// now: udev and operators rename interfaces while they are in use.

namespace millrace {

/// The alias of an interface that is taken begins with it; the run directory follows.
inline constexpr std::string_view kTakenAlias = "millrace: taken by the topology in ";

/// What giving back has to undo.
struct TakenInterface {
  std::string netns;  ///< its inode: names and indexes mean nothing in another one
  std::uint32_t index = 0;
  std::string interface;  ///< as the topology calls it
  bool own_clsact = false;
  std::uint32_t rx_queues = 0;        ///< that it had; 0: not changed
  std::vector<std::string> offloads;  ///< that were on
  std::string alias;                  ///< of before; the rest of the line
};

std::string taken_path(const std::string& run_dir);
/// Adds a line. Throws Error.
void append_taken(const std::string& run_dir, const TakenInterface& taken);
/// In the order in which they were taken; without a line that a kill cut off, since nothing was
/// changed then. Empty without a record.
std::vector<TakenInterface> read_taken(const std::string& run_dir);

/// The network namespace of this process, as in TakenInterface.
std::string network_namespace();
/// The interface as it is now, whatever its name; nothing when it is gone, is in another network
/// namespace, or bears no alias of a topology that has it.
std::optional<Link> find_taken(const TakenInterface& taken);

/// This is the network namespace in which the interfaces of that topology were taken.
bool sees_interfaces_of(const std::string& run_dir);
/// Index of the interface that the topology of the run directory has taken last for this name;
/// none: it has taken none, or not in this network namespace.
std::optional<std::uint32_t> taken_index(const std::string& run_dir, const std::string& interface);
/// The interface that the topology has taken for this name is gone, and none of the name is there;
/// false: it has taken none, or not in this network namespace.
bool has_gone(const std::string& run_dir, const std::string& interface);
/// What the interface is called that the topology of the run directory has taken for this name;
/// the name itself when it has taken none or the interface is gone.
std::string name_now(const std::string& run_dir, const std::string& interface);

}  // namespace millrace
