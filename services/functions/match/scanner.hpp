// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/match/image.hpp"
#include "shared/base/packet.hpp"

namespace millrace {

/// Looks for the rules of an image in packets. One thread; allocates at construction only.
class MatchScanner {
 public:
  /// `image` is borrowed. Throws Error: no memory, a database of another build.
  explicit MatchScanner(const MatchImage& image);
  /// Number of the strongest rule that applies to the frame and whose literal is in its payload,
  /// plus 1; 0: none; kMatchHidden.
  std::uint32_t strongest_rule(std::span<const std::byte> frame) const noexcept;
  /// The same of `text` as payload of TCP; `headers` are those of `frame`, parsed. Literals that
  /// end in the first `carry` bytes do not count: for an image that finds each place.
  std::uint32_t strongest_rule(std::span<const std::byte> text, std::uint32_t carry,
                               std::span<const std::byte> frame,
                               const PacketHeaders& headers) const noexcept;

 private:
  std::span<const MatchRuleEntry> rules_;
  std::vector<std::uint32_t> byte_rules_;  ///< those for a single byte, ascending
  HsDatabase database_;                    ///< of all others; null: there are none
  HsScratch scratch_;
};

}  // namespace millrace
