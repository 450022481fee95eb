// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "services/functions/acl/acl_words.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

struct Protocol {
  std::string_view name;
  std::uint8_t number;
};
constexpr std::array kProtocols = {
    Protocol{"icmp", 1},  Protocol{"tcp", 6},    Protocol{"udp", 17},     Protocol{"gre", 47},
    Protocol{"esp", 50},  Protocol{"ah", 51},    Protocol{"icmp6", 58},   Protocol{"ospf", 89},
    Protocol{"dccp", 33}, Protocol{"sctp", 132}, Protocol{"udplite", 136}};

constexpr std::string_view kFlagLetters = "FSRPAUEW";  ///< bit 0 first

void read_action(AclLine& line, std::span<const RuleClass> classes, AclRule& rule) {
  const std::string_view action = line.word("an action");
  const auto set = [&](AclAction to) { rule.action = static_cast<std::uint8_t>(to); };
  if (action == "drop") {
    set(AclAction::kDrop);
  } else if (action == "reject") {
    set(AclAction::kReject);
  } else if (action == "pass") {
    set(AclAction::kPass);
  } else if (action == "alert") {
    set(AclAction::kAlert);
  } else if (action == "class") {
    set(AclAction::kClass);
    const std::string_view name = line.word("the name of a class");
    std::string known;
    for (const RuleClass& row : classes) {
      if (row.name == name) rule.class_mask = row.mask;
      known += (known.empty() ? "" : ", ") + row.name;
    }
    if (rule.class_mask != 0) return;
    throw AclRefusal{"class " + quoted_word(name) + " is none of the function's `classes:` (" +
                     (known.empty() ? "it has none" : known) + ")"};
  } else {
    throw AclRefusal{quoted_word(action) +
                     " is no action; there are drop, reject, pass, alert, class NAME"};
  }
}

/// "0x06/0xff": value and mask.
void read_masked_protocol(std::string_view word, AclRule& rule) {
  const std::size_t slash = word.find('/');
  rule.protocol_mask = 0xff;
  if (slash != std::string_view::npos) {
    rule.protocol_mask =
        static_cast<std::uint8_t>(acl_number(word.substr(slash + 1), 255, "protocol mask"));
  }
  rule.protocol =
      static_cast<std::uint8_t>(acl_number(word.substr(0, slash), 255, "protocol number"));
  rule.protocol &= rule.protocol_mask;
}

/// Returns the families that the word leaves.
std::uint8_t read_protocol(AclLine& line, AclRule& rule) {
  const std::string_view word = line.word("a protocol");
  if (word == "ip" || word == "any") return kAclIpv4 | kAclIpv6;
  if (word == "ip4") return kAclIpv4;
  if (word == "ip6") return kAclIpv6;
  for (const Protocol& known : kProtocols) {
    if (known.name != word) continue;
    rule.protocol = known.number;
    rule.protocol_mask = 0xff;
    return kAclIpv4 | kAclIpv6;
  }
  if (word.front() < '0' || word.front() > '9') {
    std::string names = "ip, ip4, ip6";
    for (const Protocol& known : kProtocols) names += ", " + std::string(known.name);
    throw AclRefusal{quoted_word(word) + " is no protocol; there are " + names +
                     ", NUMBER, NUMBER/MASK"};
  }
  read_masked_protocol(word, rule);
  return kAclIpv4 | kAclIpv6;
}

struct PortRange {
  std::uint16_t low = 0, high = UINT16_MAX;
};

PortRange port_range(std::string_view low, std::string_view high) {
  const PortRange range{static_cast<std::uint16_t>(acl_number(low, UINT16_MAX, "port")),
                        static_cast<std::uint16_t>(acl_number(high, UINT16_MAX, "port"))};
  if (range.low > range.high) {
    throw AclRefusal{"ports " + std::string(low) + " to " + std::string(high) +
                     ": the first is above the last"};
  }
  return range;
}

/// An address, perhaps with `port RANGE`.
AclPrefix read_side(AclLine& line, const char* what, PortRange& ports) {
  const AclPrefix prefix = acl_prefix(line.word(what), false);
  if (!line.take("port")) return prefix;
  const std::string_view word = line.word("a port");
  if (word == "->") throw AclRefusal{"a port is missing"};
  if (word == "any") return prefix;
  const std::size_t dash = word.find('-');
  ports = dash == std::string_view::npos ? port_range(word, word)
                                         : port_range(word.substr(0, dash), word.substr(dash + 1));
  return prefix;
}

void set_ports(const PortRange& source, const PortRange& destination, AclRule& rule) {
  rule.source_port_low = source.low;
  rule.source_port_high = source.high;
  rule.destination_port_low = destination.low;
  rule.destination_port_high = destination.high;
}

