// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "shared/config/plan.hpp"

/// DPDK's environment of a topology with DPDK ports: the hub is its primary process, io-workers are
/// secondaries. Topologies do not meet: each has a file prefix of its own.

namespace millrace {

/// EAL of this process; at most one, and never a second one after it.
class Eal {
 public:
  /// `actor`: its number is the lcore id, which no two processes of a topology may share. CPU
  /// affinity is as before. `run_dir`: of the topology, for messages. Throws Error with the command
  /// that mends the host.
  Eal(const Plan& plan, std::uint32_t actor, const std::string& run_dir);
  Eal(const Eal&) = delete;  // it stands for the process's own
  Eal& operator=(const Eal&) = delete;
  /// The hub gives back what it has; a secondary that did so would reset devices.
  ~Eal();

 private:
  bool primary_;
};

}  // namespace millrace
