// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ipv4_options.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <vector>

#include "tests/unit/shared/packet/hex_bytes.hpp"
#include "tests/unit/shared/packet/ipv4_options_oracle.hpp"

namespace millrace::ipv4_options_test {
namespace {

using Bytes = std::vector<std::byte>;
using Result = Ipv4OptionsResult;

constexpr std::uint32_t kOwn = 0xc0000201, kTimeMs = 0x01020304;

std::uint16_t slow_checksum(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    sum += std::to_integer<std::uint32_t>(bytes[at]) << (at % 2 == 0 ? 8 : 0);
  }
  while (sum > 0xffff) sum = sum % 65536 + sum / 65536;
  return static_cast<std::uint16_t>(~sum);
}

void set_checksum(Bytes& header) {
  header[10] = header[11] = std::byte{0};
  const std::uint16_t checksum = slow_checksum(header);
  header[10] = static_cast<std::byte>(checksum >> 8);
  header[11] = static_cast<std::byte>(checksum);
}

/// A header with the options, filled up with an end of options, and a right checksum.
Bytes header_with(std::initializer_list<unsigned> options) {
  Bytes header = bytes_of_hex("45000027004d0000011185370a010005c6336409");
  for (const unsigned option : options) header.push_back(static_cast<std::byte>(option));
  while (header.size() % 4 != 0) header.push_back(std::byte{0});
  header[0] = static_cast<std::byte>(0x40 + header.size() / 4);
  set_checksum(header);
  return header;
}

/// Both functions say so, and nothing is written.
void expect_refused(Bytes header, Ipv4OptionsVerdict expected, const char* what) {
  const Bytes before = header;
  EXPECT_EQ(check_ipv4_options(header), expected) << what;
  EXPECT_EQ(apply_ipv4_options(header, kOwn, kTimeMs), expected) << what;
  EXPECT_EQ(header, before) << what;
}

struct Entry {
  const char* what;
  const char* before;
  const char* after;
};

// clang-format off
/// Both headers are Scapy's.
constexpr Entry kEntries[] = {
    {"record route",
     "49000024004d000009006e3c0a010005c6336409070f0400000000000000000000000000",
     "49000024004d00000900687a0a010005c6336409070f08c0000201000000000000000000"},
    {"record route with one address",
     "49000024004d0000090058290a010005c6336409070f080a090909000000000000000000",
     "49000024004d0000090052670a010005c6336409070f0c0a090909c00002010000000000"},
    {"times",
     "49000024004d00000900303b0a010005c633640944100500000000000000000000000000",
     "49000024004d0000090028350a010005c633640944100900010203040000000000000000"},
    {"second of two times",
     "48000020004d000009001a310a010005c6336409440c09000a09090900000000",
     "48000020004d00000900122b0a010005c6336409440c0d000a09090901020304"},
    {"addresses and times",
     "4a000028004d000009002f320a010005c63364094414050100000000000000000000000000000000",
     "4a000028004d00000900612a0a010005c633640944140d01c0000201010203040000000000000000"},
    {"prespecified, ours",
     "48000020004d000009006f3e0a010005c6336409440c0503c000020100000000",
     "48000020004d0000090063380a010005c6336409440c0d03c000020101020304"},
    {"prespecified, second is ours",
     "4a000028004d000009004e160a010005c633640944140d030a09090901020304c000020100000000",
     "4a000028004d0000090042100a010005c6336409441415030a09090901020304c000020101020304"},
    {"times without room",
     "4700001c004d000009001b090a010005c6336409440809300a090909",
     "4700001c004d000009001af90a010005c6336409440809400a090909"},
    {"addresses without room",
     "48000020004d00000900023e0a010005c6336409440c0de10a0909090a090909",
     "48000020004d00000900022e0a010005c6336409440c0df10a0909090a090909"},
    {"at an odd offset behind others",
     "4b00002c004d000009001d9c0a010005c63364090194040000070b0400000000000000004408050000000000",
     "4b00002c004d0000090053900a010005c63364090194040000070b08c0000201000000004408090001020304"},
};
// clang-format on

TEST(Ipv4Options, EntriesAreMadeAndTheChecksumFollows) {
  for (const Entry& entry : kEntries) {
    Bytes header = bytes_of_hex(entry.before);
    EXPECT_EQ(check_ipv4_options(header).result, Result::kChanged) << entry.what;
    EXPECT_EQ(apply_ipv4_options(header, kOwn, kTimeMs), (Ipv4OptionsVerdict{Result::kChanged, 0}))
        << entry.what;
    EXPECT_EQ(hex_of_bytes(header), entry.after) << entry.what;
  }
}

TEST(Ipv4Options, HeadersWithoutAnEntryToMakePass) {
  expect_refused(header_with({}), {}, "no options");
  expect_refused(header_with({1, 1, 1, 0}), {}, "padding");
  expect_refused(header_with({0, 7, 1, 255}), {}, "behind the end of options");
  expect_refused(header_with({0x94, 4, 0, 0}), {}, "router alert");
  expect_refused(header_with({0x94, 5, 0, 0, 0}), {}, "router alert, and more");
  expect_refused(header_with({130, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 77, 2}), {}, "unknown");
  expect_refused(header_with({7, 7, 8, 1, 2, 3, 4}), {}, "full record route");
  expect_refused(header_with({7, 7, 255, 1, 2, 3, 4}), {}, "full record route, pointer far off");
  expect_refused(header_with({7, 3, 4}), {}, "record route that never had room");
  expect_refused(header_with({68, 12, 13, 0xf3, 1, 2, 3, 4, 5, 6, 7, 8}), {}, "full, prespecified");
  expect_refused(header_with({68, 8, 5, 2, 0, 0, 0, 0}), {}, "timestamp of an unknown kind");
}

TEST(Ipv4Options, PrespecifiedAddressesOfOthersStay) {
  Bytes header = header_with({68, 12, 5, 3, 10, 9, 9, 9, 0, 0, 0, 0});
  const Bytes before = header;
  EXPECT_EQ(check_ipv4_options(header).result, Result::kChanged);
  EXPECT_EQ(apply_ipv4_options(header, kOwn, kTimeMs), Ipv4OptionsVerdict{});
  EXPECT_EQ(header, before);
}

TEST(Ipv4Options, SourceRoutesAreRefusedWithTheirPlace) {
  expect_refused(header_with({131, 7, 4, 1, 2, 3, 4}), {Result::kSourceRoute, 20}, "loose");
  expect_refused(header_with({1, 137, 7, 4, 1, 2, 3, 4}), {Result::kSourceRoute, 21}, "strict");
  expect_refused(header_with({131, 7, 8, 1, 2, 3, 4}), {Result::kSourceRoute, 20}, "used up");
  expect_refused(header_with({7, 7, 4, 0, 0, 0, 0, 131, 7, 4, 1, 2, 3, 4}),
                 {Result::kSourceRoute, 27}, "behind a record route");
  expect_refused(header_with({131, 7, 4, 1, 2, 3, 4, 7, 7, 4, 0, 0, 0, 0}),
                 {Result::kSourceRoute, 20}, "in front of a record route");
}

TEST(Ipv4Options, ProblemsNameTheByteThatLinuxNames) {
  expect_refused(header_with({1, 1, 1, 7}), {Result::kProblem, 23}, "no length");
  expect_refused(header_with({7, 0, 4, 0}), {Result::kProblem, 20}, "length 0");
  expect_refused(header_with({1, 77, 1, 0}), {Result::kProblem, 21}, "length 1");
  expect_refused(header_with({77, 5, 0, 0}), {Result::kProblem, 20}, "length beyond the header");
  expect_refused(header_with({7, 2, 0, 0}), {Result::kProblem, 21}, "no room for a pointer");
  expect_refused(header_with({7, 7, 3, 0, 0, 0, 0}), {Result::kProblem, 22}, "pointer too small");
  expect_refused(header_with({7, 6, 4, 0, 0, 0}), {Result::kProblem, 22}, "half an address");
  expect_refused(header_with({7, 3, 4, 7, 3, 4}), {Result::kProblem, 23}, "second record route");
  expect_refused(header_with({68, 3, 5, 0}), {Result::kProblem, 21}, "no room for flags");
  expect_refused(header_with({68, 8, 4, 0, 0, 0, 0, 0}), {Result::kProblem, 22}, "small pointer");
  expect_refused(header_with({68, 7, 5, 0, 0, 0, 0}), {Result::kProblem, 22}, "half a time");
  expect_refused(header_with({68, 8, 5, 1, 0, 0, 0, 0}), {Result::kProblem, 22}, "no time behind");
  expect_refused(header_with({68, 8, 5, 3, 0, 0, 0, 0}), {Result::kProblem, 22}, "half an entry");
  expect_refused(header_with({68, 8, 9, 0xf0, 0, 0, 0, 0}), {Result::kProblem, 23}, "16 overflows");
  expect_refused(header_with({68, 4, 5, 0, 68, 4, 5, 0}), {Result::kProblem, 24}, "second times");
  expect_refused(header_with({131, 2, 0}), {Result::kProblem, 21}, "source route, no pointer");
  expect_refused(header_with({131, 3, 3}), {Result::kProblem, 22}, "source route, small pointer");
  expect_refused(header_with({131, 3, 4, 137, 3, 4}), {Result::kProblem, 23}, "two source routes");
  expect_refused(header_with({131, 3, 4, 77, 1}), {Result::kProblem, 23}, "behind a source route");
  expect_refused(header_with({7, 7, 4, 0, 0, 0, 0, 77, 1}), {Result::kProblem, 27},
                 "behind a record route, which stays empty");
}

TEST(Ipv4Options, SpansThatAreNoHeaderAreNotReadBeyond) {
  const Bytes whole = header_with({7, 39, 4});
  for (std::size_t size = 0; size < 20; ++size) {
    expect_refused(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), {},
                   "too short");
  }
  Bytes longer(300, std::byte{1});
  longer[60] = std::byte{7};
  expect_refused(longer, {}, "longer than any header");
}

