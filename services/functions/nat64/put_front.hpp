// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/nat64/version_change.hpp"
#include "shared/layout/batch.hpp"

namespace millrace {

/// Gives the packet the front that change_version() has made for it. False: its buffer has no room
/// for that, and the packet, with the new transport header behind the old front, cannot go on.
bool put_front(const Batch& batch, std::uint16_t packet, const NewFront& front) noexcept;

}  // namespace millrace
