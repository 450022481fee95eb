// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/app_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "services/events/base64.hpp"
#include "services/events/dns_json.hpp"
#include "services/events/event_json.hpp"
#include "services/events/json_line.hpp"
#include "shared/layout/event_text.hpp"

namespace millrace {
namespace {

using json_line::put_array;
using json_line::put_key;
using json_line::put_object;
using json_line::put_text;
using json_line::put_value;

constexpr std::size_t kFieldCount = static_cast<std::size_t>(EventField::kCount);
constexpr std::uint64_t kEthernet = 1;

struct NamedField {
  EventField field;
  const char* object;  ///< empty: a key of the line's own
  const char* key;
};
constexpr std::array<NamedField, kFieldCount> kNames = {{
    {EventField::kHttpHost, "http", "hostname"},
    {EventField::kHttpUrl, "http", "url"},
    {EventField::kHttpMethod, "http", "http_method"},
    {EventField::kHttpProtocol, "http", "protocol"},
    {EventField::kHttpStatus, "http", "status"},
    {EventField::kHttpUserAgent, "http", "http_user_agent"},
    {EventField::kHttpReferer, "http", "http_refer"},
    {EventField::kHttpContentType, "http", "http_content_type"},
    {EventField::kHttpLocation, "http", "redirect"},
    {EventField::kHttpPort, "http", "http_port"},
    {EventField::kHttpLength, "http", "length"},
    {EventField::kHttp2Stream, "http", "http2"},
    {EventField::kDnsHeader, "dns", "id"},
    {EventField::kDnsQuery, "dns", "rrname"},
    {EventField::kDnsAnswer, "dns", "answers"},
    {EventField::kTlsVersion, "tls", "version"},
    {EventField::kTlsServerName, "tls", "sni"},
    {EventField::kTlsSubject, "tls", "subject"},
    {EventField::kTlsIssuer, "tls", "issuerdn"},
    {EventField::kTlsSerial, "tls", "serial"},
    {EventField::kTlsFingerprint, "tls", "fingerprint"},
    {EventField::kTlsNotBefore, "tls", "notbefore"},
    {EventField::kTlsNotAfter, "tls", "notafter"},
    {EventField::kTlsJa3, "tls", "ja3"},
    {EventField::kTlsJa3String, "tls", "ja3.string"},
    {EventField::kTlsJa3s, "tls", "ja3s"},
    {EventField::kTlsJa3sString, "tls", "ja3s.string"},
    {EventField::kTlsJa4, "tls", "ja4"},
    {EventField::kSshClientProtocol, "ssh", "client.proto_version"},
    {EventField::kSshClientSoftware, "ssh", "client.software_version"},
    {EventField::kSshServerProtocol, "ssh", "server.proto_version"},
    {EventField::kSshServerSoftware, "ssh", "server.software_version"},
    {EventField::kSmtpHelo, "smtp", "helo"},
    {EventField::kSmtpFrom, "smtp", "mail_from"},
    {EventField::kSmtpRecipient, "smtp", "rcpt_to"},
    {EventField::kPayload, "", "payload"},
    {EventField::kPacket, "", "packet"},
    {EventField::kTunnel, "", "tunnel"},
}};
static_assert(std::ranges::is_sorted(kNames, {}, &NamedField::field));

const NamedField& name_of(EventField field) { return kNames[static_cast<std::size_t>(field)]; }

/// The fields of a text that have a value; of equal fields the first.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> text) {
    while (const auto field = next_field(text)) {
      if (field->is_cut && field->value.empty()) continue;
      auto& place = values_[static_cast<std::size_t>(field->field)];
      if (!place) place = *field;
    }
  }
  bool has(EventField field) const { return values_[static_cast<std::size_t>(field)].has_value(); }
  /// True when one of the fields [first, last] has a value.
  bool has_any(EventField first, EventField last) const {
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = values_.begin() + static_cast<std::ptrdiff_t>(last) + 1;
    return std::any_of(begin, end, [](const auto& value) { return value.has_value(); });
  }
  std::string_view text(EventField field) const {
    const auto& value = values_[static_cast<std::size_t>(field)];
    return value ? value->text() : std::string_view();
  }
  std::span<const std::byte> bytes(EventField field) const {
    return std::as_bytes(std::span(text(field)));
  }

