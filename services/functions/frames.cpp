// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/frames.hpp"

#include <immintrin.h>

namespace millrace {

void locate_frames(const Batch& batch, std::span<const std::uint16_t> packets,
                   Frames& frames) noexcept {
  std::size_t i = 0;
  if (side_by_side(packets)) [[likely]] {
    const std::uint32_t* buffers = batch.buffer.data() + packets.front();
    const std::uint16_t* offsets = batch.offset.data() + packets.front();
    const __m256i base = _mm256_set1_epi64x(reinterpret_cast<std::int64_t>(batch.buffers.base));
    const __m256i stride = _mm256_set1_epi32(static_cast<int>(batch.buffers.stride));
    for (; i + 4 <= packets.size(); i += 4) {
      const __m256i buffer =
          _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(buffers + i)));
      const __m256i offset = _mm256_cvtepu16_epi64(_mm_loadu_si64(offsets + i));
      const __m256i behind_base = _mm256_add_epi64(_mm256_mul_epu32(buffer, stride), offset);
      _mm256_store_si256(reinterpret_cast<__m256i*>(frames.address + i),
                         _mm256_add_epi64(base, behind_base));
    }
  }
  for (; i < packets.size(); ++i) {
    frames.address[i] = reinterpret_cast<std::uint64_t>(batch.data(packets[i]));
  }
}

}  // namespace millrace
