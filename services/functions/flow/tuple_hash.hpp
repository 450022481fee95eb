// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "services/functions/flow/flow_tuple.hpp"

namespace millrace {

/// The same for equal tuples. Without the secret, tuples with the same hash cannot be chosen.
std::uint64_t tuple_hash(const FlowTuple& tuple,
                         const std::array<std::uint64_t, 2>& secret) noexcept;

/// hashes[i] becomes that of tuples[i]; the same in a third of the time where tuples are of IPv4.
/// `hashes`: as many, rounded up to 8.
void tuple_hashes(std::span<const FlowTuple> tuples, const std::array<std::uint64_t, 2>& secret,
                  std::span<std::uint64_t> hashes) noexcept;

}  // namespace millrace
