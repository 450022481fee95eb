// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "services/functions/ids/protocols/tls_hello.hpp"

/// Fingerprints of TLS stacks by their Hello messages. The Hello is whole.

namespace millrace {

/// JA3 (Salesforce): "771,4865-4866,0-23,29-23,0", without GREASE.
std::string ja3_of(const TlsClientHello& hello);
/// JA3S: "771,49199,65281-0".
std::string ja3_of(const TlsServerHello& hello);
/// JA4 of a TLS client over TCP (FoxIO, BSD 3-Clause): "t13d1516h2_8daaf6152771_e5627efa2ab1".
/// Empty: libcrypto lacks SHA-256.
std::string ja4_of(const TlsClientHello& hello);

enum class HexDigest { kMd5, kSha1, kSha256 };
/// Lower case; empty: libcrypto lacks it.
std::string hex_digest(HexDigest kind, std::string_view bytes);

}  // namespace millrace
