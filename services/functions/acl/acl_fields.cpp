// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_fields.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace millrace {
namespace {

constexpr std::uint32_t kStepAny = kAclNoTag;

/// Of marks, those in `bits`, which stand `shift` higher than the step.
AclField marks_of(const AclFamily& family, std::uint32_t kind, std::uint32_t bits,
                  std::uint32_t shift) {
  return acl_field_of(family, acl_condition_steps(kind),
                      [=](const AclRule& rule, std::uint32_t step) {
                        const std::uint32_t mask = rule.marks_mask & bits;
                        return ((step << shift ^ rule.marks) & mask) == 0;
                      });
}

AclField vlans_of(const AclFamily& family) {
  constexpr std::uint32_t kSteps = acl_condition_steps(kAclByVlan);
  return acl_ranges_of(family, kSteps, [](const AclRule& rule) {
    if (rule.vlan_low == kAclNoTag) return AclStepRange{kSteps - 1, kSteps};
    return AclStepRange{rule.vlan_low, rule.vlan_high == kStepAny ? kSteps : rule.vlan_high + 1u};
  });
}

AclField icmps_of(const AclFamily& family) {
  constexpr std::uint32_t kSteps = acl_condition_steps(kAclByIcmp);
  return acl_ranges_of(family, kSteps, [](const AclRule& rule) {
    const bool any = rule.icmp_low == 0 && rule.icmp_high == UINT16_MAX;
    return AclStepRange{rule.icmp_low, any ? kSteps : rule.icmp_high + 1u};
  });
}

/// The last step, a port that is not known, stands for all bits.
AclField inputs_of(const AclFamily& family) {
  constexpr std::uint32_t kSteps = acl_condition_steps(kAclByInput);
  return acl_field_of(family, kSteps, [](const AclRule& rule, std::uint32_t step) {
    const std::uint32_t marks =
        step + 1 == kSteps ? kAclInputBits : std::uint32_t{1} << (kAclInputShift + step);
    return ((marks ^ rule.marks) & rule.marks_mask & kAclInputBits) == 0;
  });
}

/// Classes of sets of rules, equal ones once.
class Combinations {
 public:
  explicit Combinations(std::size_t rule_count) : pool_(rule_count, UINT64_MAX) {}
  void add(const AclRuleSet& rules, AclConditionArrays& out) {
    const std::uint32_t found = pool_.add(rules.words());
    if (found > UINT16_MAX) throw AclTooLarge{"there are more than 65,536 classes of conditions"};
    if (found == out.rules.size()) out.rules.push_back(rules);
    out.cells.push_back(static_cast<std::uint16_t>(found));
  }

 private:
  AclVectorPool pool_;
};

}  // namespace

AclField acl_field_of(const AclFamily& family, std::uint32_t value_count,
                      const std::function<bool(const AclRule&, std::uint32_t)>& matches) {
  AclField field;
  AclVectorPool pool(family.size(), UINT64_MAX);
  for (std::uint32_t value = 0; value < value_count; ++value) {
    AclRuleSet matching(family.size());
    for (std::uint32_t i = 0; i < family.size(); ++i) {
      if (matches(family[i], value)) matching.flip(i);
    }
    const std::uint32_t found = pool.add(matching.words());
    if (found == field.rules.size()) field.rules.push_back(std::move(matching));
    field.steps.classes.push_back(static_cast<std::uint16_t>(found));
  }
  field.steps.count = static_cast<std::uint32_t>(field.rules.size());
  return field;
}

AclField acl_ranges_of(const AclFamily& family, std::uint32_t step_count,
                       const std::function<AclStepRange(const AclRule&)>& range_of) {
  std::vector<std::vector<std::uint32_t>> changes(step_count + 1);
  for (std::uint32_t i = 0; i < family.size(); ++i) {
    const AclStepRange range = range_of(family[i]);
    changes[range.begin].push_back(i);
    changes[range.end].push_back(i);
  }
  AclField field;
  AclVectorPool pool(family.size(), UINT64_MAX);
  AclRuleSet matching(family.size());
  std::uint32_t found = 0;
  for (std::uint32_t step = 0; step < step_count; ++step) {
    for (const std::uint32_t rule : changes[step]) matching.flip(rule);
    if (step == 0 || !changes[step].empty()) found = pool.add(matching.words());
    if (found > UINT16_MAX) throw AclTooLarge{"there are more than 65,536 classes of ports"};
    if (found == field.rules.size()) field.rules.push_back(matching);
    field.steps.classes.push_back(static_cast<std::uint16_t>(found));
  }
  field.steps.count = static_cast<std::uint32_t>(field.rules.size());
  return field;
}

void acl_check_cross(std::initializer_list<const AclField*> fields, std::uint64_t more,
                     std::uint32_t word_count, const std::string& what) {
  std::uint64_t count = more;
  bool fits = true;
  for (const AclField* field : fields) {
    fits = fits && count <= kAclCrossWordsMax;
    if (fits) count *= field->steps.count;
  }
  if (fits && count <= UINT32_MAX && count * word_count <= kAclCrossWordsMax) return;
  throw AclTooLarge{what + " make " + std::to_string(count) +
                    " classes, too many for so many rules"};
}

AclConditionArrays acl_conditions_of(const AclFamily& family) {
  AclConditionArrays out;
  const bool any = std::ranges::any_of(
      family.numbers, [&](std::uint32_t i) { return acl_has_conditions(family.rules[i]); });
  if (!any) return out;
  const std::array<AclField, kAclConditionKinds> fields = {
      vlans_of(family), icmps_of(family),
      marks_of(family, kAclByDscp, kAclDscpBits | kAclNoIcmp, 0),
      marks_of(family, kAclByState, kAclFragmentBits | kAclStateBits, 8), inputs_of(family)};
  acl_check_cross({&fields[0], &fields[1], &fields[2], &fields[3], &fields[4]}, 1,
                  acl_word_count(family.size()), "VLANs, types of ICMP and other conditions");
  for (const AclField& field : fields) {
    out.cells.push_back(static_cast<std::uint16_t>(field.steps.count));
    if (field.steps.count > UINT16_MAX) throw AclTooLarge{"too many classes of one condition"};
  }
  for (const AclField& field : fields) {
    out.cells.insert(out.cells.end(), field.steps.classes.begin(), field.steps.classes.end());
  }
  Combinations combinations(family.size());
  for (const AclRuleSet& vlan : fields[kAclByVlan].rules) {
    for (const AclRuleSet& icmp : fields[kAclByIcmp].rules) {
      const AclRuleSet two = vlan & icmp;
      for (const AclRuleSet& dscp : fields[kAclByDscp].rules) {
        const AclRuleSet three = two & dscp;
        for (const AclRuleSet& state : fields[kAclByState].rules) {
          const AclRuleSet four = three & state;
          for (const AclRuleSet& input : fields[kAclByInput].rules) {
            combinations.add(four & input, out);
          }
        }
      }
    }
  }
  return out;
}

}  // namespace millrace
