// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/compiled_rule.hpp"

#include <algorithm>
#include <numeric>

#include "services/functions/ids/detect/test_traits.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

bool minds_its_end(const BufferTests& tests) {
  return !tests.transforms.empty() || !std::ranges::all_of(tests.tests, [](const Match& test) {
    const auto* const content = std::get_if<ContentMatch>(&test);
    return content != nullptr && !content->negated && !content->ends_with;
  });
}

std::vector<std::uint16_t> order_of(const Signature& signature) {
  const std::vector<BufferTests>& buffers = signature.buffers;
  std::vector<std::uint16_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  const bool is_free = std::ranges::none_of(buffers, [](const BufferTests& tests) {
    return std::ranges::any_of(tests.tests, uses_variables);
  });
  if (!is_free) return order;
  std::stable_partition(order.begin(), order.end(), [&](std::uint16_t place) {
    return buffers[place].buffer != RuleBuffer::kPayload;
  });
  return order;
}

}  // namespace

CompiledRule::CompiledRule(const Signature& of)
    : signature(&of),
      routes(routes_of(of)),
      order(order_of(of)),
      is_of_flow(of.looks_at_heads_only() || of.at_recognition) {
  matchers.reserve(of.buffers.size());
  while_doing(of.place, [&] {
    for (const BufferTests& tests : of.buffers) matchers.emplace_back(tests);
  });
  minds_end = std::ranges::any_of(of.buffers, minds_its_end);
  const std::optional<RuleGate> gate = gate_of(of);
  is_gated = gate.has_value();
  if (!gate || !gate->ends_content) return;
  gate_buffer = gate->buffer;
  gate_test = gate->test;
}

const ContentMatch* CompiledRule::content_at(std::size_t buffer,
                                             std::uint16_t test) const noexcept {
  const BufferTests& of = signature->buffers[buffer];
  if (test >= of.tests.size() || !of.transforms.empty()) return nullptr;
  return matchers[buffer].literal_of(test);
}

}  // namespace millrace
