// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "services/functions/ids/rules/rule_match.hpp"

namespace millrace {

/// Whether `bytes`, or their SHA-256, are one of the values. `negated` is the caller's.
bool is_in_dataset(const DatasetMatch& dataset, std::span<const std::byte> bytes) noexcept;

}  // namespace millrace
