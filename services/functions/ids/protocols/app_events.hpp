// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "services/functions/ids/protocols/transaction.hpp"

/// What parsers find wrong with a message, by the names that Suricata's `app-layer-event` has:
/// values of RuleBuffer::kAppEvent in the direction of the message.

namespace millrace::app_events {

inline constexpr std::string_view kDnsMalformed = "dns.malformed_data",
                                  kDnsNotRequest = "dns.not_a_request",
                                  kDnsNotResponse = "dns.not_a_response",
                                  kDnsZFlag = "dns.z_flag_set", kDnsOpcode = "dns.invalid_opcode";
inline constexpr std::string_view kHttpTransferEncoding =
                                      "http.invalid_transfer_encoding_value_in_request",
                                  kHttpContentLength =
                                      "http.invalid_content_length_field_in_request",
                                  kHttpNoHost = "http.missing_host_header",
                                  kHttpHosts = "http.host_header_ambiguous",
                                  kHttpUriHost = "http.uri_host_invalid",
                                  kHttpHeaderHost = "http.header_host_invalid";
inline constexpr std::string_view kHttp2Authority = "http2.authority_host_mismatch",
                                  kHttp2UserInfo = "http2.userinfo_in_uri",
                                  kHttp2FrameLength = "http2.invalid_frame_length";

/// The protocol with the parser that tells it. Nothing: no parser does.
std::optional<AppProtocol> owner_of(std::string_view event) noexcept;

/// Puts it into the transaction, once. Throws std::bad_alloc.
void put(Transaction& transaction, std::uint8_t direction, std::string_view event);

}  // namespace millrace::app_events
