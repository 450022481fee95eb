// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/rule_effects.hpp"

#include <algorithm>

namespace millrace {

bool asks_for_flowbits(const Signature& signature) noexcept {
  using What = FlowbitTest::What;
  return std::ranges::any_of(signature.flowbits, [](const FlowbitTest& test) {
    return test.what == What::kIsSet || test.what == What::kIsNotSet;
  });
}

bool blocks(const Signature& signature) noexcept {
  return signature.action == RuleAction::kDrop || signature.action == RuleAction::kReject;
}

bool changes_flowbits(const Signature& signature) noexcept {
  using What = FlowbitTest::What;
  return std::ranges::any_of(signature.flowbits, [](const FlowbitTest& test) {
    return test.what != What::kIsSet && test.what != What::kIsNotSet;
  });
}

bool flowbits_pass(const Signature& signature, bool has_flow, const RuleMemory& memory) noexcept {
  using What = FlowbitTest::What;
  return std::ranges::all_of(signature.flowbits, [&](const FlowbitTest& test) {
    if (test.what != What::kIsSet && test.what != What::kIsNotSet) return true;
    const bool wanted = test.what == What::kIsSet;
    if (test.host) return memory.host_bit(*test.host) == wanted;
    return has_flow && std::ranges::any_of(test.bits, [&](std::uint16_t bit) {
             return memory.flowbit(bit) == wanted;
           });
  });
}

bool take_effect(const Signature& signature, std::uint32_t number, RuleMemory& memory) noexcept {
  using What = FlowbitTest::What;
  for (const FlowbitTest& test : signature.flowbits) {
    if (test.what == What::kIsSet || test.what == What::kIsNotSet) continue;
    if (test.host) {
      memory.set_host_bit(*test.host, test.what == What::kSet || (test.what == What::kToggle &&
                                                                  !memory.host_bit(*test.host)));
      continue;
    }
    for (const std::uint16_t bit : test.bits) {
      memory.set_flowbit(
          bit, test.what == What::kSet || (test.what == What::kToggle && !memory.flowbit(bit)));
    }
  }
  return !signature.detection_filter ||
         memory.count(number, kUseDetectionFilter, *signature.detection_filter);
}

}  // namespace millrace
