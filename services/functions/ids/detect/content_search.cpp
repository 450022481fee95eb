// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/content_search.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "shared/base/ascii.hpp"

namespace millrace {
namespace {

bool equals_folded(const std::byte* at, std::string_view lower) noexcept {
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (ascii_lower(std::to_integer<unsigned char>(at[i])) !=
        static_cast<unsigned char>(lower[i])) {
      return false;
    }
  }
  return true;
}

bool equals(const std::byte* at, const Needle& needle) noexcept {
  if (needle.nocase) return equals_folded(at, needle.bytes);
  return std::memcmp(at, needle.bytes.data(), needle.bytes.size()) == 0;
}

/// Every place from `from` on, one after the other.
std::size_t find_by_places(std::span<const std::byte> text, std::size_t from,
                           const Needle& needle) noexcept {
  if (!needle.nocase) {
    const void* at =
        memmem(text.data() + from, text.size() - from, needle.bytes.data(), needle.bytes.size());
    return at == nullptr
               ? kNotFound
               : static_cast<std::size_t>(static_cast<const std::byte*>(at) - text.data());
  }
  for (std::size_t at = from; at + needle.bytes.size() <= text.size(); ++at) {
    if (equals_folded(&text[at], needle.bytes)) return at;
  }
  return kNotFound;
}

#if defined(__AVX2__)
constexpr std::size_t kVectorBytes = 32;

/// Tells the bytes of a vector that are one byte of the needle.
class ByteFilter {
 public:
  ByteFilter(char byte, bool nocase) noexcept : one_(_mm256_set1_epi8(byte)), other_(one_) {
    if (nocase && byte >= 'a' && byte <= 'z') {
      other_ = _mm256_set1_epi8(static_cast<char>(byte - 'a' + 'A'));
    }
  }
  __m256i passes(const std::byte* at) const noexcept {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    return _mm256_or_si256(_mm256_cmpeq_epi8(bytes, one_), _mm256_cmpeq_epi8(bytes, other_));
  }

 private:
  __m256i one_, other_;
};

/// Compares the places where both the first and the last byte fit, 32 places at a time. `from` is
/// moved to the first place that was not looked at.
std::size_t find_by_vectors(std::span<const std::byte> text, std::size_t& from,
                            const Needle& needle) noexcept {
  const ByteFilter first(needle.bytes.front(), needle.nocase);
  const ByteFilter last(needle.bytes.back(), needle.nocase);
  const std::size_t last_at = needle.bytes.size() - 1;
  for (; from + last_at + kVectorBytes <= text.size(); from += kVectorBytes) {
    const __m256i both = _mm256_and_si256(first.passes(text.data() + from),
                                          last.passes(text.data() + from + last_at));
    auto places = static_cast<std::uint32_t>(_mm256_movemask_epi8(both));
    for (; places != 0; places &= places - 1) {
      const std::size_t at = from + static_cast<std::size_t>(std::countr_zero(places));
      if (equals(text.data() + at, needle)) return at;
    }
  }
  return kNotFound;
}
#endif

}  // namespace

std::size_t find_content(std::span<const std::byte> text, std::size_t from,
                         const Needle& needle) noexcept {
  if (needle.bytes.empty() || from > text.size() || needle.bytes.size() > text.size() - from) {
    return kNotFound;
  }
#if defined(__AVX2__)
  const std::size_t at = find_by_vectors(text, from, needle);
  if (at != kNotFound) return at;
#endif
  return find_by_places(text, from, needle);
}

bool is_content_at(std::span<const std::byte> text, std::size_t at, const Needle& needle) noexcept {
  return equals(text.data() + at, needle);
}

}  // namespace millrace