TEST(Ipv4Options, AWrongChecksumStaysWrong) {
  Bytes header = header_with({7, 7, 4, 0, 0, 0, 0});
  header[8] ^= std::byte{1};
  EXPECT_EQ(apply_ipv4_options(header, kOwn, kTimeMs).result, Result::kChanged);
  EXPECT_NE(slow_checksum(header), 0);
}

/// Options that are often nearly right.
Bytes random_header(std::mt19937& random) {
  constexpr unsigned kTypes[] = {0, 1, 7, 7, 68, 68, 68, 131, 137, 148, 130};
  Bytes header = header_with({});
  const std::size_t size = 20 + random() % 11 * 4;
  while (header.size() < size) {
    const unsigned type = kTypes[random() % (random() % 8 == 0 ? 11 : 7)];
    header.push_back(static_cast<std::byte>(type));
    if (type < 2) continue;
    const std::size_t length =
        random() % 4 == 0 ? random() % 16 : 3 + random() % 2 + random() % 5 * 4;
    header.push_back(static_cast<std::byte>(length));
    header.push_back(static_cast<std::byte>(random() % 4 == 0 ? random() % 20
                                                              : 4 + random() % 5 * 4 + type % 2));
    header.push_back(static_cast<std::byte>(random() % 4 + (random() % 4 == 0 ? 0xf0 : 0)));
    for (std::size_t at = 4; at < length; ++at) {
      // Often bytes of our own address.
      header.push_back(static_cast<std::byte>(kOwn >> (24 - 8 * (at % 4))));
    }
  }
  header.resize(size);
  header[0] = static_cast<std::byte>(0x40 + size / 4);
  set_checksum(header);
  return header;
}

