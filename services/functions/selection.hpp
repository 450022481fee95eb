// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "services/functions/function.hpp"
#include "shared/layout/all_pass.hpp"

namespace millrace {

/// Which packets a function sees: those that pass and, when `when_class` is not 0, have one of its
/// classes. Their indexes ascend; they stand in `room` (at least batch.count entries, borrowed by
/// the result), or, where all packets take part, in a constant. `all`: all_pass(), when the caller
/// knows. Data thread.
Selection select_packets(const Batch& batch, std::uint32_t when_class,
                         std::span<std::uint16_t> room, bool all) noexcept;
inline Selection select_packets(const Batch& batch, std::uint32_t when_class,
                                std::span<std::uint16_t> room) noexcept {
  return select_packets(batch, when_class, room, all_pass(batch));
}

}  // namespace millrace
