// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "shared/layout/batch.hpp"

namespace millrace {

/// Whether all packets of the batch pass, as in most batches. A few loads.
inline bool all_pass(const Batch& batch) noexcept {
  static_assert(static_cast<int>(Verdict::kPass) == 0);
  const std::uint8_t* const verdict = batch.verdict.data();
  std::uint64_t any = 0;
  std::uint32_t at = 0;
  for (; at + 32 <= batch.count; at += 32) {
    std::uint64_t four[4];
    std::memcpy(four, verdict + at, sizeof four);
    any |= four[0] | four[1] | four[2] | four[3];
  }
  for (; at + 8 <= batch.count; at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, verdict + at, sizeof eight);  // a copy of fixed size is a load
    any |= eight;
  }
  for (; at < batch.count; ++at) any |= verdict[at];
  return any == 0;
}

/// fates_in(), which counts only when not all packets pass.
inline Fates fates_of(const Batch& batch) noexcept {
  return all_pass(batch) ? Fates{} : fates_in(batch);
}

}  // namespace millrace
