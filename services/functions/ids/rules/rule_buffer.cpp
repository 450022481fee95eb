// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_buffer.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace millrace {
namespace {

/// Which directions have it.
enum class Side { kRequest, kResponse, kEither };
/// In how many pieces, and how often, a transaction has it.
enum class Shape { kOne, kGrows, kMany };

constexpr RuleBufferTraits traits(std::string_view name, std::string_view old_name,
                                  BufferOwner owner, Side side, Shape shape = Shape::kOne) {
  return {name,
          old_name,
          owner,
          side != Side::kResponse,
          side != Side::kRequest,
          shape == Shape::kGrows,
          shape == Shape::kMany};
}
constexpr RuleBufferTraits http(std::string_view name, std::string_view old_name, Side side,
                                Shape shape = Shape::kOne) {
  return traits(name, old_name, BufferOwner::kHttp, side, shape);
}
constexpr RuleBufferTraits tls(std::string_view name, Side side, Shape shape = Shape::kOne) {
  return traits(name, "", BufferOwner::kTls, side, shape);
}

constexpr RuleBufferTraits http2(std::string_view name) {
  return traits(name, "", BufferOwner::kHttp2, Side::kEither, Shape::kMany);
}

// clang-format off
constexpr std::array<RuleBufferTraits, kRuleBufferCount> kTraits = {{
    traits("pkt_data", "", BufferOwner::kPayload, Side::kEither),
    http("http.method", "http_method", Side::kRequest),
    http("http.uri", "http_uri", Side::kRequest),
    http("http.uri.raw", "http_raw_uri", Side::kRequest),
    http("http.host", "http_host", Side::kRequest),
    http("http.host.raw", "http_raw_host", Side::kRequest),
    http("http.user_agent", "http_user_agent", Side::kRequest),
    http("http.referer", "", Side::kRequest),
    http("http.accept", "", Side::kRequest),
    http("http.accept_enc", "", Side::kRequest),
    http("http.accept_lang", "", Side::kRequest),
    http("http.request_line", "", Side::kRequest),
    http("http.request_body", "http_client_body", Side::kRequest, Shape::kGrows),
    http("http.stat_code", "http_stat_code", Side::kResponse),
    http("http.stat_msg", "http_stat_msg", Side::kResponse),
    http("http.location", "", Side::kResponse),
    http("http.server", "", Side::kResponse),
    http("http.response_line", "", Side::kResponse),
    http("http.response_body", "http_server_body", Side::kResponse, Shape::kGrows),
    http("http.header", "http_header", Side::kEither),
    http("http.header.raw", "http_raw_header", Side::kEither),
    http("http.header_names", "", Side::kEither),
    http("http.cookie", "http_cookie", Side::kEither),
    http("http.protocol", "", Side::kEither),
    http("http.start", "", Side::kEither),
    http("http.connection", "", Side::kEither),
    http("http.content_len", "", Side::kEither),
    http("http.content_type", "", Side::kEither),
    http("http.request_header", "", Side::kRequest, Shape::kMany),
    http("http.response_header", "", Side::kResponse, Shape::kMany),
    http("file.data", "", Side::kEither, Shape::kGrows),
    http("file.name", "", Side::kEither, Shape::kMany),
    traits("dns.query", "", BufferOwner::kDns, Side::kRequest, Shape::kMany),
    tls("tls.sni", Side::kRequest),
    tls("tls.version", Side::kEither),
    tls("tls.cert_subject", Side::kResponse),
    tls("tls.cert_issuer", Side::kResponse),
    tls("tls.cert_serial", Side::kResponse),
    tls("tls.cert_fingerprint", Side::kResponse),
    tls("tls.certs", Side::kResponse, Shape::kMany),
    tls("ja3.hash", Side::kRequest),
    tls("ja3.string", Side::kRequest),
    tls("ja3s.hash", Side::kResponse),
    tls("ja3s.string", Side::kResponse),
    tls("ja4.hash", Side::kRequest),
    traits("ssh.proto", "", BufferOwner::kSsh, Side::kEither),
    traits("ssh.software", "", BufferOwner::kSsh, Side::kEither),
    http2("http2.header_name"),
    http2("http2.frametype"),
    http2("http2.errorcode"),
    http2("http2.priority"),
    http2("http2.window"),
    http2("http2.size_update"),
    http2("http2.settings"),
    traits("app-layer-event", "", BufferOwner::kPayload, Side::kEither, Shape::kMany),
    traits("base64_data", "", BufferOwner::kPayload, Side::kEither),
}};

struct OtherName {
  std::string_view name;
  RuleBuffer buffer;
};
/// Names that Suricata had before those with dots.
constexpr std::array kOtherNames = {
    OtherName{"file_data", RuleBuffer::kFileData},
    OtherName{"dns_query", RuleBuffer::kDnsQuery},
    OtherName{"tls_sni", RuleBuffer::kTlsSni},
    OtherName{"tls_cert_subject", RuleBuffer::kTlsSubject},
    OtherName{"tls_cert_issuer", RuleBuffer::kTlsIssuer},
    OtherName{"tls_cert_serial", RuleBuffer::kTlsSerial},
    OtherName{"tls_cert_fingerprint", RuleBuffer::kTlsFingerprint},
    OtherName{"tls_certs", RuleBuffer::kTlsCerts},
    OtherName{"ja3_hash", RuleBuffer::kJa3Hash},
    OtherName{"ja3_string", RuleBuffer::kJa3String},
    OtherName{"ja4_hash", RuleBuffer::kJa4},
    OtherName{"ssh_proto", RuleBuffer::kSshProtocol},
    OtherName{"ssh_software", RuleBuffer::kSshSoftware},
    OtherName{"http_accept", RuleBuffer::kHttpAccept},
    OtherName{"http_accept_enc", RuleBuffer::kHttpAcceptEncoding},
    OtherName{"http_accept_lang", RuleBuffer::kHttpAcceptLanguage},
    OtherName{"http_connection", RuleBuffer::kHttpConnection},
    OtherName{"http_content_len", RuleBuffer::kHttpContentLength},
    OtherName{"http_content_type", RuleBuffer::kHttpContentType},
    OtherName{"http_header_names", RuleBuffer::kHttpHeaderNames},
    OtherName{"http_protocol", RuleBuffer::kHttpProtocol},
    OtherName{"http_referer", RuleBuffer::kHttpReferer},
    OtherName{"http_request_line", RuleBuffer::kHttpRequestLine},
    OtherName{"http_response_line", RuleBuffer::kHttpResponseLine},
    OtherName{"http_start", RuleBuffer::kHttpStart},
    OtherName{"http_request_header", RuleBuffer::kHttpRequestHeader},
    OtherName{"http_response_header", RuleBuffer::kHttpResponseHeader},
};
/// Snort 3's, where every buffer is sticky. Those that are modifiers in Suricata stand in kTraits.
constexpr std::array kSnort3Names = {
    OtherName{"http_raw_cookie", RuleBuffer::kHttpCookie},
    OtherName{"http_version", RuleBuffer::kHttpProtocol},
    OtherName{"http_raw_request", RuleBuffer::kHttpRequestLine},
    OtherName{"http_raw_status", RuleBuffer::kHttpResponseLine},
    OtherName{"raw_data", RuleBuffer::kPayload},
};
// clang-format on

std::optional<RuleBuffer> find_other(std::string_view name,
                                     std::span<const OtherName> names) noexcept {
  const auto found = std::ranges::find(names, name, &OtherName::name);
  if (found == names.end()) return std::nullopt;
  return found->buffer;
}

std::optional<RuleBuffer> find_trait(std::string_view name,
                                     std::string_view RuleBufferTraits::*member) noexcept {
  if (name.empty()) return std::nullopt;
  const auto* const found = std::ranges::find(kTraits, name, member);
  if (found == kTraits.end()) return std::nullopt;
  return static_cast<RuleBuffer>(found - kTraits.begin());
}

}  // namespace

const RuleBufferTraits& traits_of(RuleBuffer buffer) noexcept {
  return kTraits.at(static_cast<std::size_t>(buffer));
}

std::optional<RuleBuffer> find_sticky_buffer(std::string_view name) noexcept {
  const auto found = find_trait(name, &RuleBufferTraits::name);
  return found ? found : find_other(name, kOtherNames);
}

std::optional<RuleBuffer> find_content_modifier(std::string_view name) noexcept {
  return find_trait(name, &RuleBufferTraits::old_name);
}

std::optional<RuleBuffer> find_snort3_buffer(std::string_view name) noexcept {
  if (const auto found = find_other(name, kSnort3Names)) return found;
  const auto found = find_content_modifier(name);
  return found ? found : find_sticky_buffer(name);
}

}  // namespace millrace
