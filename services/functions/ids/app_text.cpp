// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/app_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "services/functions/ids/protocols/dns_message.hpp"
#include "services/functions/ids/protocols/dns_records.hpp"
#include "services/functions/ids/protocols/tls_certificate.hpp"

namespace millrace {
namespace {

constexpr std::uint8_t kClient = 0, kServer = 1;

/// The first value of a buffer; null: there is none.
const std::string* value_of(Transaction& transaction, std::uint8_t direction, RuleBuffer buffer) {
  const std::vector<BufferPart>& parts = transaction.parts(direction, buffer);
  return parts.empty() ? nullptr : &parts.front().bytes;
}

struct FieldOfBuffer {
  EventField field;
  std::uint8_t direction;
  RuleBuffer buffer;
};

void put_all(std::span<const FieldOfBuffer> fields, Transaction& transaction,
             EventTextWriter& text) {
  for (const FieldOfBuffer& one : fields) {
    const std::string* const value = value_of(transaction, one.direction, one.buffer);
    if (value != nullptr) text.put(one.field, *value, kAppValueBytesMax);
  }
}

/// What stands behind the colon of a host; empty: nothing does.
std::string_view port_of(std::string_view host) {
  const std::size_t bracket = host.find(']');
  const std::size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  return colon == std::string_view::npos ? std::string_view() : host.substr(colon + 1);
}

/// As Suricata has it: without parameters.
void put_content_type(Transaction& transaction, EventTextWriter& text) {
  const std::string* const type = value_of(transaction, kServer, RuleBuffer::kHttpContentType);
  if (type == nullptr) return;
  const std::string_view whole(*type);
  text.put(EventField::kHttpContentType, whole.substr(0, whole.find(';')), kAppValueBytesMax);
}

/// As Suricata has it: of 301 to 303.
void put_location(Transaction& transaction, EventTextWriter& text) {
  const std::string* const status = value_of(transaction, kServer, RuleBuffer::kHttpStatusCode);
  const std::string* const to = value_of(transaction, kServer, RuleBuffer::kHttpLocation);
  if (status == nullptr || to == nullptr) return;
  if (*status != "301" && *status != "302" && *status != "303") return;
  text.put(EventField::kHttpLocation, *to, kAppValueBytesMax);
}

/// As Suricata has it.
std::string name_of_version(const std::string& version) {
  if (version == "1.0") return "TLSv1";
  return version.starts_with("1.") ? "TLS " + version : version;
}

template <typename Number>
std::span<const std::byte> bytes_of(const Number& number) {
  return std::as_bytes(std::span(&number, 1));
}

}  // namespace

void put_http(Transaction& transaction, EventTextWriter& text) {
  static constexpr FieldOfBuffer kFields[] = {
      {EventField::kHttpMethod, kClient, RuleBuffer::kHttpMethod},
      {EventField::kHttpProtocol, kClient, RuleBuffer::kHttpProtocol},
      {EventField::kHttpStatus, kServer, RuleBuffer::kHttpStatusCode},
      {EventField::kHttpHost, kClient, RuleBuffer::kHttpHost},
      {EventField::kHttpUrl, kClient, RuleBuffer::kHttpRawUri},
      {EventField::kHttpUserAgent, kClient, RuleBuffer::kHttpUserAgent},
      {EventField::kHttpReferer, kClient, RuleBuffer::kHttpReferer}};
  if (transaction.is_complete(kServer)) {
    text.put(EventField::kHttpLength, bytes_of(transaction.body_bytes[kServer]),
             sizeof(std::uint64_t));
  }
  put_all(kFields, transaction, text);
  const std::string* const host = value_of(transaction, kClient, RuleBuffer::kHttpRawHost);
  const std::string_view port = host == nullptr ? std::string_view() : port_of(*host);
  if (!port.empty()) text.put(EventField::kHttpPort, port, kAppValueBytesMax);
  put_content_type(transaction, text);
  if (transaction.protocol() == AppProtocol::kHttp2) {
    text.put(EventField::kHttp2Stream, bytes_of(transaction.stream), sizeof transaction.stream);
  }
  put_location(transaction, text);
}

void put_tls(Transaction& transaction, EventTextWriter& text) {
  static constexpr FieldOfBuffer kFields[] = {
      {EventField::kTlsServerName, kClient, RuleBuffer::kTlsSni},
      {EventField::kTlsJa3, kClient, RuleBuffer::kJa3Hash},
      {EventField::kTlsJa3s, kServer, RuleBuffer::kJa3sHash},
      {EventField::kTlsJa4, kClient, RuleBuffer::kJa4},
      {EventField::kTlsSubject, kServer, RuleBuffer::kTlsSubject},
      {EventField::kTlsIssuer, kServer, RuleBuffer::kTlsIssuer},
      {EventField::kTlsSerial, kServer, RuleBuffer::kTlsSerial},
      {EventField::kTlsFingerprint, kServer, RuleBuffer::kTlsFingerprint},
      {EventField::kTlsJa3String, kClient, RuleBuffer::kJa3String},
      {EventField::kTlsJa3sString, kServer, RuleBuffer::kJa3sString}};
  const std::string* version = value_of(transaction, kServer, RuleBuffer::kTlsVersion);
  if (version == nullptr) version = value_of(transaction, kClient, RuleBuffer::kTlsVersion);
  if (version != nullptr) {
    const std::string name = name_of_version(*version);
    text.put(EventField::kTlsVersion, name, kAppValueBytesMax);
  }
  put_all(kFields, transaction, text);
  const std::string* const der = value_of(transaction, kServer, RuleBuffer::kTlsCerts);
  if (der == nullptr) return;
  if (const auto validity = certificate_validity(std::as_bytes(std::span(*der)))) {
    text.put(EventField::kTlsNotBefore, validity->from, kAppValueBytesMax);
    text.put(EventField::kTlsNotAfter, validity->until, kAppValueBytesMax);
  }
}

void put_ssh(Transaction& transaction, EventTextWriter& text) {
  static constexpr FieldOfBuffer kFields[] = {
      {EventField::kSshClientProtocol, kClient, RuleBuffer::kSshProtocol},
      {EventField::kSshClientSoftware, kClient, RuleBuffer::kSshSoftware},
      {EventField::kSshServerProtocol, kServer, RuleBuffer::kSshProtocol},
      {EventField::kSshServerSoftware, kServer, RuleBuffer::kSshSoftware}};
  put_all(kFields, transaction, text);
}

void put_smtp(Transaction& transaction, EventTextWriter& text) {
  const MailEnvelope& mail = transaction.envelope;
  if (!mail.helo.empty()) text.put(EventField::kSmtpHelo, mail.helo, kAppValueBytesMax);
  if (!mail.from.empty()) text.put(EventField::kSmtpFrom, mail.from, kAppValueBytesMax);
  for (const std::string& recipient : mail.recipients) {
    text.put(EventField::kSmtpRecipient, recipient, kAppValueBytesMax);
  }
}

bool put_dns(std::span<const std::byte> message, std::size_t question, EventTextWriter& text) {
  if (message.size() < kDnsHeaderBytes) return false;
  const DnsContents contents = dns_contents(message);
  constexpr std::uint16_t kAnswer = 0x8000;
  const bool is_answer = (contents.flags & kAnswer) != 0;
  if (question >= std::max<std::size_t>(contents.questions.size(), is_answer ? 1 : 0)) return false;
  const std::array<std::uint16_t, 2> header{contents.id, contents.flags};
  text.put(EventField::kDnsHeader, bytes_of(header), sizeof header);
  if (question < contents.questions.size()) {
    const DnsQuestion& asked = contents.questions[question];
    text.put(EventField::kDnsQuery, bytes_of(asked.type), std::as_bytes(std::span(asked.name)),
             kAppValueBytesMax);
  }
  if (!is_answer) return true;
  for (const DnsRecord& record : contents.answers) {
    const std::string name = record.name.substr(0, kAppValueBytesMax);
    const EventDnsAnswer front{.ttl_s = record.ttl_s,
                               .type = record.type,
                               .name_bytes = static_cast<std::uint16_t>(name.size())};
    const std::string value = name + record.data;
    text.put(EventField::kDnsAnswer, bytes_of(front), std::as_bytes(std::span(value)),
             2 * kAppValueBytesMax);
  }
  return true;
}

}  // namespace millrace