TEST(Ipv4Options, AnyHeaderFaresAsInLinux) {
  std::mt19937 random(7);
  unsigned count[4] = {};
  for (int i = 0; i < 200'000; ++i) {
    const Bytes before = random_header(random);
    Bytes expected = before, header = before;
    const ipv4_options_oracle::Outcome outcome =
        ipv4_options_oracle::forward(expected, kOwn, kTimeMs);
    const Ipv4OptionsVerdict checked = check_ipv4_options(header);
    const Ipv4OptionsVerdict applied = apply_ipv4_options(header, kOwn, kTimeMs);
    ++count[static_cast<unsigned>(applied.result)];
    if (outcome.problem || outcome.source_route) {
      EXPECT_EQ(applied.result, outcome.problem ? Result::kProblem : Result::kSourceRoute);
      EXPECT_EQ(checked, applied);
      if (outcome.problem) {
        EXPECT_EQ(applied.pointer, outcome.pointer);
      }
      EXPECT_EQ(header, before);
    } else {
      EXPECT_EQ(applied.result, outcome.changed ? Result::kChanged : Result::kNothing);
      if (outcome.changed) {
        EXPECT_EQ(checked.result, Result::kChanged);
      }
      set_checksum(expected);
      EXPECT_EQ(header, expected);
    }
    ASSERT_FALSE(HasFailure()) << hex_of_bytes(before);
  }
  for (const unsigned times : count) EXPECT_GT(times, 1000U);
}

}  // namespace
}  // namespace millrace::ipv4_options_test
