// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/ids/detect/buffer_value.hpp"
#include "services/functions/ids/rules/rule_match.hpp"

/// Rules that wait for more of a stream, and what they wait for.

namespace millrace {

/// A rule that has begun to match in a direction of a stream. A cache: it is made anew from the
/// bytes that the stream keeps.
struct PendingRule {
  std::uint32_t signature;
  std::uint16_t missing;  ///< Look::missing; kAwaitsApp, kAwaitsEnd
  std::uint16_t mark;     ///< NewBytes::last_mark() of the content that is missing
  std::uint64_t since;    ///< begin of the bytes, in the stream, that named it
};
static_assert(sizeof(PendingRule) == 16);
/// It waits until it is known what the flow carries.
inline constexpr std::uint16_t kAwaitsApp = UINT16_MAX - 1;
/// No literal gates it, so it is looked at with all that comes, and once more with the end.
inline constexpr std::uint16_t kAwaitsEnd = UINT16_MAX - 2;

/// By signature, each once.
using PendingRules = std::vector<PendingRule>;

/// Of one direction. Beyond them the one that has waited longest is forgotten.
inline constexpr std::size_t kPendingMax = 4'096;

/// Replaces that of the same signature, whose `since` stays. False: another one was forgotten for
/// it.
bool keep_pending(PendingRules& pending, const PendingRule& rule);
void drop_pending(PendingRules& pending, std::uint32_t signature) noexcept;
/// Null: it does not wait.
const PendingRule* find_pending(const PendingRules& pending, std::uint32_t signature) noexcept;

/// Tells for literals, one after the other, whether they stand in new bytes. For many of them each
/// three bytes that follow one another leave a mark (a bit, by a hash): a literal whose marks are
/// not all there costs a few instructions. Marks cost as much as a search for some literals.
class NewBytes {
 public:
  /// `value` is borrowed until the next take(). `literals`: how many are to be asked for, at most.
  void take(const BufferValue& value, std::size_t literals) noexcept;
  /// Of the content's last three bytes: asked first, it spares to fetch the rule. kNoMark of a
  /// shorter content.
  static std::uint16_t last_mark(const ContentMatch& content) noexcept;
  static constexpr std::uint16_t kNoMark = 0;  ///< always there
  /// False: no content with that last_mark() ends in the bytes.
  bool has_mark(std::uint16_t mark) const noexcept {
    return !has_marks_ || (marks_[mark / kWordBits] >> mark % kWordBits & 1) != 0;
  }
  /// The content, of which the last kGateBytesMax bytes count, ends behind the seen bytes. It may
  /// begin in front of them.
  bool has_end_of(const ContentMatch& content) const noexcept;

 private:
  void mark() noexcept;
  bool has_marks_of(std::span<const std::byte> literal) const noexcept;

  static constexpr std::size_t kMarks = std::size_t{1} << 16;
  static constexpr std::size_t kWordBits = 64;
  std::span<const std::byte> text_;
  std::size_t seen_ = 0;  ///< of `text_`
  bool has_marks_ = false;
  std::array<std::uint64_t, kMarks / kWordBits> marks_{};  ///< of bytes in lower case
};

}  // namespace millrace