 private:
  std::array<std::optional<EventFieldValue>, kFieldCount> values_;
};

void put_texts(const Fields& fields, std::initializer_list<EventField> list, std::string& out) {
  for (const EventField field : list) {
    if (fields.has(field)) put_text(name_of(field).key, fields.text(field), out);
  }
}

/// The number in `text`; nothing when it is no number or has too many digits.
std::optional<std::uint64_t> number_in(std::string_view text) {
  constexpr std::size_t kDigitsMax = 5;
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  if (text.empty() || text.size() > kDigitsMax) return std::nullopt;
  const auto [behind, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || behind != end) return std::nullopt;
  return number;
}

/// As Suricata tells a stream of HTTP/2 from HTTP/1.
void put_http2(const Fields& fields, std::string& out) {
  const auto value = fields.bytes(EventField::kHttp2Stream);
  std::uint32_t stream = 0;
  if (value.size() != sizeof stream) return;
  std::ranges::copy(value, std::as_writable_bytes(std::span(&stream, 1)).begin());
  put_text("version", "2", out);
  put_object("http2", out, [&] { put_value("stream_id", stream, out); });
}

void put_http(const Fields& fields, std::string& out) {
  put_object("http", out, [&] {
    put_texts(fields, {EventField::kHttpHost}, out);
    if (const auto port = number_in(fields.text(EventField::kHttpPort))) {
      put_value("http_port", *port, out);
    }
    put_texts(fields,
              {EventField::kHttpUrl, EventField::kHttpUserAgent, EventField::kHttpContentType,
               EventField::kHttpReferer, EventField::kHttpMethod, EventField::kHttpProtocol},
              out);
    if (fields.has(EventField::kHttpStatus)) {
      const std::string_view status = fields.text(EventField::kHttpStatus);
      if (const auto number = number_in(status)) {
        put_value("status", *number, out);
      } else {
        put_text("status_string", status, out);
      }
    }
    put_texts(fields, {EventField::kHttpLocation}, out);
    const auto length = fields.bytes(EventField::kHttpLength);
    std::uint64_t bytes = 0;
    if (length.size() == sizeof bytes) {
      std::ranges::copy(length, std::as_writable_bytes(std::span(&bytes, 1)).begin());
      put_value("length", bytes, out);
    }
    put_http2(fields, out);
  });
}

void put_pair(const char* object, const Fields& fields, std::array<EventField, 2> of,
              std::array<const char*, 2> keys, std::string& out) {
  if (!fields.has(of[0]) && !fields.has(of[1])) return;
  put_object(object, out, [&] {
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (fields.has(of[i])) put_text(keys[i], fields.text(of[i]), out);
    }
  });
}

void put_tls(const Fields& fields, std::string& out) {
  constexpr std::array kKeys = {"hash", "string"};
  put_object("tls", out, [&] {
    put_texts(fields,
              {EventField::kTlsSubject, EventField::kTlsIssuer, EventField::kTlsSerial,
               EventField::kTlsFingerprint, EventField::kTlsServerName, EventField::kTlsVersion,
               EventField::kTlsNotBefore, EventField::kTlsNotAfter},
              out);
    put_pair("ja3", fields, {EventField::kTlsJa3, EventField::kTlsJa3String}, kKeys, out);
    put_pair("ja3s", fields, {EventField::kTlsJa3s, EventField::kTlsJa3sString}, kKeys, out);
    put_texts(fields, {EventField::kTlsJa4}, out);
  });
}

