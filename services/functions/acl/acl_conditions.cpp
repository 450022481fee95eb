// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_conditions.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

struct Named {
  std::string_view name;
  std::uint8_t number;
};

constexpr std::array kDscpNames = {
    Named{"cs0", 0},   Named{"cs1", 8},   Named{"cs2", 16},  Named{"cs3", 24},  Named{"cs4", 32},
    Named{"cs5", 40},  Named{"cs6", 48},  Named{"cs7", 56},  Named{"af11", 10}, Named{"af12", 12},
    Named{"af13", 14}, Named{"af21", 18}, Named{"af22", 20}, Named{"af23", 22}, Named{"af31", 26},
    Named{"af32", 28}, Named{"af33", 30}, Named{"af41", 34}, Named{"af42", 36}, Named{"af43", 38},
    Named{"ef", 46}};

constexpr std::array kIcmpNames = {
    Named{"echo-reply", 0},      Named{"unreachable", 3},          Named{"redirect", 5},
    Named{"echo-request", 8},    Named{"router-advertisement", 9}, Named{"router-solicitation", 10},
    Named{"time-exceeded", 11},  Named{"parameter-problem", 12},   Named{"timestamp-request", 13},
    Named{"timestamp-reply", 14}};

constexpr std::array kIcmp6Names = {Named{"unreachable", 1},
                                    Named{"packet-too-big", 2},
                                    Named{"time-exceeded", 3},
                                    Named{"parameter-problem", 4},
                                    Named{"echo-request", 128},
                                    Named{"echo-reply", 129},
                                    Named{"router-solicitation", 133},
                                    Named{"router-advertisement", 134},
                                    Named{"neighbour-solicitation", 135},
                                    Named{"neighbour-advertisement", 136},
                                    Named{"redirect", 137}};

/// Number of a name, or the number that the word is. `what`: for the error.
std::uint32_t named_number(std::string_view word, std::span<const Named> names, std::uint32_t max,
                           const char* what) {
  std::string known;
  for (const Named& one : names) {
    if (one.name == word) return one.number;
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  if (!word.empty() && word.front() >= '0' && word.front() <= '9') {
    return acl_number(word, max, what);
  }
  throw AclRefusal{quoted_word(word) + " is no " + what + "; there are " + known + ", and numbers"};
}

}  // namespace

void acl_set_vlan(std::string_view word, AclRule& rule) {
  constexpr std::uint32_t kVlanMax = 4095;
  if (word == "none") {
    rule.vlan_low = rule.vlan_high = kAclNoTag;
    return;
  }
  const std::size_t dash = word.find('-');
  const std::string_view last = dash == word.npos ? word : word.substr(dash + 1);
  rule.vlan_low =
      static_cast<std::uint16_t>(acl_number(word.substr(0, dash), kVlanMax, "VLAN number"));
  rule.vlan_high = static_cast<std::uint16_t>(acl_number(last, kVlanMax, "VLAN number"));
  if (rule.vlan_low > rule.vlan_high) {
    throw AclRefusal{"vlan " + quoted_word(word) + ": the first is above the last"};
  }
}

void acl_set_dscp(std::string_view word, AclRule& rule) {
  rule.marks |= named_number(word, kDscpNames, kAclDscpBits, "DSCP");
  rule.marks_mask |= kAclDscpBits;
}

void acl_set_fragment(std::string_view word, AclRule& rule) {
  const auto allow = [&rule](std::uint32_t bits) { acl_allow_marks(kAclFragmentBits, bits, rule); };
  if (word == "first") return allow(kAclFirstFragment);
  if (word == "later") return allow(kAclLaterFragment);
  if (word == "any") return allow(kAclFirstFragment | kAclLaterFragment);
  if (word == "no") return allow(kAclWhole);
  throw AclRefusal{"fragment " + quoted_word(word) + ": there are first, later, any, no"};
}

void acl_set_icmp(std::string_view word, AclRule& rule) {
  const bool icmp6 = rule.protocol == 58;
  if ((rule.protocol != 1 && !icmp6) || rule.protocol_mask != 0xff) {
    throw AclRefusal{"types are ICMP's: the protocol has to be icmp or icmp6"};
  }
  const std::size_t slash = word.find('/');
  const std::span<const Named> names =
      icmp6 ? std::span<const Named>(kIcmp6Names) : std::span<const Named>(kIcmpNames);
  const std::uint32_t type = named_number(word.substr(0, slash), names, UINT8_MAX, "type of ICMP");
  std::uint32_t first = 0, last = UINT8_MAX;
  if (slash != word.npos) {
    first = last = acl_number(word.substr(slash + 1), UINT8_MAX, "code of ICMP");
  }
  rule.icmp_low = static_cast<std::uint16_t>(type << 8 | first);
  rule.icmp_high = static_cast<std::uint16_t>(type << 8 | last);
  rule.marks_mask |= kAclNoIcmp;
}

bool acl_read_condition(AclLine& line, std::string_view option, AclRule& rule) {
  if (option == "vlan") {
    acl_set_vlan(line.word("the number of a VLAN"), rule);
  } else if (option == "dscp") {
    acl_set_dscp(line.word("a DSCP"), rule);
  } else if (option == "fragment") {
    acl_set_fragment(line.word("which fragments"), rule);
  } else if (option == "icmp") {
    acl_set_icmp(line.word("a type of ICMP"), rule);
  } else {
    return false;
  }
  return true;
}

}  // namespace millrace
