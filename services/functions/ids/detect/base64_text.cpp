// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/base64_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace millrace {
namespace {

constexpr std::uint8_t kOther = 0xff, kPadding = 0xfe;
constexpr std::size_t kGroup = 4, kGroupBytes = 3;
constexpr unsigned kBits = 6, kByteBits = 8;

/// What each character stands for.
constexpr std::array<std::uint8_t, 256> values() noexcept {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint8_t, 256> all{};
  all.fill(kOther);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    all[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  all['='] = kPadding;
  return all;
}
constexpr auto kValues = values();

/// Up to four characters, and the bytes that they make.
class Group {
 public:
  bool is_full() const noexcept { return count_ == kGroup; }
  void add(std::uint8_t value) noexcept {
    bits_ = bits_ << kBits | (value == kPadding ? 0u : value);
    paddings_ += value == kPadding ? 1 : 0;
    ++count_;
  }
  /// False: there is no room for the bytes.
  bool flush(std::span<std::byte> out, std::size_t& written) noexcept {
    const std::size_t bytes = this->bytes();
    if (out.size() - written < bytes) return false;
    const std::uint32_t bits = bits_ << (kBits * static_cast<unsigned>(kGroup - count_));
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto shift = kByteBits * static_cast<unsigned>(kGroupBytes - 1 - i);
      out[written++] = static_cast<std::byte>(bits >> shift);
    }
    *this = {};
    return true;
  }

 private:
  std::size_t bytes() const noexcept {
    if (count_ == 0) return 0;
    if (is_full()) return kGroupBytes - std::min<std::size_t>(paddings_, kGroupBytes);
    const std::size_t values = count_ - paddings_;
    return values > 1 ? values - 1 : values;
  }

  std::uint32_t bits_ = 0;
  std::size_t count_ = 0, paddings_ = 0;
};

bool is_line_end(std::byte byte) noexcept { return byte == std::byte{'\n'}; }

/// A line that is not folded ends what is encoded: the next one does not begin with a blank.
bool ends_at(std::span<const std::byte> text, std::size_t at) noexcept {
  if (!is_line_end(text[at]) || at + 1 == text.size()) return false;
  return text[at + 1] != std::byte{' '} && text[at + 1] != std::byte{'\t'};
}

}  // namespace

Base64Text decode_base64(std::span<const std::byte> text, Base64Form form, bool is_all,
                         std::span<std::byte> out) noexcept {
  Base64Text result;
  Group group;
  for (std::size_t at = 0; at < text.size() && !result.has_ended; ++at) {
    const std::uint8_t value = kValues[std::to_integer<std::size_t>(text[at])];
    if (value == kOther) {
      result.has_ended =
          form == Base64Form::kPlain || (form == Base64Form::kFolded && ends_at(text, at));
      continue;
    }
    if (value == kPadding && form == Base64Form::kFolded) {
      result.has_ended = true;
      continue;
    }
    group.add(value);
    if (!group.is_full()) continue;
    if (!group.flush(out, result.written)) {
      result.has_ended = true;
      return result;
    }
  }
  if (result.has_ended || is_all) group.flush(out, result.written);
  return result;
}

}  // namespace millrace
