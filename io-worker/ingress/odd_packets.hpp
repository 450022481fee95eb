// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "io-worker/ports/port.hpp"
#include "shared/layout/batch.hpp"

/// What an ingress writes only for few packets; kept out of the code of all others. Data thread.

namespace millrace {

/// `packets` stand in the batch from `at` on. Drops those that did not fit or contradict themselves
/// (RxPacket::oversize, malformed). Returns how many.
std::uint32_t drop_oversize(const Batch& batch, std::uint32_t at,
                            std::span<const RxPacket> packets) noexcept;

/// Some packet of the batch was longer on the wire: of these, which stand in it from `at` on, or of
/// those before. Writes the lengths on the wire of all.
void fill_wire_lengths(const Batch& batch, std::uint32_t at,
                       std::span<const RxPacket> packets) noexcept;

}  // namespace millrace
