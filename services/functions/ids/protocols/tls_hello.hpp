// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The Hello messages of TLS (RFC 8446 4.1, RFC 5246 7.4.1). Lists are in the order of the message,
/// with what GREASE (RFC 8701) brings.

namespace millrace {

struct TlsClientHello {
  std::uint16_t version = 0;  ///< of the message itself: 0x0303 of TLS 1.2 and 1.3
  std::vector<std::uint16_t> ciphers, extensions;
  std::vector<std::uint16_t> groups, versions, signature_algorithms;  ///< that extensions list
  std::vector<std::uint8_t> point_formats;
  std::string server_name;  ///< empty: there is none
  std::string first_alpn;   ///< application protocol; empty: there is none
  bool is_whole = true;     ///< no list of it is cut
};

struct TlsServerHello {
  std::uint16_t version = 0;  ///< of the message itself
  std::uint16_t cipher = 0;
  std::vector<std::uint16_t> extensions;
  std::uint16_t selected_version = 0;  ///< by the extension of TLS 1.3; 0: there is none
  bool is_retry = false;               ///< it asks for another ClientHello (RFC 8446 4.1.4)
  bool is_whole = true;
};

/// `body`: the handshake message behind its length. Of one that is cut or malformed, what is in
/// front of that. Throws std::bad_alloc.
TlsClientHello parse_client_hello(std::span<const std::byte> body);
TlsServerHello parse_server_hello(std::span<const std::byte> body);

/// Values that senders add lest receivers rely on their absence.
constexpr bool is_grease(std::uint16_t value) noexcept {
  return (value & 0x0f0f) == 0x0a0a && value >> 8 == (value & 0xff);
}

/// The version that the client would like best, or that the server chose.
std::uint16_t version_of(const TlsClientHello& hello) noexcept;
std::uint16_t version_of(const TlsServerHello& hello) noexcept;
/// "1.2"; "SSLv3"; others as "0x7f12".
std::string tls_version_name(std::uint16_t version);

}  // namespace millrace
