// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/tls_certificate.hpp"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/x509.h>

#include <array>
#include <ctime>
#include <memory>

#include "services/functions/ids/protocols/tls_fingerprint.hpp"
#include "services/functions/ids/protocols/wire_cursor.hpp"

namespace millrace {
namespace {

template <auto Free>
struct Freed {
  template <typename Type>
  void operator()(Type* value) const noexcept {
    Free(value);
  }
};
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;

constexpr std::string_view kUpperDigits = "0123456789ABCDEF";

std::string upper_hex(std::span<const std::byte> bytes, bool has_colons) {
  std::string text;
  for (const std::byte byte : bytes) {
    if (has_colons && !text.empty()) text += ':';
    text += kUpperDigits[std::to_integer<std::uint8_t>(byte) >> 4];
    text += kUpperDigits[std::to_integer<std::uint8_t>(byte) & 0xf];
  }
  return text;
}

/// Of an attribute: its abbreviation, or its long name, or its number.
std::string name_of_attribute(const ASN1_OBJECT* object) {
  struct Abbreviation {
    int nid;
    std::string_view text;
  };
  static constexpr Abbreviation kAbbreviations[] = {
      {NID_commonName, "CN"},      {NID_countryName, "C"},
      {NID_localityName, "L"},     {NID_stateOrProvinceName, "ST"},
      {NID_organizationName, "O"}, {NID_organizationalUnitName, "OU"},
      {NID_domainComponent, "DC"}, {NID_pkcs9_emailAddress, "Email"},
  };
  const int nid = OBJ_obj2nid(object);
  for (const Abbreviation& known : kAbbreviations) {
    if (known.nid == nid) return std::string(known.text);
  }
  if (nid != NID_undef) return OBJ_nid2ln(nid);
  std::array<char, 128> number{};
  OBJ_obj2txt(number.data(), number.size(), object, 1);
  return "OID(" + std::string(number.data()) + ')';
}

bool is_text(int type) noexcept {
  switch (type) {
    case V_ASN1_NUMERICSTRING:
    case V_ASN1_BMPSTRING:
    case V_ASN1_VISIBLESTRING:
    case V_ASN1_PRINTABLESTRING:
    case V_ASN1_GENERALSTRING:
    case V_ASN1_GRAPHICSTRING:
    case V_ASN1_T61STRING:
    case V_ASN1_VIDEOTEXSTRING:
    case V_ASN1_UTF8STRING:
    case V_ASN1_IA5STRING:
      return true;
    default:
      return false;
  }
}

/// Letters as they are, whatever their alphabet; bytes of other types in hex.
std::string value_of_attribute(const ASN1_STRING* value) {
  const std::span bytes(ASN1_STRING_get0_data(value),
                        static_cast<std::size_t>(ASN1_STRING_length(value)));
  if (!is_text(ASN1_STRING_type(value))) return upper_hex(std::as_bytes(bytes), false);
  return std::string(text_of(std::as_bytes(bytes)));
}

/// Attributes of one set are joined by " + ".
std::string text_of_name(const X509_NAME* name) {
  std::string text;
  int set_before = -1;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* const entry = X509_NAME_get_entry(name, i);
    const int set = X509_NAME_ENTRY_set(entry);
    if (i > 0) text += set == set_before ? " + " : ", ";
    set_before = set;
    text += name_of_attribute(X509_NAME_ENTRY_get_object(entry)) + '=' +
            value_of_attribute(X509_NAME_ENTRY_get_data(entry));
  }
  return text;
}

/// Its bytes as in DER, with the zero in front of a high bit.
std::string text_of_serial(const ASN1_INTEGER* serial) {
  unsigned char* der = nullptr;
  const int size = i2d_ASN1_INTEGER(serial, &der);
  if (size < 0) return {};
  const std::unique_ptr<unsigned char, Freed<[](unsigned char* bytes) { OPENSSL_free(bytes); }>>
      owner(der);
  WireCursor cursor(std::as_bytes(std::span(der, static_cast<std::size_t>(size))));
  cursor.u8();  // tag
  constexpr std::uint8_t kLongForm = 0x80;
  const std::uint8_t length = cursor.u8();
  if ((length & kLongForm) != 0) cursor.take(length & ~kLongForm);
  return upper_hex(cursor.take(cursor.size()), true);
}

/// Null: it is none.
Certificate parsed(std::span<const std::byte> der) {
  const auto* begin = reinterpret_cast<const unsigned char*>(der.data());
  Certificate certificate(d2i_X509(nullptr, &begin, static_cast<long>(der.size())));
  ERR_clear_error();
  return certificate;
}

/// Empty: it is no time.
std::string time_text(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return {};
  std::array<char, sizeof "2026-11-27T12:00:00"> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts)};
}

}  // namespace

std::optional<CertificateText> certificate_text(std::span<const std::byte> der) {
  const Certificate certificate = parsed(der);
  if (!certificate) return std::nullopt;
  return CertificateText{.subject = text_of_name(X509_get_subject_name(certificate.get())),
                         .issuer = text_of_name(X509_get_issuer_name(certificate.get())),
                         .serial = text_of_serial(X509_get0_serialNumber(certificate.get()))};
}

std::optional<CertificateValidity> certificate_validity(std::span<const std::byte> der) {
  const Certificate certificate = parsed(der);
  if (!certificate) return std::nullopt;
  CertificateValidity validity{.from = time_text(X509_get0_notBefore(certificate.get())),
                               .until = time_text(X509_get0_notAfter(certificate.get()))};
  ERR_clear_error();
  if (validity.from.empty() || validity.until.empty()) return std::nullopt;
  return validity;
}

std::string certificate_fingerprint(std::span<const std::byte> der) {
  std::string text;
  const std::string digits = hex_digest(HexDigest::kSha1, text_of(der));
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    if (i > 0) text += ':';
    text += digits.substr(i, 2);
  }
  return text;
}

std::vector<std::span<const std::byte>> certificates_of(std::span<const std::byte> body) {
  std::vector<std::span<const std::byte>> certificates;
  WireCursor cursor(body);
  WireCursor list(cursor.take(cursor.u24()));
  while (!list.is_empty()) {
    const auto der = list.take(list.u24());
    if (!list.is_whole()) break;
    if (!der.empty()) certificates.push_back(der);
  }
  return certificates;
}

}  // namespace millrace
