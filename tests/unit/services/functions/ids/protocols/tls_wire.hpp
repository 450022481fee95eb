// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Records and messages of TLS by hand, and certificates by libcrypto.

namespace millrace {

/// A number of `size` bytes.
inline std::string tls_number(std::size_t value, int size) {
  std::string text;
  for (int i = size - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}
/// Behind its length of `size` bytes.
inline std::string tls_part(const std::string& bytes, int size) {
  return tls_number(bytes.size(), size) + bytes;
}
inline std::string tls_list(const std::vector<std::uint16_t>& numbers, int size) {
  std::string text;
  for (const std::uint16_t number : numbers) text += tls_number(number, 2);
  return tls_part(text, size);
}
inline std::string tls_extension(std::uint16_t type, const std::string& body) {
  return tls_number(type, 2) + tls_part(body, 2);
}
inline std::string tls_server_name(const std::string& name) {
  return tls_extension(0, tls_part('\0' + tls_part(name, 2), 2));
}
/// Without its length where `extensions` is empty.
inline std::string tls_extensions(const std::string& extensions) {
  return extensions.empty() ? "" : tls_part(extensions, 2);
}
inline std::string client_hello_body(const std::vector<std::uint16_t>& ciphers,
                                     const std::string& extensions,
                                     std::uint16_t version = 0x0303) {
  return tls_number(version, 2) + std::string(32, 'r') + tls_part("session", 1) +
         tls_list(ciphers, 2) + tls_part(std::string(1, '\0'), 1) + tls_extensions(extensions);
}
inline std::string server_hello_body(std::uint16_t cipher, const std::string& extensions,
                                     std::uint16_t version = 0x0303) {
  return tls_number(version, 2) + std::string(32, 'r') + tls_part("", 1) + tls_number(cipher, 2) +
         '\0' + tls_extensions(extensions);
}
inline std::string certificates_body(const std::vector<std::string>& certificates) {
  std::string list;
  for (const std::string& der : certificates) list += tls_part(der, 3);
  return tls_part(list, 3);
}

inline std::string tls_handshake(std::uint8_t type, const std::string& body) {
  return static_cast<char>(type) + tls_part(body, 3);
}
inline std::string tls_record(std::uint8_t type, const std::string& content) {
  return static_cast<char>(type) + tls_number(0x0303, 2) + tls_part(content, 2);
}

/// An attribute: its name for libcrypto, its text, and whether it shares the set of the one before.
struct CertificateAttribute {
  const char* name;
  std::string text;
  bool is_of_same_set = false;
};

inline std::string make_certificate(const std::vector<CertificateAttribute>& subject,
                                    const std::vector<CertificateAttribute>& issuer,
                                    std::uint64_t serial) {
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free);
  const auto write = [](X509_NAME* name, const std::vector<CertificateAttribute>& attributes) {
    for (const CertificateAttribute& attribute : attributes) {
      X509_NAME_add_entry_by_txt(name, attribute.name, MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(attribute.text.data()),
                                 static_cast<int>(attribute.text.size()), -1,
                                 attribute.is_of_same_set ? -1 : 0);
    }
  };
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial);
  write(X509_get_subject_name(made.get()), subject);
  write(X509_get_issuer_name(made.get()), issuer);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 1);
  X509_set_pubkey(made.get(), key.get());
  X509_sign(made.get(), key.get(), nullptr);
  unsigned char* der = nullptr;
  const int size = i2d_X509(made.get(), &der);
  const std::string text(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return text;
}

}  // namespace millrace
