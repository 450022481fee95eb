// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Keys of CURVE (RFC 26 of ZeroMQ: Curve25519, 32 bytes), by which the two ends of the control
/// plane know each other over TCP. As text they are Z85: kCurveKeyCharacters printable characters,
/// which may be '#' too.

namespace millrace {

inline constexpr std::size_t kCurveKeyCharacters = 40;

struct CurveKeys {
  std::string public_key;
  std::string secret_key;
};

/// Throws Error when the libzmq in use was built without CURVE.
void require_curve();

/// A new pair. Throws Error as require_curve().
CurveKeys make_curve_keys();

/// The pair of which `secret_key` is one half. Throws Error when it is no key.
CurveKeys curve_keys_of(const std::string& secret_key);

/// Z85 of 32 bytes. That some point of the curve has it is not looked at.
bool is_curve_key(std::string_view text);

}  // namespace millrace
