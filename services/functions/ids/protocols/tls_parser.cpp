// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/tls_parser.hpp"

#include <algorithm>
#include <utility>

#include "services/functions/ids/protocols/tls_certificate.hpp"
#include "services/functions/ids/protocols/tls_fingerprint.hpp"
#include "services/functions/ids/protocols/tls_hello.hpp"
#include "services/functions/ids/protocols/wire_cursor.hpp"

namespace millrace {
namespace {

constexpr std::uint8_t kClient = 0, kServer = 1;

/// Types of records (RFC 8446 5.1, RFC 6520) and of messages of the handshake.
enum : std::uint8_t {
  kChangeCipherSpec = 20,
  kAlert = 21,
  kHandshake = 22,
  kApplicationData = 23,
  kHeartbeat = 24,
};
enum : std::uint8_t { kClientHello = 1, kServerHello = 2, kCertificate = 11 };

constexpr std::uint8_t kMajorVersion = 3;
constexpr std::size_t kRecordBytesMax = (1u << 14) + 2048;  // RFC 5246 6.2.3
constexpr std::size_t kMessageHeaderBytes = 4;

}  // namespace

TlsParser::TlsParser(const AppLimits& limits, std::uint64_t transactions)
    : handshake_bytes_max_(limits.header_bytes) {
  for (Side& side : sides_) side.is_through = transactions > 0;
}

void TlsParser::read(std::uint8_t direction, std::span<const std::byte> bytes,
                     TransactionSink& sink) {
  Side& side = sides_[direction];
  side.bytes += bytes.size();
  while (!bytes.empty() && !side.is_through) bytes = bytes.subspan(read_some(direction, bytes));
  if (std::exchange(side.has_news, false)) sink.on_news(transaction_, direction);
}

void TlsParser::end(std::uint8_t direction, TransactionSink& sink) {
  finish(direction, false);
  if (std::exchange(sides_[direction].has_news, false)) sink.on_news(transaction_, direction);
}

/// Returns how many bytes it has read, at least one.
std::size_t TlsParser::read_some(std::uint8_t direction, std::span<const std::byte> bytes) {
  Side& side = sides_[direction];
  if (side.record_rest == 0) {
    side.header[side.header_bytes++] = bytes[0];
    if (side.header_bytes == kRecordHeaderBytes) begin_record(direction);
    return 1;
  }
  const std::size_t size = std::min(side.record_rest, bytes.size());
  side.record_rest -= size;
  if (wire_bytes::u8(side.header, 0) == kHandshake) read_handshake(direction, bytes.first(size));
  return size;
}

void TlsParser::begin_record(std::uint8_t direction) {
  Side& side = sides_[direction];
  side.header_bytes = 0;
  side.record_rest = wire_bytes::u16(side.header, 3);
  if (direction == kClient && side.has_hello) passed_over_ += kRecordHeaderBytes + side.record_rest;
  if (wire_bytes::u8(side.header, 1) != kMajorVersion || side.record_rest > kRecordBytesMax) {
    return finish(direction, true);
  }
  switch (wire_bytes::u8(side.header, 0)) {
    case kHandshake:
    case kAlert:
    case kHeartbeat:
      return;
    case kChangeCipherSpec:  // in front of a Hello it says nothing
      if (side.has_hello && !may_say_hello_again(direction)) finish(direction, false);
      return;
    case kApplicationData:  // early ones, which a server that asks again passes over
      if (may_say_hello_again(direction)) return;
      [[fallthrough]];
    default:
      finish(direction, !side.has_hello);
  }
}

void TlsParser::read_handshake(std::uint8_t direction, std::span<const std::byte> bytes) {
  Side& side = sides_[direction];
  while (!bytes.empty() && !side.is_through) {
    std::size_t size = kMessageHeaderBytes;
    const auto header = std::as_bytes(std::span{side.message});
    if (header.size() >= size) size += WireCursor(header.subspan(1)).u24();
    const std::size_t room = handshake_bytes_max_ - side.handshake_bytes;
    if (room == 0) return finish(direction, true);
    const std::size_t taken = std::min({size - header.size(), bytes.size(), room});
    side.message.append(text_of(bytes.first(taken)));
    side.handshake_bytes += taken;
    bytes = bytes.subspan(taken);
    if (side.message.size() < kMessageHeaderBytes) continue;
    const auto message = std::as_bytes(std::span{side.message});
    if (message.size() < kMessageHeaderBytes + WireCursor(message.subspan(1)).u24()) continue;
    tell_message(direction);
    side.message.clear();
  }
}

/// The message is whole, or nothing follows.
void TlsParser::tell_message(std::uint8_t direction) {
  Side& side = sides_[direction];
  const auto message = std::as_bytes(std::span{side.message});
  if (message.size() < kMessageHeaderBytes + sizeof(std::uint16_t)) return;
  const auto body = message.subspan(kMessageHeaderBytes);
  const std::uint8_t type = wire_bytes::u8(message, 0);
  if (type == kCertificate && !std::exchange(side.has_certificates, true)) {
    tell_certificates(direction, body);
  }
  if (type != (direction == kClient ? kClientHello : kServerHello)) return;
  const bool is_next = std::exchange(side.has_hello, true);
  if (direction == kServer) {
    if (!is_next) tell_server_hello(body);
  } else if (is_next) {
    tell_next_hello(body);
  } else {
    tell_client_hello(body);
  }
}

/// A client of TLS 1.3 may know that its server will ask again, and not wait for that.
bool TlsParser::may_say_hello_again(std::uint8_t direction) const noexcept {
  const bool is_client = direction == kClient && sides_[kClient].has_hello;
  return is_client && passed_over_ < handshake_bytes_max_ &&
         (is_asked_again_ || !sides_[kServer].has_hello);
}

/// Of a Hello behind the first one servers read the name anew (RFC 8446 4.1.2 asks for the same).
void TlsParser::tell_next_hello(std::span<const std::byte> body) {
  is_asked_again_ = false;
  const TlsClientHello hello = parse_client_hello(body);
  if (hello.server_name == server_name_) return;
  server_name_ = hello.server_name;
  put(kClient, RuleBuffer::kTlsSni, hello.server_name);
}

void TlsParser::tell_client_hello(std::span<const std::byte> body) {
  const TlsClientHello hello = parse_client_hello(body);
  put(kClient, RuleBuffer::kTlsVersion, tls_version_name(version_of(hello)));
  server_name_ = hello.server_name;
  put(kClient, RuleBuffer::kTlsSni, hello.server_name);
  if (!hello.is_whole) return;
  const std::string ja3 = ja3_of(hello);
  put(kClient, RuleBuffer::kJa3String, ja3);
  put(kClient, RuleBuffer::kJa3Hash, hex_digest(HexDigest::kMd5, ja3));
  put(kClient, RuleBuffer::kJa4, ja4_of(hello));
}

void TlsParser::tell_server_hello(std::span<const std::byte> body) {
  const TlsServerHello hello = parse_server_hello(body);
  is_asked_again_ = hello.is_retry;
  put(kServer, RuleBuffer::kTlsVersion, tls_version_name(version_of(hello)));
  if (!hello.is_whole) return;
  const std::string ja3 = ja3_of(hello);
  put(kServer, RuleBuffer::kJa3sString, ja3);
  put(kServer, RuleBuffer::kJa3sHash, hex_digest(HexDigest::kMd5, ja3));
}

void TlsParser::tell_certificates(std::uint8_t direction, std::span<const std::byte> body) {
  const auto certificates = certificates_of(body);
  for (const auto der : certificates) put(direction, RuleBuffer::kTlsCerts, text_of(der));
  if (certificates.empty()) return;
  put(direction, RuleBuffer::kTlsFingerprint, certificate_fingerprint(certificates[0]));
  const auto text = certificate_text(certificates[0]);
  if (!text) return;
  put(direction, RuleBuffer::kTlsSubject, text->subject);
  put(direction, RuleBuffer::kTlsIssuer, text->issuer);
  put(direction, RuleBuffer::kTlsSerial, text->serial);
}

/// A text that is empty is not there.
void TlsParser::put(std::uint8_t direction, RuleBuffer buffer, std::string_view bytes) {
  if (bytes.empty()) return;
  transaction_.put(direction, buffer, bytes);
  sides_[direction].has_news = true;
}

void TlsParser::finish(std::uint8_t direction, bool is_broken) {
  Side& side = sides_[direction];
  if (std::exchange(side.is_through, true)) return;
  side.is_broken = is_broken;
  tell_message(direction);
  side.message = {};
  if (direction == kClient) server_name_ = {};
  transaction_.complete(direction);
  side.has_news = true;
}

}  // namespace millrace
