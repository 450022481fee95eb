// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Certificates (RFC 5280) as rules see them. Nothing of them is verified.

namespace millrace {

struct CertificateText {
  std::string subject, issuer;  ///< "C=US, O=Example, CN=www.example.com", as Suricata writes them
  std::string serial;           ///< "01:AB", its bytes
};

/// Nothing: it is not DER of a certificate. Throws std::bad_alloc.
std::optional<CertificateText> certificate_text(std::span<const std::byte> der);
struct CertificateValidity {
  std::string from, until;  ///< UTC: "2026-11-27T12:00:00"
};
/// Nothing: it is not DER of a certificate, or has no such times. Throws std::bad_alloc.
std::optional<CertificateValidity> certificate_validity(std::span<const std::byte> der);
/// SHA-1: "0a:1b:...".
std::string certificate_fingerprint(std::span<const std::byte> der);

/// The certificates of a Certificate message of TLS 1.2 or before (RFC 5246 7.4.2), the sender's
/// own first. `body`: behind the message's length. Of one that is cut, those that are whole.
std::vector<std::span<const std::byte>> certificates_of(std::span<const std::byte> body);

}  // namespace millrace
