// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "services/functions/ids/rules/rule_set.hpp"
#include "services/functions/image_file.hpp"

/// The table of `ids`: the text of the rules that were accepted, in the order in which they count,
/// with what they are read by, and the databases of the prefilter. The builder writes it; each
/// worker reads the rules once more, and opens no other file.

namespace millrace {

/// What goes into an image.
struct IdsRules {
  RuleSetup setup;
  RuleSet rules;  ///< in the order in which they count, with the thresholds of a file
  std::vector<RuleSuppression> suppressions;
};

/// Throws Error. Seconds for tens of thousands of rules. Builder's thread.
void write_ids_image(const std::string& path, const IdsRules& rules, std::uint32_t counters);

/// A published image, mapped. Throws Error when it is damaged or of another build.
class IdsImage {
 public:
  explicit IdsImage(const std::string& path);

  std::span<const Signature> signatures() const { return rules_.signatures; }
  const std::vector<RuleSuppression>& suppressions() const { return suppressions_; }
  /// Borrowed from this image: build_prefilter() of the signatures.
  std::span<const std::byte> prefilter() const { return prefilter_; }
  /// Says which names the flowbits have, in their order; not 0.
  std::uint32_t flowbit_names() const { return flowbit_names_; }

 private:
  MappedImage file_;
  RuleSet rules_;
  std::vector<RuleSuppression> suppressions_;
  std::span<const std::byte> prefilter_;
  std::uint32_t flowbit_names_ = 0;
};

}  // namespace millrace
