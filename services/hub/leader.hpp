// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "services/hub/function_watch.hpp"
#include "services/hub/lost_batches.hpp"
#include "services/hub/neighbour_keeper.hpp"
#include "shared/actor/context.hpp"
#include "shared/control/actor_control.hpp"
#include "shared/control/endpoint.hpp"
#include "shared/recovery/kernel_processes.hpp"
#include "shared/recovery/recovery.hpp"

namespace millrace {

/// The leader's work: recovery in the calling thread, requests (audit, drain, functions) in a
/// second one. Hub and standby run the same; at most one of them at a time.
class Leader {
 public:
  /// `endpoint`: kHubEndpoint or kStandbyEndpoint. `control` tells of events; borrowed, as
  /// everything else.
  /// `drivers`: null when no port is a DPDK driver's. `chores`: done every second or so; may be
  /// empty.
  Leader(const ActorContext& context, const std::string& run_dir, const char* endpoint,
         ActorControl& control, DriverQueues* drivers = nullptr, std::function<void()> chores = {});
  ~Leader();
  /// Takes the lock word, then recovers what ends, until `stop`.
  void lead(const std::atomic<bool>& stop);

 private:
  void serve();
  void answer(const Received& request);
  /// An audit whose problems are still there after a while: an ingress that has taken a slot, and
  /// has not yet counted what it received into it, looks like a leak until it runs again.
  AuditReply settled_audit();
  void count_refused();
  void post(Severity severity, std::string_view kind, std::string_view text, std::uint64_t number);
  void tell(const RecoveryEvent& event);
  void look_at(const LostBatch& lost);
  void take_out(std::uint32_t function, const std::string& why);
  /// As it is now: functions come after we have started.
  Plan plan_now() const;
  std::string name_of(std::uint32_t function) const;
  void set_service(const Received& request, const SetService& wish);
  void obey_drains();
  /// For observers, which do not map the table.
  void count_neighbours_here() const;

  ActorContext context_;
  const std::string run_dir_;
  ActorControl& control_;
  std::function<void()> chores_;
  KernelProcesses processes_;
  Recovery recovery_;
  LostBatches lost_batches_;
  FunctionWatch functions_;
  ControlServer server_;
  std::mutex events_;  ///< one thread at a time has control_'s mailbox
  NeighbourKeeper neighbours_;
  std::mutex mutex_;                   ///< guards drains_
  std::vector<std::uint32_t> drains_;  ///< asked for, not yet published
  std::uint64_t refused_ = 0;          ///< of server_, as counted last; of its thread
  std::atomic<bool> ending_{false};
  std::thread server_thread_;
};

}  // namespace millrace
