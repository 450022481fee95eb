// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "shared/config/plan.hpp"

/// DPDK's environment of a topology with DPDK ports: the hub is its primary process, io-workers are
/// secondaries. Topologies are separate: each has a file prefix of its own.

namespace millrace {

/// The EAL of this process; a process makes at most one in its life.
class Eal {
 public:
  /// `actor`: its number is the lcore id, which no two processes of a topology may share. CPU
  /// affinity is as before. `run_dir`: of the topology, for messages. Throws Error with the command
  /// that mends the host.
  Eal(const Plan& plan, std::uint32_t actor, const std::string& run_dir);
  Eal(const Eal&) = delete;  // it stands for the process's own
  Eal& operator=(const Eal&) = delete;
  /// Gives EAL's memory and devices back, in the hub only: in a secondary that would reset devices.
  ~Eal();

 private:
  bool primary_;
};

}  // namespace millrace
