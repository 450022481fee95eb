// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/image_file.hpp"
#include "services/functions/match/literal_index.hpp"
#include "services/functions/match/rules.hpp"
#include "services/functions/match/vectorscan.hpp"

/// The table of `match`: rules in the order of their strength, a Vectorscan database that finds
/// their literals on a CPU, and an index that finds them on a GPU. The builder writes it, each
/// worker maps it.

namespace millrace {

/// A rule in the image. Its number is its place: 0 is the strongest.
struct MatchRuleEntry {
  std::uint32_t class_mask;
  std::uint32_t name_offset;  ///< in the names
  std::uint16_t name_bytes;
  std::uint16_t port;     ///< either side; 0 any
  std::uint8_t protocol;  ///< 0 any
  std::uint8_t action;    ///< MatchAction
  std::uint8_t is_byte;   ///< 1: the literal is one byte, and not in the database
  std::uint8_t byte[2];   ///< that byte, in both cases with nocase
  std::uint8_t padding[3];
};
static_assert(sizeof(MatchRuleEntry) == 20 && alignof(MatchRuleEntry) == 4);
static_assert(offsetof(MatchRuleEntry, name_offset) == 4 &&
              offsetof(MatchRuleEntry, name_bytes) == 8 && offsetof(MatchRuleEntry, port) == 10 &&
              offsetof(MatchRuleEntry, protocol) == 12 && offsetof(MatchRuleEntry, action) == 13 &&
              offsetof(MatchRuleEntry, is_byte) == 14 && offsetof(MatchRuleEntry, byte) == 15);

/// Writes the image of `rules` at `path`: sorted by strength, then in the given order. Returns why
/// single rules were left out (the library refused them): "<name>: reason". `origin`: what the
/// rules were made of, a number of the caller's. Throws Error. Takes seconds for tens of thousands
/// of rules. Builder's thread.
std::vector<std::string> write_match_image(const std::string& path, std::vector<MatchRule> rules,
                                           MatchPlaces places = MatchPlaces::kOne,
                                           std::uint32_t origin = 0);

/// A published image, mapped. Throws Error when it is damaged or of another build or processor.
class MatchImage {
 public:
  explicit MatchImage(const std::string& path);
  std::span<const MatchRuleEntry> rules() const { return rules_; }
  std::string_view name(std::uint32_t rule) const;
  /// The database of all literals but single bytes, in memory of the caller's own; null when there
  /// are none. Throws Error.
  HsDatabase database() const;
  /// Bytes of the longest literal; 0 without rules.
  std::uint32_t longest() const { return longest_; }
  /// As given to write_match_image().
  std::uint32_t origin() const { return origin_; }
  /// Borrowed from this image.
  const LiteralIndex& index() const { return index_; }

 private:
  MappedImage file_;
  std::span<const MatchRuleEntry> rules_;
  std::string_view names_;
  std::span<const std::byte> database_;
  std::uint32_t longest_ = 0, origin_ = 0;
  LiteralIndex index_;
};

}  // namespace millrace
