// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "services/functions/ids/rules/rule_words.hpp"
#include "shared/base/ascii.hpp"
#include "shared/base/quoted.hpp"

/// Keywords about headers of packets.

namespace millrace {
namespace {

constexpr std::uint32_t kByteMax = std::numeric_limits<std::uint8_t>::max();
constexpr std::uint32_t kShortMax = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint32_t kWordMax = std::numeric_limits<std::uint32_t>::max();

template <HeaderField Field, std::uint32_t Max>
void add_number(const RuleOption& option, RuleDraft& draft) {
  draft.signature.packet.headers.push_back({Field, number_test_of(option.value, Max)});
}

/// "!9" is of packets that carry something, as in Suricata; "<9" is of empty ones too.
void add_data_size(const RuleOption& option, RuleDraft& draft) {
  const NumberTest test = number_test_of(option.value, kShortMax);
  auto& headers = draft.signature.packet.headers;
  headers.push_back({HeaderField::kDataSize, test});
  if (test.negated) headers.push_back({HeaderField::kDataSize, {.low = 1}});
}

/// "!8", "x10" in hex.
void add_tos(const RuleOption& option, RuleDraft& draft) {
  std::string value(without_blanks(unquoted(option.value)));
  const std::size_t hex = value.find_first_of("xX");
  const bool is_hex = hex == 0 || (hex == 1 && value.front() == '!');
  if (is_hex) value.insert(hex, 1, '0');
  draft.signature.packet.headers.push_back({HeaderField::kTos, number_test_of(value, kByteMax)});
}

struct ProtocolName {
  std::string_view name;
  std::uint8_t number;
};
constexpr ProtocolName kProtocolNames[] = {
    {"icmp", 1},  {"igmp", 2},   {"ipencap", 4},    {"tcp", 6},    {"egp", 8},
    {"igp", 9},   {"udp", 17},   {"ipv6", 41},      {"rsvp", 46},  {"gre", 47},
    {"esp", 50},  {"ah", 51},    {"ipv6-icmp", 58}, {"eigrp", 88}, {"ospf", 89},
    {"pim", 103}, {"vrrp", 112}, {"l2tp", 115},     {"sctp", 132}, {"udplite", 136},
};

void add_protocol(const RuleOption& option, RuleDraft& draft) {
  const std::string value = in_lower_case(without_blanks(unquoted(option.value)));
  const bool negated = value.starts_with('!');
  const std::string_view name = without_blanks(std::string_view(value).substr(negated ? 1 : 0));
  const auto* const found = std::ranges::find(kProtocolNames, name, &ProtocolName::name);
  NumberTest test;
  if (found == std::end(kProtocolNames)) {
    test = number_test_of(value, kByteMax);
  } else {
    test = {.low = found->number, .high = found->number, .negated = negated};
  }
  draft.signature.packet.headers.push_back({HeaderField::kIpProtocol, test});
}

struct BitName {
  char letter;
  std::uint16_t bit;
};
// clang-format off
constexpr BitName kTcpFlags[] = {{'F', 0x01}, {'S', 0x02}, {'R', 0x04}, {'P', 0x08}, {'A', 0x10},
                                 {'U', 0x20}, {'2', 0x40}, {'E', 0x40}, {'1', 0x80}, {'C', 0x80},
                                 {'0', 0}};
constexpr BitName kFragmentBits[] = {{'M', 0x2000}, {'D', 0x4000}, {'R', 0x8000}};
// clang-format on
constexpr std::uint16_t kTcpFlagsAll = 0xff, kFragmentOffset = 0x1fff;

char in_upper_case(char byte) noexcept {
  return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
}

std::uint16_t bit_of(char letter, std::span<const BitName> names) {
  const auto found = std::ranges::find(names, in_upper_case(letter), &BitName::letter);
  if (found == names.end()) refuse_rule(quoted_word({&letter, 1}) + " is no bit of that header");
  return found->bit;
}

/// `+`, `*` and `!` stand in front of the letters or behind them.
std::optional<BitsTest::How> how_of(char sign) noexcept {
  switch (sign) {
    case '+':
      return BitsTest::How::kAllOf;
    case '*':
      return BitsTest::How::kAnyOf;
    case '!':
      return BitsTest::How::kNoneOf;
    default:
      return std::nullopt;
  }
}

BitsTest bits_of(std::string_view text, std::span<const BitName> names, const RuleDraft& draft) {
  BitsTest test;
  bool has_letters = false, has_sign = false;
  for (const char letter : text) {
    if (letter == ' ') continue;
    if (const auto how = how_of(letter)) {
      if (has_sign) refuse_rule("two signs stand beside its bits");
      has_sign = true;
      test.how = *how;
      continue;
    }
    has_letters = true;
    test.bits |= bit_of(letter, names);
  }
  if (!has_letters) refuse_rule("it names no bits");
  // Snort: none of the bits is set. Suricata: not all of them are.
  if (test.how == BitsTest::How::kNoneOf && std::popcount(test.bits) > 1 && !draft.is_snort3) {
    refuse_rule("'!' with several bits: Suricata and Snort differ in what it means");
  }
  return test;
}

/// "S,12": bits behind the comma do not matter.
void set_tcp_flags(const RuleOption& option, RuleDraft& draft) {
  std::optional<BitsTest>& tests = draft.signature.packet.tcp_flags;
  if (tests) refuse_rule("it stands twice");
  const auto parts = split_list(unquoted(option.value), ',');
  constexpr std::size_t kPartsMax = 2;
  if (parts.size() > kPartsMax) refuse_rule("it has flags and those that do not matter");
  BitsTest test = bits_of(parts[0], kTcpFlags, draft);
  if (parts.size() == kPartsMax) {
    for (const char letter : parts[1]) test.ignored |= bit_of(letter, kTcpFlags);
  }
  if (test.bits == 0) {
    // Of no flags at all, Suricata ignores none; "!0" is any flag.
    test.ignored = 0;
    if (test.how == BitsTest::How::kNoneOf) {
      test = {.how = BitsTest::How::kAnyOf, .bits = kTcpFlagsAll};
    } else if (test.how != BitsTest::How::kExactly) {
      refuse_rule("a sign beside no flags");
    }
  } else if ((test.bits & test.ignored) != 0) {
    refuse_rule("a flag that is asked for does not matter");
  }
  tests = test;
}

void set_fragment_bits(const RuleOption& option, RuleDraft& draft) {
  std::optional<BitsTest>& tests = draft.signature.packet.fragment_bits;
  if (tests) refuse_rule("it stands twice");
  tests = bits_of(unquoted(option.value), kFragmentBits, draft);
  tests->ignored = kFragmentOffset;
}

void set_same_address(const RuleOption&, RuleDraft& draft) {
  draft.signature.packet.same_address = true;
}

constexpr auto kNeeded = KeywordValue::kNeeded;
constexpr std::array kKeywords = {
    RuleKeyword{"dsize", kNeeded, add_data_size},
    RuleKeyword{"ttl", kNeeded, add_number<HeaderField::kTtl, kByteMax>},
    RuleKeyword{"tos", kNeeded, add_tos},
    RuleKeyword{"id", kNeeded, add_number<HeaderField::kIpId, kShortMax>},
    RuleKeyword{"ip_proto", kNeeded, add_protocol},
    RuleKeyword{"fragoffset", kNeeded, add_number<HeaderField::kFragmentOffset, kShortMax>},
    RuleKeyword{"fragbits", kNeeded, set_fragment_bits},
    RuleKeyword{"itype", kNeeded, add_number<HeaderField::kIcmpType, kByteMax>},
    RuleKeyword{"icode", kNeeded, add_number<HeaderField::kIcmpCode, kByteMax>},
    RuleKeyword{"icmp_id", kNeeded, add_number<HeaderField::kIcmpId, kShortMax>},
    RuleKeyword{"icmp_seq", kNeeded, add_number<HeaderField::kIcmpSequence, kShortMax>},
    RuleKeyword{"flags", kNeeded, set_tcp_flags},
    RuleKeyword{"tcp.flags", kNeeded, set_tcp_flags},
    RuleKeyword{"seq", kNeeded, add_number<HeaderField::kTcpSequence, kWordMax>},
    RuleKeyword{"tcp.seq", kNeeded, add_number<HeaderField::kTcpSequence, kWordMax>},
    RuleKeyword{"ack", kNeeded, add_number<HeaderField::kTcpAcknowledgment, kWordMax>},
    RuleKeyword{"tcp.ack", kNeeded, add_number<HeaderField::kTcpAcknowledgment, kWordMax>},
    RuleKeyword{"window", kNeeded, add_number<HeaderField::kTcpWindow, kShortMax>},
    RuleKeyword{"tcp.mss", kNeeded, add_number<HeaderField::kTcpMss, kShortMax>},
    RuleKeyword{"sameip", KeywordValue::kNone, set_same_address},
};

}  // namespace

RuleKeywords header_keywords() noexcept { return kKeywords; }

}  // namespace millrace
