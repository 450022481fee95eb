// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "services/hub/kernel_neighbours.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/neighbour_table.hpp"

namespace millrace {

/// Keeps the static entries of the table of neighbours as the kernel behind the ports has them
/// (`neighbours: kernel`): the fixed ones (KernelNeighbour::fixed) of each port's `host_interface`.
/// No other makes static entries. At first, and when the kernel had no room to tell of a change
/// or an interface has changed, it reads all of them; else it goes by what is told. So nothing has
/// to be handed on: a successor's first reading takes away what went meanwhile. One thread.
class NeighbourFollower {
 public:
  using Clock = std::chrono::steady_clock;
  /// Between two readings of all of them, and until one that failed is tried again.
  static constexpr std::chrono::milliseconds kPause{20};
  static constexpr std::chrono::seconds kTryAgain{1};
  /// What is not in the table as it should be (no place, forgotten by hand) is set again so often.
  static constexpr std::chrono::seconds kSetAgain{1};

  struct Means {
    NeighbourTableView table;
    std::string run_dir;                                ///< of the topology
    std::function<std::uint64_t()> now_ms;              ///< the table's
    std::function<void(const std::string& what)> tell;  ///< what an operator has to know
  };
  NeighbourFollower(std::span<const PlanPort> ports, Means means);

  /// Waits up to `wait` for a change, then does what there is to do.
  void turn(std::chrono::milliseconds wait);

 private:
  struct Less {
    bool operator()(const NeighbourKey& one, const NeighbourKey& other) const {
      return std::tie(one.port, one.family, one.address) <
             std::tie(other.port, other.family, other.address);
    }
  };
  using Fixed = std::map<NeighbourKey, MacAddress, Less>;

  void follow(std::chrono::milliseconds wait);
  void take_changes();
  void take(const KernelNeighbour& neighbour);
  void read_all();
  void set_all();
  /// False: the interface is no port's.
  bool find_port(KernelNeighbour& neighbour) const;

  const std::span<const PlanPort> ports_;
  const Means means_;
  UniqueFd changes_;
  std::map<int, std::uint16_t> port_of_;  ///< by interface
  Fixed fixed_;            ///< of the kernel, at most as many as the table has room for
  bool left_out_ = false;  ///< there are more
  bool reads_all_ = true;  ///< it has to
  bool troubled_ = false, full_ = false;  ///< told
  Clock::time_point next_try_{}, next_read_{}, next_set_{};
};

/// When none follows the kernel any more: takes its entries out of the table.
void forget_kernel_neighbours(const NeighbourTableView& table);

}  // namespace millrace
