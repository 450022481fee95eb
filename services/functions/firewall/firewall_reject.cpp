// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/firewall_reject.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "services/functions/acl/acl_rule.hpp"
#include "services/functions/acl/acl_words.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

/// Codes of ICMP "destination unreachable": of IPv4 (RFC 792, RFC 1812 5.2.7.1), of IPv6 (RFC 4443
/// 3.1).
struct Code {
  std::string_view word;
  unsigned code;
};
constexpr std::array kIpv4Codes = {
    Code{"net-unreachable", 0},   Code{"host-unreachable", 1},  Code{"prot-unreachable", 2},
    Code{"port-unreachable", 3},  Code{"net-prohibited", 9},    Code{"host-prohibited", 10},
    Code{"admin-prohibited", 13}, Code{"proto-unreachable", 2}, Code{"net-unreach", 0},
    Code{"host-unreach", 1},      Code{"port-unreach", 3}};
constexpr std::array kIpv6Codes = {
    Code{"no-route", 0},         Code{"admin-prohibited", 1}, Code{"adm-prohibited", 1},
    Code{"addr-unreachable", 3}, Code{"addr-unreach", 3},     Code{"port-unreachable", 4},
    Code{"port-unreach", 4},     Code{"policy-fail", 5},      Code{"reject-route", 6}};
/// Words of icmpx, for both families.
struct Codes {
  std::string_view word;
  unsigned code, code6;
};
constexpr std::array kCodes = {Codes{"no-route", 0, 0}, Codes{"host-unreachable", 1, 3},
                               Codes{"port-unreachable", 3, 4}, Codes{"admin-prohibited", 13, 1}};
constexpr std::string_view kReset = "tcp reset";

[[noreturn]] void refuse(std::string_view word) {
  throw AclRefusal{"rejects with " + quoted_word(std::string(word))};
}

unsigned code_of(std::span<const Code> codes, std::string_view word) {
  const auto found = std::ranges::find(codes, word, &Code::word);
  if (found == codes.end()) refuse(word);
  return found->code;
}

}  // namespace

std::uint8_t reject_of_nft(std::string_view type, std::string_view word) {
  if (type == kReset) return kAclRejectReset;
  if (type == "icmp") return acl_reject_icmp(code_of(kIpv4Codes, word), 0);
  if (type == "icmpv6") return acl_reject_icmp(0, code_of(kIpv6Codes, word));
  const auto* const found = std::ranges::find(kCodes, word, &Codes::word);
  if (type != "icmpx" || found == kCodes.end()) refuse(word);
  return acl_reject_icmp(found->code, found->code6);
}

std::uint8_t reject_of_iptables(unsigned version, std::string_view word) {
  if (word == "tcp-reset") return kAclRejectReset;
  const std::string_view front = version == 4 ? "icmp-" : "icmp6-";
  const std::string_view name = word.starts_with(front) ? word.substr(front.size()) : word;
  return version == 4 ? acl_reject_icmp(code_of(kIpv4Codes, name), 0)
                      : acl_reject_icmp(0, code_of(kIpv6Codes, name));
}

std::uint8_t reject_by_default() { return reject_of_nft("icmpx", "port-unreachable"); }

}  // namespace millrace
