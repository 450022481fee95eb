// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/tls_hello.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

#include "services/functions/ids/protocols/wire_cursor.hpp"

namespace millrace {
namespace {

constexpr std::size_t kRandomBytes = 32;
/// The random of a HelloRetryRequest.
constexpr std::array<std::uint8_t, kRandomBytes> kRetry = {
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};
constexpr std::uint16_t kSsl3 = 0x0300, kTls10 = 0x0301, kTls13 = 0x0304;
constexpr std::uint16_t kTls13DraftMin = 0x7f00, kTls13DraftMax = 0x7fff;

/// Extensions (IANA, TLS ExtensionType Values).
constexpr std::uint16_t kServerName = 0, kSupportedGroups = 10, kPointFormats = 11,
                        kSignatureAlgorithms = 13, kAlpn = 16, kSupportedVersions = 43;

/// Numbers until the end of `list`. False: it is cut.
bool read_numbers(WireCursor list, std::vector<std::uint16_t>& numbers) {
  while (!list.is_empty()) {
    const std::uint16_t number = list.u16();
    if (!list.is_whole()) return false;
    numbers.push_back(number);
  }
  return true;
}

/// A list of names with their types, of which type 0 is a host's (RFC 6066 3).
bool read_server_name(WireCursor extension, TlsClientHello& hello) {
  WireCursor list(extension.take(extension.u16()));
  while (!list.is_empty()) {
    const std::uint8_t type = list.u8();
    const auto name = list.take(list.u16());
    if (type == 0 && hello.server_name.empty()) hello.server_name = text_of(name);
  }
  return extension.is_whole() && list.is_whole();
}

bool read_alpn(WireCursor extension, TlsClientHello& hello) {
  WireCursor list(extension.take(extension.u16()));
  const auto first = list.take(list.u8());
  if (hello.first_alpn.empty()) hello.first_alpn = text_of(first);
  return extension.is_whole() && list.is_whole();
}

bool read_extension(std::uint16_t type, WireCursor extension, TlsClientHello& hello) {
  switch (type) {
    case kServerName:
      return read_server_name(extension, hello);
    case kSupportedGroups: {
      const WireCursor list(extension.take(extension.u16()));
      return read_numbers(list, hello.groups) && extension.is_whole();
    }
    case kPointFormats: {
      for (const std::byte format : extension.take(extension.u8())) {
        hello.point_formats.push_back(std::to_integer<std::uint8_t>(format));
      }
      return extension.is_whole();
    }
    case kSignatureAlgorithms: {
      const WireCursor list(extension.take(extension.u16()));
      return read_numbers(list, hello.signature_algorithms) && extension.is_whole();
    }
    case kAlpn:
      return read_alpn(extension, hello);
    case kSupportedVersions: {
      const WireCursor list(extension.take(extension.u8()));
      return read_numbers(list, hello.versions) && extension.is_whole();
    }
    default:
      return true;
  }
}

bool is_version(std::uint16_t version) noexcept {
  return (version >= kSsl3 && version <= kTls13) ||
         (version >= kTls13DraftMin && version <= kTls13DraftMax);
}

}  // namespace

TlsClientHello parse_client_hello(std::span<const std::byte> body) {
  TlsClientHello hello;
  WireCursor cursor(body);
  hello.version = cursor.u16();
  cursor.take(kRandomBytes);
  cursor.take(cursor.u8());  // session
  hello.is_whole = read_numbers(WireCursor(cursor.take(cursor.u16())), hello.ciphers);
  cursor.take(cursor.u8());  // compression methods
  if (cursor.is_empty()) {
    hello.is_whole = hello.is_whole && cursor.is_whole();
    return hello;
  }
  WireCursor extensions(cursor.take(cursor.u16()));
  while (!extensions.is_empty()) {
    const std::uint16_t type = extensions.u16();
    const WireCursor extension(extensions.take(extensions.u16()));
    hello.extensions.push_back(type);
    if (!read_extension(type, extension, hello)) hello.is_whole = false;
  }
  hello.is_whole = hello.is_whole && extensions.is_whole() && cursor.is_whole();
  return hello;
}

TlsServerHello parse_server_hello(std::span<const std::byte> body) {
  TlsServerHello hello;
  WireCursor cursor(body);
  hello.version = cursor.u16();
  hello.is_retry = std::ranges::equal(cursor.take(kRandomBytes), std::as_bytes(std::span{kRetry}));
  cursor.take(cursor.u8());  // session
  hello.cipher = cursor.u16();
  cursor.u8();  // compression method
  WireCursor extensions(cursor.is_empty() ? std::span<const std::byte>{}
                                          : cursor.take(cursor.u16()));
  while (!extensions.is_empty()) {
    const std::uint16_t type = extensions.u16();
    WireCursor extension(extensions.take(extensions.u16()));
    hello.extensions.push_back(type);
    if (type == kSupportedVersions) hello.selected_version = extension.u16();
  }
  hello.is_whole = extensions.is_whole() && cursor.is_whole();
  return hello;
}

std::uint16_t version_of(const TlsClientHello& hello) noexcept {
  const auto best = std::find_if(hello.versions.begin(), hello.versions.end(), is_version);
  return best != hello.versions.end() ? *best : hello.version;
}

std::uint16_t version_of(const TlsServerHello& hello) noexcept {
  return is_version(hello.selected_version) ? hello.selected_version : hello.version;
}

std::string tls_version_name(std::uint16_t version) {
  if (version == kSsl3) return "SSLv3";
  if (version >= kTls10 && version <= kTls13) return "1." + std::to_string(version - kTls10);
  char text[sizeof "0x0000"];
  std::snprintf(text, sizeof text, "0x%04x", version);
  return text;
}

}  // namespace millrace
