// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace millrace {

/// An event of recovery, for the log and the control plane. `number`: slots or batches concerned.
struct RecoveryEvent {
  std::uint32_t actor = 0;
  const char* what = "";  ///< "exited", "hung", "fenced", "recovered", "quarantined"
  std::uint64_t number = 0;
};
using TellRecovery = std::function<void(const RecoveryEvent&)>;

}  // namespace millrace