std::uint8_t flag_bits(std::string_view letters) {
  unsigned bits = 0;
  if (letters == "0") return 0;
  for (const char letter : letters) {
    const std::size_t bit = kFlagLetters.find(letter);
    if (bit == std::string_view::npos) {
      throw AclRefusal{quoted_word(letters) + " are no TCP flags; there are " +
                       std::string(kFlagLetters)};
    }
    bits |= 1u << bit;
  }
  return static_cast<std::uint8_t>(bits);
}

/// "S/SA": of S and A, S alone is set.
void read_flags(std::string_view word, AclRule& rule) {
  if (rule.protocol != 6 || rule.protocol_mask != 0xff) {
    throw AclRefusal{"flags are TCP's: the protocol has to be tcp"};
  }
  const std::size_t slash = word.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == word.size()) {
    throw AclRefusal{"flags " + quoted_word(word) + ": SET/OF is expected, as S/SA"};
  }
  rule.flags = flag_bits(word.substr(0, slash));
  rule.flags_mask = flag_bits(word.substr(slash + 1));
  if ((rule.flags & ~rule.flags_mask) != 0 || rule.flags_mask == 0) {
    throw AclRefusal{"flags " + quoted_word(word) + ": those in front are among those behind"};
  }
}

/// Each option once.
void read_options(AclLine& line, AclNamedRule& out) {
  bool flags = false;
  while (!line.at_end()) {
    const std::string_view option = line.word("an option");
    const bool twice = option == "flags" ? flags
                       : option == "log" ? out.rule.log != 0
                                         : option == "name" && !out.name.empty();
    if (twice) throw AclRefusal{quoted_word(option) + " stands twice"};
    if (option == "flags") {
      read_flags(line.word("flags"), out.rule);
      flags = true;
    } else if (option == "name") {
      out.name = line.name();
    } else if (option == "log") {
      out.rule.log = 1;
    } else {
      throw AclRefusal{quoted_word(option) + " is no option; there are flags, log, name"};
    }
  }
}

AclNamedRule read_own(AclLine line, std::span<const RuleClass> classes) {
  AclNamedRule out;
  AclRule& rule = out.rule;
  read_action(line, classes, rule);
  const std::uint8_t families = read_protocol(line, rule);
  PortRange from, to;
  const AclPrefix source = read_side(line, "a source", from);
  if (!line.take("->")) throw AclRefusal{"'->' is expected between source and destination"};
  const AclPrefix destination = read_side(line, "a destination", to);
  acl_set_addresses(source, destination, families, rule);
  set_ports(from, to, rule);
  if (acl_asks_for_ports(rule) && rule.protocol_mask == 0xff &&
      !acl_protocol_has_ports(rule.protocol)) {
    throw AclRefusal{"protocol " + std::to_string(rule.protocol) + " has no ports"};
  }
  read_options(line, out);
  return out;
}

PortRange classbench_ports(AclLine& line) {
  const std::string_view low = line.word("a port");
  if (!line.take(":")) throw AclRefusal{"':' is expected between two ports"};
  return port_range(low, line.word("a port"));
}

/// `@SRC DST LOW : HIGH LOW : HIGH PROTOCOL/MASK` and one more word, of which nothing is taken.
AclNamedRule read_classbench(AclLine line) {
  AclNamedRule out;
  out.rule.action = static_cast<std::uint8_t>(AclAction::kAlert);
  const AclPrefix source = acl_prefix(line.word("a source").substr(1), true);
  const AclPrefix destination = acl_prefix(line.word("a destination"), true);
  acl_set_addresses(source, destination, kAclIpv4 | kAclIpv6, out.rule);
  const PortRange from = classbench_ports(line);
  set_ports(from, classbench_ports(line), out.rule);
  read_masked_protocol(line.word("a protocol"), out.rule);
  if (!line.at_end()) line.word("flags");
  if (!line.at_end()) throw AclRefusal{"more than a line of ClassBench has"};
  return out;
}

std::string_view without_line_end(std::string_view text) {
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

}  // namespace

AclRuleFile parse_acl_rules(std::string_view text, const std::string& file,
                            std::span<const RuleClass> classes) {
  AclRuleFile out;
  const std::string base_name = file.substr(file.find_last_of('/') + 1);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = without_line_end(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const AclLine line(one);
    if (line.at_end()) continue;
    try {
      if (out.rules.size() == kAclRuleCountMax) {
        throw AclRefusal{"more than " + std::to_string(kAclRuleCountMax) + " rules"};
      }
      const bool classbench = one[one.find_first_not_of(" \t")] == '@';
      AclNamedRule rule = classbench ? read_classbench(line) : read_own(line, classes);
      if (rule.name.empty()) rule.name = base_name + ":" + std::to_string(number);
      out.rules.push_back(std::move(rule));
    } catch (const AclRefusal& refusal) {
      out.refusals.push_back(file + ":" + std::to_string(number) + ": " + refusal.reason);
    }
  }
  return out;
}

}  // namespace millrace
