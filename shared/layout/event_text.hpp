// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "shared/layout/event_record.hpp"

/// The text of an event, for data longer than a record: a list of fields, each
///
///     field (1 byte) | bytes of the value (15 bits, low byte first); top bit: it is cut | value
///
/// It lies in records of kText behind the event's own. All of them are published by one store.

namespace millrace {

/// Records of text behind one event, at most, and bytes in each.
inline constexpr std::uint8_t kEventTextsMax = 16;
inline constexpr std::size_t kEventTextFrontBytes = 56, kEventTextBackBytes = 68;
inline constexpr std::size_t kEventTextBytes = kEventTextFrontBytes + kEventTextBackBytes;
inline constexpr std::size_t kEventTextBytesMax = kEventTextsMax * kEventTextBytes;
inline constexpr std::uint32_t kEventLineRecordsMax = 1 + kEventTextsMax;

/// A record of kText: its kind is where an EventRecord has it.
struct alignas(kCacheLine) EventText {
  std::array<std::byte, kEventTextFrontBytes> front;
  EventKind kind;
  std::uint8_t place;  ///< among the event's records of text, from 0
  std::uint8_t bytes;  ///< of text in it: all but the last record are full
  std::uint8_t padding;
  std::array<std::byte, kEventTextBackBytes> back;  ///< go on behind `front`
};
static_assert(sizeof(EventText) == sizeof(EventRecord) && std::is_trivially_copyable_v<EventText>);
static_assert(offsetof(EventText, kind) == offsetof(EventRecord, kind));
static_assert(offsetof(EventText, place) == 57 && offsetof(EventText, bytes) == 58);
static_assert(offsetof(EventText, back) == 60 && kEventTextBytes <= UINT8_MAX);

/// Numbers are of the host's byte order. Texts are as the network had them: any bytes.
enum class EventField : std::uint8_t {
  kHttpHost,
  kHttpUrl,
  kHttpMethod,
  kHttpProtocol,
  kHttpStatus,  ///< text
  kHttpUserAgent,
  kHttpReferer,
  kHttpContentType,
  kHttpLocation,
  kHttpPort,     ///< text: of the request's host
  kHttpLength,   ///< std::uint64_t: bytes of the response's body
  kHttp2Stream,  ///< std::uint32_t: of HTTP/2 alone
  kDnsHeader,    ///< id, flags: std::uint16_t each
  kDnsQuery,     ///< its type: std::uint16_t; the name
  kDnsAnswer,    ///< EventDnsAnswer; the name; the data as text
  kTlsVersion,
  kTlsServerName,
  kTlsSubject,
  kTlsIssuer,
  kTlsSerial,
  kTlsFingerprint,
  kTlsNotBefore,  ///< "2026-11-27T12:00:00"
  kTlsNotAfter,
  kTlsJa3,
  kTlsJa3String,
  kTlsJa3s,
  kTlsJa3sString,
  kTlsJa4,
  kSshClientProtocol,
  kSshClientSoftware,
  kSshServerProtocol,
  kSshServerSoftware,
  kSmtpHelo,
  kSmtpFrom,
  kSmtpRecipient,  ///< one of several
  kPayload,  ///< of an alert: bytes that the packet carries, or those of the stream that it brings
  kPacket,   ///< of an alert: the frame
  kTunnel,   ///< EventTunnel: of an alert about what the packet carries
  kCount
};
/// The head of kDnsAnswer, in front of the name.
struct EventDnsAnswer {
  std::uint32_t ttl_s;
  std::uint16_t type;
  std::uint16_t name_bytes;
};
static_assert(sizeof(EventDnsAnswer) == 8 && offsetof(EventDnsAnswer, type) == 4);

/// The outer packet, which carries the packet of a record.
struct EventTunnel {
  std::array<std::uint8_t, 16> source, destination;  ///< as in EventRecord
  std::uint16_t source_port, destination_port;       ///< 0: its protocol has none
  std::uint8_t ip_version, protocol;
  std::uint8_t depth;  ///< packets around what the record is about, 1..
  std::uint8_t padding;
};
static_assert(sizeof(EventTunnel) == 40 && offsetof(EventTunnel, source_port) == 32);
static_assert(offsetof(EventTunnel, ip_version) == 36 && offsetof(EventTunnel, depth) == 38);

/// The number of records that `text` takes.
constexpr std::uint8_t texts_for(std::span<const std::byte> text) noexcept {
  const std::size_t bytes = std::min(text.size(), kEventTextBytesMax);
  return static_cast<std::uint8_t>((bytes + kEventTextBytes - 1) / kEventTextBytes);
}
/// Record number `place` of `text`.
EventRecord text_record(std::span<const std::byte> text, std::uint8_t place) noexcept;

/// Puts a text together. Some 2 KB; allocates nothing.
class EventTextWriter {
 public:
  /// Of a value no more than `value_max` bytes are kept, and no more than there is room for; of
  /// one without any room its name alone, as cut, or not even that.
  void put(EventField field, std::span<const std::byte> value, std::size_t value_max) noexcept {
    put(field, {}, value, value_max);
  }
  void put(EventField field, std::string_view value, std::size_t value_max) noexcept {
    put(field, {}, std::as_bytes(std::span(value)), value_max);
  }
  /// `front` is a part of the value that is never cut.
  void put(EventField field, std::span<const std::byte> front, std::span<const std::byte> value,
           std::size_t value_max) noexcept;
  /// Adds the fields of another text; without room for all of it, as if put one by one.
  void put_text(std::span<const std::byte> text) noexcept;
  std::span<const std::byte> bytes() const noexcept { return std::span(bytes_).first(size_); }
  bool empty() const noexcept { return size_ == 0; }
  void clear() noexcept { size_ = 0; }

 private:
  std::array<std::byte, kEventTextBytesMax> bytes_;
  std::size_t size_ = 0;
};

struct EventFieldValue {
  EventField field;
  bool is_cut;
  std::span<const std::byte> value;

  std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(value.data()), value.size()};
  }
};
/// Takes the next field off `text`. Nothing: `text` is empty, or does not begin with a whole field.
std::optional<EventFieldValue> next_field(std::span<const std::byte>& text) noexcept;

/// An event with its text, for a consumer.
struct EventLine {
  EventRecord record;
  std::array<std::byte, kEventTextBytesMax> text_bytes;
  std::size_t text_size;
  bool is_whole;  ///< false: the record is of no line that makes sense, and is passed over alone

  std::span<const std::byte> text() const noexcept {
    return std::span(text_bytes).first(text_size);
  }
};

/// Takes the next line off `records`, one or more; they are another process's, and hold anything.
void next_line(std::span<const EventRecord>& records, EventLine& line) noexcept;
/// The number of records that belong to lines which end among them, or to no line.
std::uint32_t whole_lines(std::span<const EventRecord> records) noexcept;

}  // namespace millrace
