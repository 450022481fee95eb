// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "services/functions/ids/rules/rule_set.hpp"
#include "services/functions/ids/rules/rule_words.hpp"
#include "services/functions/rule_files.hpp"
#include "shared/base/error.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

struct Variable {
  const char *name, *value;
};
// clang-format off
constexpr std::array kVariables = {
    Variable{"HOME_NET", "[192.168.0.0/16,10.0.0.0/8,172.16.0.0/12]"},
    Variable{"EXTERNAL_NET", "!$HOME_NET"},
    Variable{"HTTP_SERVERS", "$HOME_NET"},
    Variable{"SMTP_SERVERS", "$HOME_NET"},
    Variable{"SQL_SERVERS", "$HOME_NET"},
    Variable{"DNS_SERVERS", "$HOME_NET"},
    Variable{"TELNET_SERVERS", "$HOME_NET"},
    Variable{"AIM_SERVERS", "$EXTERNAL_NET"},
    Variable{"DC_SERVERS", "$HOME_NET"},
    Variable{"DNP3_SERVER", "$HOME_NET"},
    Variable{"DNP3_CLIENT", "$HOME_NET"},
    Variable{"MODBUS_CLIENT", "$HOME_NET"},
    Variable{"MODBUS_SERVER", "$HOME_NET"},
    Variable{"ENIP_CLIENT", "$HOME_NET"},
    Variable{"ENIP_SERVER", "$HOME_NET"},
    Variable{"HTTP_PORTS", "80"},
    Variable{"SHELLCODE_PORTS", "!80"},
    Variable{"ORACLE_PORTS", "1521"},
    Variable{"SSH_PORTS", "22"},
    Variable{"DNP3_PORTS", "20000"},
    Variable{"MODBUS_PORTS", "502"},
    Variable{"FILE_DATA_PORTS", "[$HTTP_PORTS,110,143]"},
    Variable{"FTP_PORTS", "21"},
    Variable{"GENEVE_PORTS", "6081"},
    Variable{"VXLAN_PORTS", "4789"},
    Variable{"TEREDO_PORTS", "3544"},
    // Those that rules of Snort name besides.
    Variable{"SIP_SERVERS", "$HOME_NET"},
    Variable{"SSH_SERVERS", "$HOME_NET"},
    Variable{"FTP_SERVERS", "$HOME_NET"},
    Variable{"SIP_PORTS", "[5060,5061,5600]"},
    Variable{"MAIL_PORTS", "[25,110,143]"},
};

struct Class {
  const char* name;
  std::uint8_t priority;
};
/// Names that public rules use for their class. What they mean to people is said by a file.
constexpr std::array kClasses = {
    Class{"attempted-admin", 1}, Class{"attempted-user", 1}, Class{"coin-mining", 1},
    Class{"command-and-control", 1}, Class{"credential-theft", 1}, Class{"domain-c2", 1},
    Class{"exploit-kit", 1}, Class{"inappropriate-content", 1}, Class{"policy-violation", 1},
    Class{"shellcode-detect", 1}, Class{"social-engineering", 1}, Class{"successful-admin", 1},
    Class{"successful-user", 1}, Class{"targeted-activity", 1}, Class{"trojan-activity", 1},
    Class{"unsuccessful-user", 1}, Class{"web-application-attack", 1},
    Class{"attempted-dos", 2}, Class{"attempted-recon", 2}, Class{"bad-unknown", 2},
    Class{"default-login-attempt", 2}, Class{"denial-of-service", 2}, Class{"external-ip-check", 2},
    Class{"misc-attack", 2}, Class{"non-standard-protocol", 2}, Class{"pup-activity", 2},
    Class{"rpc-portmap-decode", 2}, Class{"successful-dos", 2},
    Class{"successful-recon-largescale", 2}, Class{"successful-recon-limited", 2},
    Class{"suspicious-filename-detect", 2}, Class{"suspicious-login", 2},
    Class{"system-call-detect", 2}, Class{"unusual-client-port-connection", 2},
    Class{"web-application-activity", 2}, Class{"sdf", 2},
    Class{"icmp-event", 3}, Class{"misc-activity", 3}, Class{"network-scan", 3},
    Class{"not-suspicious", 3}, Class{"protocol-command-decode", 3}, Class{"string-detect", 3},
    Class{"unknown", 3}, Class{"tcp-connection", 4},
};
// clang-format on

/// Takes the word up to a comma.
std::string_view take_field(std::string_view& rest) {
  const std::size_t comma = std::min(rest.find(','), rest.size());
  const std::string_view field = without_blanks(rest.substr(0, comma));
  rest.remove_prefix(std::min(comma + 1, rest.size()));
  return field;
}

std::optional<std::uint8_t> parse_priority(std::string_view word) {
  std::uint8_t priority = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, priority);
  if (error != std::errc() || end != last || priority == 0) return std::nullopt;
  return priority;
}

/// A line that is not empty and no comment. Throws Error without a place.
void read_class(std::string_view line, RuleSetup& setup) {
  constexpr std::string_view kStart = "config classification:";
  if (!line.starts_with(kStart)) {
    throw Error(quoted_word(line) + " is no 'config classification: name,description,priority'");
  }
  line.remove_prefix(kStart.size());
  const std::string_view name = take_field(line);
  // A description has no comma; the priority is behind the last.
  const std::size_t comma = line.rfind(',');
  if (name.empty() || comma == std::string_view::npos) {
    throw Error("a class has a name, a description and a priority, with commas between them");
  }
  const auto priority = parse_priority(without_blanks(line.substr(comma + 1)));
  if (!priority) {
    throw Error("the priority " + quoted_word(without_blanks(line.substr(comma + 1))) +
                " is no number from 1 to 255");
  }
  setup.classes.insert_or_assign(
      std::string(name), std::pair(*priority, std::string(without_blanks(line.substr(0, comma)))));
}

}  // namespace

RuleSetup default_rule_setup() {
  RuleSetup setup;
  for (const Variable& variable : kVariables) setup.variables[variable.name] = variable.value;
  for (const Class& known : kClasses) setup.classes[known.name] = {known.priority, ""};
  return setup;
}

std::size_t load_classification(const std::string& path, RuleSetup& setup) {
  const std::string text = read_rule_file(path);
  std::string_view rest = text;
  std::size_t line_count = 0;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = without_blanks(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.starts_with('#')) continue;
    while_doing(path + ":" + std::to_string(number), [&] { read_class(line, setup); });
    ++line_count;
  }
  return line_count;
}

}  // namespace millrace
