// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "services/functions/acl/acl_bits.hpp"
#include "services/functions/acl/acl_bits_build.hpp"
#include "services/functions/acl/acl_vectors.hpp"

/// The builder's fields of few values: ports, protocol, flags, and the conditions of rules.

namespace millrace {

/// The rules are too many for this table; caught by build_acl_bits().
struct AclTooLarge {
  std::string why;
};

/// The rules of one family, by their numbers among all.
struct AclFamily {
  std::span<const AclRule> rules;
  std::vector<std::uint32_t> numbers;
  const AclRule& operator[](std::size_t i) const { return rules[numbers[i]]; }
  std::size_t size() const { return numbers.size(); }
};

/// Classes of the values of a field, and the rules of each class.
struct AclField {
  AclSteps steps;
  std::vector<AclRuleSet> rules;
};

/// `matches(rule, value)` for values [0, value_count).
AclField acl_field_of(const AclFamily& family, std::uint32_t value_count,
                      const std::function<bool(const AclRule&, std::uint32_t)>& matches);

/// Steps [begin, end) at which a rule matches.
struct AclStepRange {
  std::uint32_t begin, end;
};

/// The same of ranges of steps [0, step_count): by their changes, which is quick for many steps.
/// Throws AclTooLarge above 65,536 classes.
AclField acl_ranges_of(const AclFamily& family, std::uint32_t step_count,
                       const std::function<AclStepRange(const AclRule&)>& range_of);

/// Throws AclTooLarge when the cross product of `fields`, `more` times, takes more than
/// kAclCrossWordsMax of vectors of `word_count`. `what`: for the message.
void acl_check_cross(std::initializer_list<const AclField*> fields, std::uint64_t more,
                     std::uint32_t word_count, const std::string& what);

struct AclConditionArrays {
  std::vector<std::uint16_t> cells;  ///< as acl_condition_class() reads them; empty without any
  std::vector<AclRuleSet> rules;     ///< of each class
};

/// Throws AclTooLarge.
AclConditionArrays acl_conditions_of(const AclFamily& family);

}  // namespace millrace
