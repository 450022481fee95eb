// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"

namespace millrace {

enum class Reverted : std::uint8_t {
  kNothing,  ///< it has the IP version that it has come with, or no flow
  kVersion,  ///< it has the other version now, and what it has come with
  kFailed,   ///< it cannot be given back what it has come with; no sender can be told of it
};

/// Gives a packet that `nat64` has translated the IP version, addresses and ports that it has come
/// with, so that its sender can be told of it. What the translation has dropped (options, extension
/// headers) does not come back. The caller makes the report of the version that the packet has
/// then.
Reverted revert_version(const FinishContext& call, std::uint16_t packet) noexcept;
/// Whether revert_version() would not say kNothing.
bool has_other_version(const FinishContext& call, std::uint16_t packet) noexcept;

}  // namespace millrace
