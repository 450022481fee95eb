// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/flow_filter.hpp"

#include <algorithm>
#include <charconv>

#include "shared/base/error.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kPortMax = 65535, kProtocolMax = 255;

Error not_allowed(std::string_view key, std::string_view value, std::string_view allowed) {
  return Error("--filter: found '" + std::string(value) + "' as '" + std::string(key) +
               "'; allowed: " + std::string(allowed));
}

std::optional<std::uint32_t> number_of(std::string_view text, std::uint32_t most) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number > most) {
    return std::nullopt;
  }
  return number;
}

FlowTerm address_term(std::string_view key, std::string_view value) {
  const auto prefix = AddressPrefix::parse(value);
  if (!prefix) throw not_allowed(key, value, AddressPrefix::kAllowed);
  return {.prefix = *prefix, .word = {}};
}

FlowTerm range_term(std::string_view key, std::string_view value) {
  const std::size_t dash = value.find('-');
  const auto first = number_of(value.substr(0, dash), kPortMax);
  const auto last =
      dash == std::string_view::npos ? first : number_of(value.substr(dash + 1), kPortMax);
  if (!first || !last || *first > *last) {
    throw not_allowed(key, value, "a number from 0 to 65535, or a range like 1024-65535");
  }
  return {.first = *first, .last = *last, .word = {}};
}

FlowTerm protocol_term(std::string_view key, std::string_view value) {
  constexpr struct {
    std::string_view name;
    std::uint32_t number;
  } kNames[] = {{"tcp", 6}, {"udp", 17}, {"icmp", 1}, {"icmpv6", 58}, {"sctp", 132}};
  for (const auto& row : kNames) {
    if (value == row.name) return {.first = row.number, .last = row.number, .word = {}};
  }
  const auto number = number_of(value, kProtocolMax);
  if (!number) throw not_allowed(key, value, "tcp, udp, icmp, icmpv6, sctp, or a number to 255");
  return {.first = *number, .last = *number, .word = {}};
}

FlowTerm state_term(std::string_view /*key*/, std::string_view value) {
  const auto names = flow_state_names();
  if (std::ranges::find(names, value) == names.end()) {
    throw Error("--filter: " + no_such("state", std::string(value), names));
  }
  return {.word = std::string(value)};
}

FlowTerm choice_term(std::string_view key, std::string_view value) {
  if (value != "yes" && value != "no") throw not_allowed(key, value, "yes, no");
  return {.word = std::string(value)};
}

FlowTerm word_term(std::string_view /*key*/, std::string_view value) {
  return {.word = std::string(value)};
}

bool is_in(const FlowTerm& term, std::uint8_t version, const Ipv6Bytes& address) {
  return term.prefix.contains(version, address);
}

bool is_in(const FlowTerm& term, std::uint32_t number) {
  return number >= term.first && number <= term.last;
}

bool has_source(const FlowLine& line, const FlowTerm& term) {
  return is_in(term, line.tuple.version, line.tuple.source);
}
bool has_destination(const FlowLine& line, const FlowTerm& term) {
  return is_in(term, line.tuple.version, line.tuple.destination);
}
bool has_address(const FlowLine& line, const FlowTerm& term) {
  return has_source(line, term) || has_destination(line, term) ||
         is_in(term, line.answer.version, line.answer.source) ||
         is_in(term, line.answer.version, line.answer.destination);
}
bool has_source_port(const FlowLine& line, const FlowTerm& term) {
  return is_in(term, line.tuple.source_port);
}
bool has_destination_port(const FlowLine& line, const FlowTerm& term) {
  return is_in(term, line.tuple.destination_port);
}
bool has_port(const FlowLine& line, const FlowTerm& term) {
  return has_source_port(line, term) || has_destination_port(line, term) ||
         is_in(term, line.answer.source_port) || is_in(term, line.answer.destination_port);
}
bool has_protocol(const FlowLine& line, const FlowTerm& term) {
  return is_in(term, line.tuple.protocol);
}
bool has_state(const FlowLine& line, const FlowTerm& term) { return line.state == term.word; }
bool has_translation(const FlowLine& line, const FlowTerm& term) {
  return line.is_translated() == (term.word == "yes");
}
bool has_path(const FlowLine& line, const FlowTerm& term) { return line.path == term.word; }
bool has_function(const FlowLine& line, const FlowTerm& term) { return line.function == term.word; }
bool has_lane(const FlowLine& line, const FlowTerm& term) { return is_in(term, line.lane); }

struct Key {
  std::string_view name;
  FlowTerm (*read)(std::string_view key, std::string_view value);
  bool (*test)(const FlowLine& line, const FlowTerm& term);
};
constexpr Key kKeys[] = {
    {"addr", address_term, has_address},    {"dport", range_term, has_destination_port},
    {"dst", address_term, has_destination}, {"function", word_term, has_function},
    {"lane", range_term, has_lane},         {"path", word_term, has_path},
    {"port", range_term, has_port},         {"proto", protocol_term, has_protocol},
    {"sport", range_term, has_source_port}, {"src", address_term, has_source},
    {"state", state_term, has_state},       {"translated", choice_term, has_translation}};

const Key& key_of(std::string_view name) {
  const auto at = std::ranges::find(kKeys, name, &Key::name);
  if (at != std::end(kKeys)) return *at;
  std::vector<std::string_view> names;
  for (const Key& key : kKeys) names.push_back(key.name);
  throw Error("--filter: " + no_such("key", name, names));
}

/// Pieces between `separator`, empty ones too.
std::vector<std::string_view> pieces_of(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

FlowFilter::Pair FlowFilter::pair_of(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw Error("--filter: found '" + std::string(text) +
                "'; allowed: KEY=VALUE or KEY!=VALUE, like dst=10.0.0.0/8 proto=tcp,udp");
  }
  const bool negated = text[equals - 1] == '!';
  const std::string_view name = text.substr(0, equals - (negated ? 1 : 0));
  const Key& key = key_of(name);
  Pair pair{.test = key.test, .is_negated = negated, .terms = {}};
  for (const std::string_view value : pieces_of(text.substr(equals + 1), ',')) {
    pair.terms.push_back(key.read(key.name, value));
  }
  return pair;
}

FlowFilter::FlowFilter(std::string_view text) {
  for (const std::string_view piece : pieces_of(text, ' ')) {
    if (!piece.empty()) pairs_.push_back(pair_of(piece));
  }
}

bool FlowFilter::takes(const FlowLine& line) const {
  return std::ranges::all_of(pairs_, [&](const Pair& pair) {
    const bool has = std::ranges::any_of(
        pair.terms, [&](const FlowTerm& term) { return pair.test(line, term); });
    return has != pair.is_negated;
  });
}

}  // namespace millrace
