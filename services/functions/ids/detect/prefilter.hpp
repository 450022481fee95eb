// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "services/functions/ids/detect/buffer_value.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// One multi-pattern search over the fast patterns of all rules, for each kind of buffer: what it
/// does not find cannot match. By Vectorscan.

namespace millrace {

/// Rules whose fast pattern was found: numbers of signatures, ascending, each once.
using Candidates = std::vector<std::uint32_t>;

/// The databases, as bytes for the image. Builder's thread; seconds for tens of thousands of rules.
/// Throws Error.
std::vector<std::byte> build_prefilter(std::span<const Signature> signatures);

/// One thread; allocates at construction only, but for the room of `found`, which is the caller's
/// to keep.
class Prefilter {
 public:
  /// `built`: of build_prefilter() for the same signatures. Throws Error when it is damaged or of
  /// another build or processor.
  Prefilter(std::span<const std::byte> built, std::span<const Signature> signatures);
  ~Prefilter();
  Prefilter(Prefilter&&) noexcept;
  Prefilter& operator=(Prefilter&&) noexcept;

  /// Adds signatures whose fast pattern, in `buffer`, ends behind the seen bytes of `value`. Goes
  /// back in front of them by as much as the longest pattern needs. Of a FastPattern behind
  /// transforms every value is a candidate.
  void search(RuleBuffer buffer, const BufferValue& value, Candidates& found) noexcept;

  /// Signatures that no literal gates, and whose first buffer is this one: always candidates.
  std::span<const std::uint32_t> ungated(RuleBuffer buffer) const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace
