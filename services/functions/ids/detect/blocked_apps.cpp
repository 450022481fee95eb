// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/blocked_apps.hpp"

#include <algorithm>
#include <initializer_list>

#include "services/functions/ids/detect/rule_effects.hpp"
#include "services/functions/ids/detect/rule_routes.hpp"
#include "services/functions/ids/rules/rule_buffer.hpp"

namespace millrace {
namespace {

constexpr std::initializer_list<AppProtocol> kAll = {AppProtocol::kHttp, AppProtocol::kHttp2,
                                                     AppProtocol::kTls,  AppProtocol::kDns,
                                                     AppProtocol::kSsh,  AppProtocol::kSmtp};
constexpr std::initializer_list<AppProtocol> kWithFiles = {AppProtocol::kHttp, AppProtocol::kHttp2,
                                                           AppProtocol::kSmtp};
constexpr std::initializer_list<AppProtocol> kHttp = {AppProtocol::kHttp, AppProtocol::kHttp2};
constexpr std::initializer_list<AppProtocol> kHttp2 = {AppProtocol::kHttp2};
constexpr std::initializer_list<AppProtocol> kTls = {AppProtocol::kTls};
constexpr std::initializer_list<AppProtocol> kDns = {AppProtocol::kDns};
constexpr std::initializer_list<AppProtocol> kSsh = {AppProtocol::kSsh};
constexpr std::initializer_list<AppProtocol> kNone = {};

/// What may carry a buffer.
std::initializer_list<AppProtocol> carriers_of(RuleBuffer buffer) noexcept {
  if (buffer == RuleBuffer::kFileData || buffer == RuleBuffer::kFileName) return kWithFiles;
  if (buffer == RuleBuffer::kAppEvent) return kAll;
  switch (traits_of(buffer).owner) {
    case BufferOwner::kHttp:
      return kHttp;
    case BufferOwner::kHttp2:
      return kHttp2;
    case BufferOwner::kTls:
      return kTls;
    case BufferOwner::kDns:
      return kDns;
    case BufferOwner::kSsh:
      return kSsh;
    default:
      return kNone;
  }
}

}  // namespace

BlockedApps::BlockedApps(std::span<const Signature> signatures) {
  if (std::ranges::none_of(signatures, blocks)) return;
  for (const Signature& signature : signatures) {
    if (!blocks(signature) && !changes_flowbits(signature)) continue;
    for (const BufferTests& tests : signature.buffers) add(signature, tests);
  }
}

void BlockedApps::add(const Signature& signature, const BufferTests& tests) {
  const bool wants_one = asks_app(signature.protocol);
  const RuleBufferTraits& traits = traits_of(tests.buffer);
  const std::array<bool, 2> sides{traits.of_request && !signature.flow.to_client,
                                  traits.of_response && !signature.flow.to_server};
  for (const AppProtocol carrier : carriers_of(tests.buffer)) {
    if (wants_one && !is_app(signature.protocol, carrier)) continue;
    for (std::size_t side = 0; side < sides.size(); ++side) {
      if (sides[side]) asked_[side].set(static_cast<std::size_t>(carrier));
    }
  }
}

bool BlockedApps::has(AppProtocol protocol, std::uint8_t direction) const noexcept {
  const std::bitset<kAppProtocols>& asked = asked_[direction & 1];
  return protocol == AppProtocol::kUnknown ? asked.any()
                                           : asked.test(static_cast<std::size_t>(protocol));
}

}  // namespace millrace
