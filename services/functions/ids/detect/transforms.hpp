// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "services/functions/ids/detect/buffer_value.hpp"
#include "services/functions/ids/detect/regex.hpp"
#include "services/functions/ids/rules/rule_match.hpp"

/// What a rule does to a buffer before it looks at it.

namespace millrace {

/// Where the outcome of transforms lies. Grows; one thread.
struct TransformScratch {
  std::array<std::string, 2> texts;  ///< by turns
};

/// The transforms of one BufferTests, in their order.
class Transforms {
 public:
  /// `transforms` is borrowed. Throws Error: what cannot be done (`domain` and `tld` need a list of
  /// public suffixes; pcrexform asks for one group; xor for a key).
  explicit Transforms(std::span<const Transform> transforms);

  bool empty() const noexcept { return transforms_.empty(); }
  /// What follows a buffer can change what its begin is made into.
  bool needs_all() const noexcept { return needs_all_; }

  /// The text lies in `scratch`, or in `value` where nothing is to do. `base` is kept, nothing of
  /// it counts as seen. Digests are bytes, not digits.
  BufferValue apply(const BufferValue& value, TransformScratch& scratch,
                    RegexScratch& regex_scratch) const noexcept;

 private:
  std::span<const Transform> transforms_;
  std::vector<Regex> regexes_;  ///< of the transforms that have one, in their order
  bool needs_all_ = false;
};

}  // namespace millrace
