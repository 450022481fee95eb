// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a control message: refused by an Error, or a message that can be sent on.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "shared/base/error.hpp"
#include "shared/control/messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto message = millrace::decode_message(std::as_bytes(std::span(data, size)));
    const auto bytes = millrace::encode_message(message);
    if (millrace::encode_message(millrace::decode_message(bytes)) != bytes) std::abort();
  } catch (const millrace::Error&) {
    return 0;
  }
  return 0;
}
