// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/app_events.hpp"

#include <algorithm>

namespace millrace::app_events {
namespace {

constexpr std::string_view kOfDns[] = {kDnsMalformed, kDnsNotRequest, kDnsNotResponse, kDnsZFlag,
                                       kDnsOpcode};
constexpr std::string_view kOfHttp[] = {kHttpTransferEncoding, kHttpContentLength,
                                        kHttpNoHost,           kHttpHosts,
                                        kHttpUriHost,          kHttpHeaderHost};
constexpr std::string_view kOfHttp2[] = {kHttp2Authority, kHttp2UserInfo, kHttp2FrameLength};

}  // namespace

std::optional<AppProtocol> owner_of(std::string_view event) noexcept {
  const auto is_of = [&](const auto& events) { return std::ranges::count(events, event) != 0; };
  if (is_of(kOfDns)) return AppProtocol::kDns;
  if (is_of(kOfHttp)) return AppProtocol::kHttp;
  if (is_of(kOfHttp2)) return AppProtocol::kHttp2;
  return std::nullopt;
}

void put(Transaction& transaction, std::uint8_t direction, std::string_view event) {
  const auto& parts = transaction.parts(direction, RuleBuffer::kAppEvent);
  const auto is_it = [&](const BufferPart& part) { return part.bytes == event; };
  if (std::ranges::none_of(parts, is_it)) transaction.put(direction, RuleBuffer::kAppEvent, event);
}

}  // namespace millrace::app_events