void put_ssh(const Fields& fields, std::string& out) {
  constexpr std::array kKeys = {"proto_version", "software_version"};
  put_object("ssh", out, [&] {
    put_pair("client", fields, {EventField::kSshClientProtocol, EventField::kSshClientSoftware},
             kKeys, out);
    put_pair("server", fields, {EventField::kSshServerProtocol, EventField::kSshServerSoftware},
             kKeys, out);
  });
}

void put_smtp(const Fields& fields, std::span<const std::byte> text, std::string& out) {
  put_object("smtp", out, [&] {
    put_texts(fields, {EventField::kSmtpHelo, EventField::kSmtpFrom}, out);
    std::vector<std::string_view> recipients;
    while (const auto field = next_field(text)) {
      if (field->field == EventField::kSmtpRecipient) recipients.push_back(field->text());
    }
    if (!recipients.empty()) {
      put_key(name_of(EventField::kSmtpRecipient).key, out);
      put_array(recipients, out);
    }
  });
}

/// Adds `tunnel` as Suricata writes it: about the packet on the wire.
void put_tunnel(const Fields& fields, std::string& out) {
  EventTunnel tunnel{};
  const auto bytes = fields.bytes(EventField::kTunnel);
  if (bytes.size() != sizeof tunnel) return;
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(&tunnel, 1)).begin());
  if (tunnel.ip_version != 4 && tunnel.ip_version != 6) return;
  put_object("tunnel", out, [&] {
    json_line::put_ends(tunnel, true, out);
    put_value("depth", tunnel.depth, out);
  });
}

/// The text as Suricata prints it: a dot for each byte that is not printable; line ends stay.
std::string printable(std::string_view text) {
  std::string shown(text);
  std::ranges::replace_if(
      shown, [](char c) { return c != '\r' && c != '\n' && (c < ' ' || c > '~'); }, '.');
  return shown;
}

void put_bytes(const Fields& fields, std::string& out) {
  if (fields.has(EventField::kPayload)) {
    put_text("payload", base64_of(fields.bytes(EventField::kPayload)), out);
    put_text("payload_printable", printable(fields.text(EventField::kPayload)), out);
  }
  if (fields.has(EventField::kPacket)) {
    put_text("packet", base64_of(fields.bytes(EventField::kPacket)), out);
    put_object("packet_info", out, [&] { put_value("linktype", kEthernet, out); });
  }
}

}  // namespace

void put_fields(std::span<const std::byte> text, std::optional<std::uint64_t> transaction,
                std::string& out) {
  if (text.empty()) return;
  const Fields fields(text);
  if (fields.has_any(EventField::kHttpHost, EventField::kHttp2Stream)) put_http(fields, out);
  if (fields.has_any(EventField::kDnsHeader, EventField::kDnsAnswer)) {
    put_dns(text, transaction, out);
  }
  if (fields.has_any(EventField::kTlsVersion, EventField::kTlsJa4)) put_tls(fields, out);
  if (fields.has_any(EventField::kSshClientProtocol, EventField::kSshServerSoftware)) {
    put_ssh(fields, out);
  }
  if (fields.has_any(EventField::kSmtpHelo, EventField::kSmtpRecipient)) {
    put_smtp(fields, text, out);
  }
  if (fields.has(EventField::kTunnel)) put_tunnel(fields, out);
  put_bytes(fields, out);
}

void put_cut_fields(std::span<const std::byte> text, std::string& out) {
  std::vector<std::string> cut;
  while (const auto field = next_field(text)) {
    const NamedField& name = name_of(field->field);
    std::string whole = *name.object == 0 ? name.key : std::string(name.object) + '.' + name.key;
    if (field->is_cut && std::ranges::count(cut, whole) == 0) cut.push_back(std::move(whole));
  }
  if (cut.empty()) return;
  put_key("cut", out);
  put_array(cut, out);
}

}  // namespace millrace
