// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/ids/detect/flow_memory.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// What stands behind all other tests of a rule, and what a match changes.

namespace millrace {

/// RuleMemory::count(): detection_filter and threshold of a rule.
inline constexpr std::uint8_t kUseThreshold = 0, kUseDetectionFilter = 1;

/// The rule has `drop` or `reject`.
bool blocks(const Signature& signature) noexcept;
/// `flowbits:isset` or `isnotset`.
bool asks_for_flowbits(const Signature& signature) noexcept;
/// `flowbits` or `xbits` that a match sets, unsets or toggles.
bool changes_flowbits(const Signature& signature) noexcept;
/// They pass. Without a flow none of them passes.
bool flowbits_pass(const Signature& signature, bool has_flow, const RuleMemory& memory) noexcept;

/// All tests of the rule have passed: sets its flowbits, and says whether its detection_filter lets
/// it match. (Bits are set in either case, as Suricata does.)
bool take_effect(const Signature& signature, std::uint32_t number, RuleMemory& memory) noexcept;

}  // namespace millrace
