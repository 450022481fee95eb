// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/tls_fingerprint.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

#include "shared/base/ascii.hpp"

namespace millrace {
namespace {

constexpr std::uint16_t kServerName = 0, kAlpn = 16;  // extensions
constexpr std::size_t kHashLetters = 12;
constexpr std::string_view kNoHash = "000000000000";
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::vector<std::uint16_t> without_grease(std::span<const std::uint16_t> numbers) {
  std::vector<std::uint16_t> kept;
  std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(kept),
               [](std::uint16_t number) { return !is_grease(number); });
  return kept;
}

template <typename Number>
std::string joined(std::span<const Number> numbers) {
  std::string text;
  for (const Number number : numbers) {
    if (is_grease(number)) continue;
    if (!text.empty()) text += '-';
    text += std::to_string(number);
  }
  return text;
}

std::string joined_hex(std::span<const std::uint16_t> numbers) {
  std::string text;
  for (const std::uint16_t number : numbers) {
    char digits[sizeof ",0000"];
    std::snprintf(digits, sizeof digits, ",%04x", number);
    text += text.empty() ? digits + 1 : digits;
  }
  return text;
}

std::string two_digits(std::size_t count) {
  const std::size_t shown = std::min<std::size_t>(count, 99);
  return {static_cast<char>('0' + shown / 10), static_cast<char>('0' + shown % 10)};
}

std::string_view ja4_version(const TlsClientHello& hello) {
  const std::vector<std::uint16_t> offered = without_grease(hello.versions);
  const auto best = std::max_element(offered.begin(), offered.end());
  switch (best != offered.end() ? *best : hello.version) {
    case 0x0304:
      return "13";
    case 0x0303:
      return "12";
    case 0x0302:
      return "11";
    case 0x0301:
      return "10";
    case 0x0300:
      return "s3";
    case 0x0002:
      return "s2";
    default:
      return "00";
  }
}

/// Its first and last letter, or of its bytes in hex where one of them is neither letter nor digit.
std::string ja4_alpn(std::string_view protocol) {
  if (protocol.empty()) return "00";
  const char first = protocol.front(), last = protocol.back();
  if (is_ascii_alnum(first) && is_ascii_alnum(last)) return {first, last};
  return {kHexDigits[static_cast<std::uint8_t>(first) >> 4],
          kHexDigits[static_cast<std::uint8_t>(last) & 0xf]};
}

std::string ja4_hash(const std::string& text) {
  return hex_digest(HexDigest::kSha256, text).substr(0, kHashLetters);
}

std::string ja4_extensions(std::vector<std::uint16_t> extensions, const TlsClientHello& hello) {
  std::erase_if(extensions,
                [](std::uint16_t type) { return type == kServerName || type == kAlpn; });
  if (extensions.empty()) return std::string(kNoHash);
  std::sort(extensions.begin(), extensions.end());
  std::string text = joined_hex(extensions);
  const std::vector<std::uint16_t> algorithms = without_grease(hello.signature_algorithms);
  if (!algorithms.empty()) text += '_' + joined_hex(algorithms);
  return ja4_hash(text);
}

}  // namespace

std::string ja3_of(const TlsClientHello& hello) {
  return std::to_string(hello.version) + ',' + joined<std::uint16_t>(hello.ciphers) + ',' +
         joined<std::uint16_t>(hello.extensions) + ',' + joined<std::uint16_t>(hello.groups) + ',' +
         joined<std::uint8_t>(hello.point_formats);
}

std::string ja3_of(const TlsServerHello& hello) {
  return std::to_string(hello.version) + ',' + std::to_string(hello.cipher) + ',' +
         joined<std::uint16_t>(hello.extensions);
}

std::string ja4_of(const TlsClientHello& hello) {
  std::vector<std::uint16_t> ciphers = without_grease(hello.ciphers);
  const std::vector<std::uint16_t> extensions = without_grease(hello.extensions);
  const bool has_name = std::count(extensions.begin(), extensions.end(), kServerName) > 0;
  std::string text = "t";
  text += ja4_version(hello);
  text += has_name ? 'd' : 'i';
  text += two_digits(ciphers.size()) + two_digits(extensions.size()) + ja4_alpn(hello.first_alpn);
  std::sort(ciphers.begin(), ciphers.end());
  const std::string of_ciphers =
      ciphers.empty() ? std::string(kNoHash) : ja4_hash(joined_hex(ciphers));
  const std::string of_extensions = ja4_extensions(extensions, hello);
  if (of_ciphers.empty() || of_extensions.empty()) return {};
  return text + '_' + of_ciphers + '_' + of_extensions;
}

std::string hex_digest(HexDigest kind, std::string_view bytes) {
  const EVP_MD* const method = kind == HexDigest::kMd5    ? EVP_md5()
                               : kind == HexDigest::kSha1 ? EVP_sha1()
                                                          : EVP_sha256();
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, method, nullptr) != 1) return {};
  std::string text;
  for (const std::uint8_t byte : std::span(digest).first(size)) {
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 0xf];
  }
  return text;
}

}  // namespace millrace
