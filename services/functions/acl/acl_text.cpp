// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_text.hpp"

#include <algorithm>
#include <utility>

#include "services/functions/acl/acl_match.hpp"
#include "services/functions/acl/acl_words.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

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

void read_options(AclLine& line, AclNamedRule& out) {
  AclOptionNames seen;
  while (!line.at_end()) {
    const std::string_view option = seen.next(line);
    if (option == "name") {
      out.name = line.name();
    } else if (option == "log") {
      out.rule.log = 1;
    } else if (!acl_read_option(line, option, out.rule)) {
      throw AclRefusal{quoted_word(option) + " is no option; there are " +
                       std::string(kAclOptionNames) + ", log, name"};
    }
  }
}

AclNamedRule read_own(AclLine line, std::span<const RuleClass> classes) {
  AclNamedRule out;
  read_action(line, classes, out.rule);
  acl_read_match(line, out.rule);
  read_options(line, out);
  return out;
}

AclPortRange classbench_ports(AclLine& line) {
  const std::string_view low = line.word("a port");
  if (!line.take(":")) throw AclRefusal{"':' is expected between two ports"};
  return acl_port_range(low, line.word("a port"));
}

/// `@SRC DST LOW : HIGH LOW : HIGH PROTOCOL/MASK` and one more word, of which nothing is taken.
AclNamedRule read_classbench(AclLine line) {
  AclNamedRule out;
  out.rule.action = static_cast<std::uint8_t>(AclAction::kAlert);
  const AclPrefix source = acl_prefix(line.word("a source").substr(1), true);
  const AclPrefix destination = acl_prefix(line.word("a destination"), true);
  acl_set_addresses(source, destination, kAclIpv4 | kAclIpv6, out.rule);
  const AclPortRange from = classbench_ports(line);
  acl_set_ports(from, classbench_ports(line), out.rule);
  acl_masked_protocol(line.word("a protocol"), out.rule);
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
