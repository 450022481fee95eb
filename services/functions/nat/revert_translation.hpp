// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"

namespace millrace {

/// Gives a packet back the addresses, ports and TCP numbers that it has come with, so that its
/// sender can be told of it. Nothing changes where its flow is not translated, or none is known.
/// False: these are not known any more (FlowBatch::has_lost_translation()); no sender can be told.
[[nodiscard]] bool revert_translation(const FinishContext& call, std::uint16_t packet) noexcept;

}  // namespace millrace
