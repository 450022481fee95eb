// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shared/config/plan.hpp"

namespace millrace {

/// A file that a port has not read whole: it breaks off, or has packets that are not Ethernet. Why,
/// says an event (kPortTrouble).
struct UnreadInput {
  std::string port;
  std::string path;
};

/// Those of a running topology; `errors_of`: Counter::kRxErrors of an actor.
std::vector<UnreadInput> unread_inputs(
    const Plan& plan, const std::function<std::uint64_t(std::uint32_t actor)>& errors_of);

}  // namespace millrace
