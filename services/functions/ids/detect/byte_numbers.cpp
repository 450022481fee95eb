// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/byte_numbers.hpp"

#include <bit>

#include "services/functions/ids/detect/content_search.hpp"
#include "shared/base/ascii.hpp"

namespace millrace {
namespace {

constexpr std::size_t kBinaryBytesMax = 8;
constexpr unsigned kNoDigit = UINT32_MAX;
constexpr unsigned kOctal = 8, kDecimal = 10, kHex = 16;

unsigned digit_of(unsigned char byte) noexcept {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const unsigned char lower = ascii_lower(byte);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10u : kNoDigit;
}

bool is_blank(unsigned char byte) noexcept { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

/// Text, one byte after the other.
class Digits {
 public:
  Digits(std::span<const std::byte> bytes, unsigned base) noexcept : bytes_(bytes), base_(base) {}

  std::optional<ReadNumber> read() noexcept {
    while (is_blank(byte(0))) ++at_;
    const bool negative = byte(0) == '-';
    if (negative || byte(0) == '+') ++at_;
    take_prefix();
    if (digit_of(byte(0)) >= base_) return std::nullopt;
    std::uint64_t value = 0;
    for (; digit_of(byte(0)) < base_; ++at_) {
      if (__builtin_mul_overflow(value, std::uint64_t{base_}, &value) ||
          __builtin_add_overflow(value, std::uint64_t{digit_of(byte(0))}, &value)) {
        return std::nullopt;
      }
    }
    return ReadNumber{negative ? 0 - value : value, static_cast<std::uint8_t>(at_)};
  }

 private:
  /// "0x" of base 16; without a base, what stands in front says it.
  void take_prefix() noexcept {
    const bool is_hex = byte(0) == '0' && ascii_lower(byte(1)) == 'x' && digit_of(byte(2)) < kHex;
    if (base_ == 0) base_ = is_hex ? kHex : (byte(0) == '0' ? kOctal : kDecimal);
    if (base_ == kHex && is_hex) at_ += 2;
  }

  /// 0, which is neither blank nor digit, behind the end.
  unsigned char byte(std::size_t ahead) const noexcept {
    return at_ + ahead < bytes_.size() ? std::to_integer<unsigned char>(bytes_[at_ + ahead])
                                       : static_cast<unsigned char>(0);
  }

  std::span<const std::byte> bytes_;
  unsigned base_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<ReadNumber> read_number(std::span<const std::byte> bytes,
                                      const NumberFormat& format) noexcept {
  const bool is_open = format.is_text && format.bytes == 0;
  const bool fits = is_open ? bytes.size() <= kOpenTextBytes : bytes.size() == format.bytes;
  if (!fits) return std::nullopt;
  if (format.is_text) return Digits(bytes, format.base).read();
  if (bytes.size() > kBinaryBytesMax) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t at = format.little_endian ? bytes.size() - 1 - i : i;
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[at]);
  }
  return ReadNumber{value, format.bytes};
}

std::uint64_t masked(std::uint64_t value, std::uint32_t mask) noexcept {
  return mask == 0 ? value : (value & mask) >> std::countr_zero(mask);
}

}  // namespace millrace
