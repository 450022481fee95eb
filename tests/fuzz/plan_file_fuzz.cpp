// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a plan: refused by an Error, or a plan whose indexes all hold.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const millrace::Plan plan = millrace::decode_plan(std::as_bytes(std::span(data, size)));
    // What was accepted once is accepted again, byte for byte what it meant.
    const auto bytes = millrace::encode_plan(plan);
    if (millrace::encode_plan(millrace::decode_plan(bytes)) != bytes) std::abort();
  } catch (const millrace::Error&) {
    return 0;
  }
  return 0;
}
