// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/curve_keys.hpp"

#include <zmq.h>

#include <array>
#include <cstdint>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

using Z85 = std::array<char, kCurveKeyCharacters + 1>;  // and the 0 behind them
constexpr std::size_t kKeyBytes = 32;

}  // namespace

void require_curve() {
  if (zmq_has("curve") != 0) return;
  throw Error(
      "the libzmq in use was built without CURVE, and control by TCP is not possible without keys; "
      "that of Debian has it: apt install libzmq5");
}

CurveKeys make_curve_keys() {
  require_curve();
  Z85 open{}, secret{};
  if (zmq_curve_keypair(open.data(), secret.data()) != 0) {
    throw system_error("make a pair of CURVE keys", zmq_errno());
  }
  return {.public_key = open.data(), .secret_key = secret.data()};
}

CurveKeys curve_keys_of(const std::string& secret_key) {
  require_curve();
  Z85 open{};
  if (!is_curve_key(secret_key) || zmq_curve_public(open.data(), secret_key.c_str()) != 0) {
    throw Error("what should be a secret CURVE key is none");
  }
  return {.public_key = open.data(), .secret_key = secret_key};
}

bool is_curve_key(std::string_view text) {
  std::array<std::uint8_t, kKeyBytes> bytes{};
  const std::string ended(text);
  return text.size() == kCurveKeyCharacters && ended.find('\0') == std::string::npos &&
         zmq_z85_decode(bytes.data(), ended.c_str()) != nullptr;
}

}  // namespace millrace
