// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "gpu-worker/device.hpp"
#include "services/functions/stages/function_stages.hpp"
#include "shared/actor/new_tables.hpp"

namespace millrace {

/// Handles new tables of a GPU worker, on its control thread: copies them to the device, however
/// long that takes, then offers them to the data thread, which only switches to them. A table that
/// cannot be copied is not offered. Changes of live tables are copied as they come.
class DeviceTables : public PlanFollower {
 public:
  /// Both borrowed.
  DeviceTables(FunctionStages& functions, Device& device)
      : functions_(functions), device_(device) {}

  void follow(const Plan& plan) override {
    if (!functions_.wants(plan)) return;
    device_.load_tables(plan);
    functions_.follow(plan);
  }
  void tend() noexcept override {
    functions_.tend();
    device_.free_tables();
    follows_ = device_.follow_tables();
  }
  std::chrono::milliseconds pause() const noexcept override {
    return follows_ ? kFollowPause : PlanFollower::pause();
  }

 private:
  /// Changes of live tables wait at most this long, and go to the device together.
  static constexpr std::chrono::milliseconds kFollowPause{2};

  FunctionStages& functions_;
  Device& device_;
  bool follows_ = false;  ///< it has live tables
};

}  // namespace millrace
