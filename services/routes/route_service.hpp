// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "services/functions/route/live/route_follower.hpp"
#include "services/routes/kernel_events.hpp"
#include "shared/config/plan.hpp"
#include "shared/control/route_facts.hpp"

namespace millrace {

/// Keeps all live tables of a topology equal to the kernel's routes. Applies each change that the
/// kernel tells. Reads all routes at the start, when the kernel lost a message, after a change that
/// alters routes without a message, and when a change does not fit the known routes. One thread.
class RouteService {
 public:
  /// `alive`: called now and then during work that takes seconds. Both are borrowed. `run_dir`: of
  /// the topology.
  RouteService(ReaderGrace& grace, std::string run_dir, std::function<void()> alive);

  /// Follows the tables that this plan has in use.
  void use(const Plan& plan);
  /// Reads messages of the kernel, and all of its routes when that is due. False: there may be more
  /// to do at once.
  bool turn(std::uint64_t now_ns);
  /// Readable when the kernel tells something.
  int descriptor() const { return events_.descriptor(); }
  /// The present state of the tables.
  std::vector<RouteFacts> facts() const;
  /// When turn() has to be called at the latest, in ms from now.
  int wait_ms(std::uint64_t now_ns) const;

 private:
  struct Followed {
    std::string function, image;
    std::unique_ptr<RouteFollower> follower;
  };

  void ask_for_dump(std::uint64_t at_ns);
  /// False: routes changed meanwhile, so that others may be missing.
  bool dump();
  void note_lost();
  void await_room(RouteFollower& follower);
  void note_full();
  void take(std::span<const std::byte> message, std::uint64_t now_ns);

  ReaderGrace& grace_;
  std::string run_dir_;
  std::function<void()> alive_;
  KernelEvents events_;
  std::vector<PlanPort> ports_;
  HostInterfaces interfaces_;  ///< at the last dump; names are those of ports_
  std::vector<Followed> followed_;
  std::uint64_t dump_at_ns_ = 0;    ///< 0: none is due
  std::uint64_t next_dump_ns_ = 0;  ///< none before
  bool in_vain_ = false;            ///< the last wait for room
};

}  // namespace millrace
