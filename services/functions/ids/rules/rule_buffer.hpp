// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// What rules may look at, by the name of Suricata's sticky buffer.

namespace millrace {

enum class RuleBuffer : std::uint8_t {
  kPayload,  ///< of a packet, or the stream of a TCP direction

  // HTTP requests.
  kHttpMethod,
  kHttpUri,      ///< normalised
  kHttpRawUri,   ///< as it was sent
  kHttpHost,     ///< normalised: lower case, without the port
  kHttpRawHost,  ///< as it was sent
  kHttpUserAgent,
  kHttpReferer,
  kHttpAccept,
  kHttpAcceptEncoding,
  kHttpAcceptLanguage,
  kHttpRequestLine,
  kHttpRequestBody,
  // HTTP responses.
  kHttpStatusCode,
  kHttpStatusMessage,
  kHttpLocation,
  kHttpServer,
  kHttpResponseLine,
  kHttpResponseBody,  ///< decompressed
  // HTTP, of the direction that the rule's `flow` names.
  kHttpHeader,     ///< all headers but the cookie, normalised: "Name: value\r\n" each
  kHttpRawHeader,  ///< as they were sent, with the empty line
  kHttpHeaderNames,
  kHttpCookie,
  kHttpProtocol,
  kHttpStart,
  kHttpConnection,
  kHttpContentLength,
  kHttpContentType,
  kHttpRequestHeader,   ///< each header by itself: "name: value"
  kHttpResponseHeader,  ///< likewise
  kFileData,            ///< bodies, of either direction
  kFileName,

  kDnsQuery,  ///< each name that is asked for, without length bytes

  kTlsSni,
  kTlsVersion,  ///< "1.2", for `tls.version`
  kTlsSubject,
  kTlsIssuer,
  kTlsSerial,
  kTlsFingerprint,
  kTlsCerts,  ///< each certificate (DER)
  kJa3Hash,
  kJa3String,
  kJa3sHash,
  kJa3sString,
  kJa4,

  kSshProtocol,  ///< "2.0"
  kSshSoftware,

  // HTTP/2, of either direction; numbers are in network order.
  kHttp2HeaderName,  ///< each name of a header
  kHttp2FrameType,   ///< each type of frame that there was, 1 byte
  kHttp2ErrorCode,   ///< each of RST_STREAM and GOAWAY, 4 bytes
  kHttp2Priority,    ///< each weight, less one, as it is sent, 1 byte
  kHttp2Window,      ///< each increment, 4 bytes
  kHttp2SizeUpdate,  ///< each size of a table of headers, 4 bytes
  kHttp2Setting,     ///< each: 2 bytes of identifier, 4 of value

  kAppEvent,    ///< each event of a parser, by its name: of `app-layer-event` (app_events.hpp)
  kBase64Data,  ///< what base64_decode makes; of a draft alone: its tests go to the Base64Decode
  kCount
};
inline constexpr std::size_t kRuleBufferCount = static_cast<std::size_t>(RuleBuffer::kCount);

/// What carries a buffer.
enum class BufferOwner : std::uint8_t { kPayload, kHttp, kDns, kTls, kSsh, kHttp2 };

struct RuleBufferTraits {
  std::string_view name;      ///< the sticky buffer: "http.uri"
  std::string_view old_name;  ///< the modifier of a content: "http_uri"; empty: there is none
  BufferOwner owner;
  bool of_request, of_response;  ///< which directions have it
  bool grows;                    ///< it comes in pieces: a body
  bool many;                     ///< a transaction may have several, each looked at by itself
};

/// By place of RuleBuffer.
const RuleBufferTraits& traits_of(RuleBuffer buffer) noexcept;
/// By its name, or one of its other names (`file_data`, `ja3_hash`, `tls_sni`, ...).
std::optional<RuleBuffer> find_sticky_buffer(std::string_view name) noexcept;
/// By the name of a modifier of contents in front of it: `http_uri`.
std::optional<RuleBuffer> find_content_modifier(std::string_view name) noexcept;
/// By its name in Snort 3, where all of them are sticky: `http_uri`, `http_version`, `raw_data`,
/// and those that find_sticky_buffer() knows.
std::optional<RuleBuffer> find_snort3_buffer(std::string_view name) noexcept;

}  // namespace millrace
