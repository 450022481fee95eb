// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "orchestration/planner/filter.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

using Kind = FilterToken::Kind;

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isxdigit(c) != 0; });
}

bool is_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return is_hexadecimal(text.substr(2));
  return is_digits(text);
}

/// "10", "10.1", "10.1.2.3", with "/8" behind or without.
bool is_dotted(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != text.npos && !is_digits(text.substr(slash + 1))) return false;
  std::string_view rest = text.substr(0, slash);
  for (int parts = 1; parts <= 4; ++parts) {
    const std::size_t dot = rest.find('.');
    if (!is_digits(rest.substr(0, dot))) return false;
    if (dot == rest.npos) return true;
    rest.remove_prefix(dot + 1);
  }
  return false;
}

/// A MAC or IPv6 address, more or less: libpcap says what is wrong with it.
bool has_colons(std::string_view text) {
  return text.find(':') != text.npos && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isxdigit(c) != 0 || c == ':' || c == '.' || c == '/';
         });
}

bool is_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  return dash != text.npos && is_digits(text.substr(0, dash)) && is_digits(text.substr(dash + 1));
}

Kind kind_of(std::string_view text) {
  if (is_number(text)) return Kind::kNumber;
  if (is_range(text)) return Kind::kRange;
  return is_dotted(text) || has_colons(text) ? Kind::kAddress : Kind::kWord;
}

/// How many bytes of `rest` are one word. Within brackets ':' and '-' are signs.
std::size_t word_size(std::string_view rest, bool in_brackets) {
  const auto fits = [&](unsigned char c) {
    if (std::isalnum(c) != 0 || c == '_') return true;
    return !in_brackets && (c == '.' || c == ':' || c == '/' || c == '-' || c == '\\');
  };
  std::size_t size = 0;
  while (size < rest.size() && fits(static_cast<unsigned char>(rest[size]))) ++size;
  // "len-4" is a subtraction.
  return rest.starts_with("len-") ? 3 : size;
}

struct Part {
  std::string_view protocol, index, what;
};

/// What lies where in a packet, as far as it differs between the packets of a flow.
constexpr Part kParts[] = {
    {"ip", "0", "the header length"},
    {"ip", "1", "the type of service"},
    {"ip", "2", "the length"},
    {"ip", "3", "the length"},
    {"ip", "4", "the identification"},
    {"ip", "5", "the identification"},
    {"ip", "6", "fragmentation"},
    {"ip", "7", "fragmentation"},
    {"ip", "8", "the TTL"},
    {"ip", "10", "the checksum"},
    {"ip6", "1", "the traffic class"},
    {"ip6", "4", "the length"},
    {"ip6", "7", "the hop limit"},
    {"tcp", "4", "the sequence number"},
    {"tcp", "8", "the acknowledgement number"},
    {"tcp", "12", "the header length"},
    {"tcp", "13", "the TCP flags"},
    {"tcp", "tcpflags", "the TCP flags"},
    {"tcp", "14", "the window"},
    {"udp", "4", "the length"},
    {"icmp", "icmptype", "the type of an ICMP message"},
    {"icmp", "0", "the type of an ICMP message"},
    {"icmp6", "icmp6type", "the type of an ICMP message"},
    {"icmp6", "0", "the type of an ICMP message"},
};

/// The same in all packets of a flow, or left to one_way_flow().
constexpr Part kSteady[] = {
    {"ip", "9", ""},    {"ip", "12", ""},   {"ip", "16", ""},    {"ip6", "6", ""},
    {"ip6", "8", ""},   {"ip6", "24", ""},  {"tcp", "0", ""},    {"tcp", "2", ""},
    {"udp", "0", ""},   {"udp", "2", ""},   {"sctp", "0", ""},   {"sctp", "2", ""},
    {"ether", "0", ""}, {"ether", "6", ""}, {"ether", "12", ""},
};

template <std::size_t kCount>
const Part* find_part(const Part (&parts)[kCount], std::string_view protocol,
                      std::string_view index) {
  for (const Part& part : parts) {
    if (part.protocol == protocol && part.index == index) return &part;
  }
  return nullptr;
}

/// `at`: of the bracket. The index as far as it is one number or name.
std::string_view index_of_bracket(std::span<const FilterToken> tokens, std::size_t at) {
  if (at + 2 >= tokens.size()) return {};
  const std::string& behind = tokens[at + 2].text;
  return behind == "]" || behind == ":" ? std::string_view(tokens[at + 1].text) : "";
}

}  // namespace

std::optional<std::vector<FilterToken>> filter_tokens(const std::string& text,
                                                      FilterProblem& problem) {
  constexpr std::string_view kSigns = "()[]!&|=<>+-*/%^:";
  std::vector<FilterToken> tokens;
  bool in_brackets = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at;
      continue;
    }
    const bool sign = kSigns.find(c) != kSigns.npos;
    // An IPv6 address may begin with its "::".
    const bool colons = !in_brackets && text.compare(at, 2, "::") == 0;
    const std::size_t size =
        sign && !colons ? 1 : word_size(std::string_view(text).substr(at), in_brackets);
    if (size == 0) {
      problem = {at,
                 "'" + std::string(1, std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?') +
                     "' in a filter",
                 "pcap filter syntax, see pcap-filter(7)", ""};
      return std::nullopt;
    }
    std::string word = text.substr(at, size);
    const Kind kind = sign && !colons ? Kind::kSign : kind_of(word);
    if (word == "[") in_brackets = true;
    if (word == "]") in_brackets = false;
    tokens.push_back({kind, at, std::move(word)});
    at += size;
  }
  return tokens;
}

std::vector<FilterWarning> warn_of_parts(std::span<const FilterToken> tokens) {
  std::vector<FilterWarning> warnings;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const FilterToken& token = tokens[i];
    if (token.kind != Kind::kWord) continue;
    if (token.text == "less" || token.text == "greater" || token.text == "len" ||
        token.text == "length") {
      warnings.push_back({token.at, "it looks at the length of packets"});
      continue;
    }
    if (i + 1 >= tokens.size() || tokens[i + 1].text != "[") continue;
    const std::string_view index = index_of_bracket(tokens, i + 1);
    if (find_part(kSteady, token.text, index) != nullptr) continue;
    const Part* part = find_part(kParts, token.text, index);
    const std::string_view what =
        part != nullptr ? part->what : "bytes, which differ from packet to packet";
    warnings.push_back({token.at, "it looks at " + std::string(what)});
  }
  return warnings;
}

}  // namespace millrace
