// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ipv4_fragments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace::ipv4_fragments_test {
namespace {

using Bytes = std::vector<std::byte>;

std::size_t u16(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<std::size_t>(bytes[at]) << 8 | std::to_integer<std::size_t>(bytes[at + 1]);
}

void put16(Bytes& bytes, std::size_t at, std::size_t value) {
  bytes[at] = static_cast<std::byte>(value >> 8);
  bytes[at + 1] = static_cast<std::byte>(value);
}

std::size_t slow_checksum(std::span<const std::byte> bytes) {
  std::size_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 2) sum += u16(bytes, at);
  while (sum > 0xffff) sum = sum % 65536 + sum / 65536;
  return sum ^ 0xffff;
}

Bytes bytes_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// `options`: a multiple of 4 bytes. `field`: flags and offset.
Bytes datagram(const Bytes& options, std::size_t data_bytes, std::size_t field,
               std::mt19937& random) {
  Bytes bytes = bytes_of_hex("4508000012670000403fabcd0a010005c6336409");
  bytes.insert(bytes.end(), options.begin(), options.end());
  bytes[0] = static_cast<std::byte>(0x40 + bytes.size() / 4);
  put16(bytes, 2, bytes.size() + data_bytes);
  put16(bytes, 6, field);
  put16(bytes, 10, 0);
  put16(bytes, 10, slow_checksum(bytes));
  for (std::size_t i = 0; i < data_bytes; ++i) bytes.push_back(static_cast<std::byte>(random()));
  return bytes;
}

/// All fragments, each written into a block of exactly its size.
std::vector<Bytes> fragments_of(std::span<const std::byte> datagram, std::size_t mtu) {
  const Ipv4Fragments fragments(datagram, mtu);
  std::vector<Bytes> all;
  for (std::uint32_t number = 0; number < fragments.count(); ++number) {
    Bytes out(mtu, std::byte{0xee});
    const std::size_t bytes = fragments.write(number, out);
    EXPECT_GT(bytes, 0U);
    EXPECT_LE(bytes, mtu);
    EXPECT_TRUE(std::all_of(out.begin() + static_cast<std::ptrdiff_t>(bytes), out.end(),
                            [](std::byte byte) { return byte == std::byte{0xee}; }));
    out.resize(bytes);
    all.push_back(out);
  }
  return all;
}

struct NamedDatagram {
  const char* what;
  std::size_t mtu;
  const char* hex;
  std::vector<const char*> fragments;
};

// clang-format off
/// Split by Scapy's fragment().
const NamedDatagram kDatagrams[] = {
    {"three of UDP", 84,
     "4508009e126700003f11349e0a010005c633640900070009008a291f030a11181f262d343b424950575e65"
     "6c737a81888f969da4abb2b9c0c7ced5dce3eaf1f8ff060d141b222930373e454c535a61686f767d848b92"
     "99a0a7aeb5bcc3cad1d8dfe6edf4fb020910171e252c333a41484f565d646b727980878e959ca3aab1b8bf"
     "c6cdd4dbe2e9f0f7fe050c131a21282f363d444b525960676e757c838a",
     {
      "45080054126720003f1114e80a010005c633640900070009008a291f030a11181f262d343b424950575e65"
      "6c737a81888f969da4abb2b9c0c7ced5dce3eaf1f8ff060d141b222930373e454c535a61686f767d84",
      "45080054126720083f1114e00a010005c63364098b9299a0a7aeb5bcc3cad1d8dfe6edf4fb020910171e25"
      "2c333a41484f565d646b727980878e959ca3aab1b8bfc6cdd4dbe2e9f0f7fe050c131a21282f363d44",
      "4508001e126700103f11350e0a010005c63364094b525960676e757c838a",
     }},
    {"exactly two", 76,
     "45080084126700003fc834010a010005c6336409030a11181f262d343b424950575e656c737a81888f969d"
     "a4abb2b9c0c7ced5dce3eaf1f8ff060d141b222930373e454c535a61686f767d848b9299a0a7aeb5bcc3ca"
     "d1d8dfe6edf4fb020910171e252c333a41484f565d646b727980878e959ca3aab1b8bfc6cdd4dbe2e9f0f7"
     "fe050c",
     {
      "4508004c126720003fc814390a010005c6336409030a11181f262d343b424950575e656c737a81888f969d"
      "a4abb2b9c0c7ced5dce3eaf1f8ff060d141b222930373e454c535a61686f767d84",
      "4508004c126700073fc834320a010005c63364098b9299a0a7aeb5bcc3cad1d8dfe6edf4fb020910171e25"
      "2c333a41484f565d646b727980878e959ca3aab1b8bfc6cdd4dbe2e9f0f7fe050c",
     }},
    {"a fragment in the middle", 68,
     "4508008c126720643fc813950a010005c6336409030a11181f262d343b424950575e656c737a81888f969d"
     "a4abb2b9c0c7ced5dce3eaf1f8ff060d141b222930373e454c535a61686f767d848b9299a0a7aeb5bcc3ca"
     "d1d8dfe6edf4fb020910171e252c333a41484f565d646b727980878e959ca3aab1b8bfc6cdd4dbe2e9f0f7"
     "fe050c131a21282f363d44",
     {
      "45080044126720643fc813dd0a010005c6336409030a11181f262d343b424950575e656c737a81888f969d"
      "a4abb2b9c0c7ced5dce3eaf1f8ff060d141b222930373e454c",
      "450800441267206a3fc813d70a010005c6336409535a61686f767d848b9299a0a7aeb5bcc3cad1d8dfe6ed"
      "f4fb020910171e252c333a41484f565d646b727980878e959c",
      "4508002c126720703fc813e90a010005c6336409a3aab1b8bfc6cdd4dbe2e9f0f7fe050c131a21282f363d"
      "44",
     }},
    {"a last fragment", 68,
     "45080089126700643fc833980a010005c6336409030a11181f262d343b424950575e656c737a81888f969d"
     "a4abb2b9c0c7ced5dce3eaf1f8ff060d141b222930373e454c535a61686f767d848b9299a0a7aeb5bcc3ca"
     "d1d8dfe6edf4fb020910171e252c333a41484f565d646b727980878e959ca3aab1b8bfc6cdd4dbe2e9f0f7"
     "fe050c131a21282f",
     {
      "45080044126720643fc813dd0a010005c6336409030a11181f262d343b424950575e656c737a81888f969d"
      "a4abb2b9c0c7ced5dce3eaf1f8ff060d141b222930373e454c",
      "450800441267206a3fc813d70a010005c6336409535a61686f767d848b9299a0a7aeb5bcc3cad1d8dfe6ed"
      "f4fb020910171e252c333a41484f565d646b727980878e959c",
      "45080029126700703fc833ec0a010005c6336409a3aab1b8bfc6cdd4dbe2e9f0f7fe050c131a21282f",
     }},
};
// clang-format on

TEST(Ipv4Fragments, AreThoseOfScapy) {
  for (const NamedDatagram& whole : kDatagrams) {
    const std::vector<Bytes> found = fragments_of(bytes_of_hex(whole.hex), whole.mtu);
    ASSERT_EQ(found.size(), whole.fragments.size()) << whole.what;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(hex_of_bytes(found[i]), whole.fragments[i]) << whole.what << " " << i;
    }
  }
}

/// Options of a header, and what of them later fragments have.
struct Options {
  Bytes all, copied;
};

Options random_options(std::mt19937& random) {
  Options options;
  const std::size_t room = random() % 11 * 4;
  while (options.all.size() < room) {
    const std::size_t left = room - options.all.size();
    if (left < 2 || random() % 3 == 0) {
      options.all.push_back(std::byte{1});
      continue;
    }
    Bytes option(2 + random() % std::min<std::size_t>(left - 1, 12));
    for (std::byte& byte : option) byte = static_cast<std::byte>(random());
    option[0] = static_cast<std::byte>(random() % 2 == 0 ? 7 : 0x94);
    option[1] = static_cast<std::byte>(option.size());
    options.all.insert(options.all.end(), option.begin(), option.end());
    if (option[0] != std::byte{0x94}) continue;
    options.copied.insert(options.copied.end(), option.begin(), option.end());
  }
  while (options.copied.size() % 4 != 0) options.copied.push_back(std::byte{0});
  return options;
}

/// What a receiver puts together, in any order (RFC 791 3.2). Empty: bytes are missing, or twice
/// there.
Bytes reassembled(std::vector<Bytes> fragments, std::size_t first_offset, std::mt19937& random) {
  std::shuffle(fragments.begin(), fragments.end(), random);
  Bytes data;
  std::vector<bool> there;
  for (const Bytes& fragment : fragments) {
    const std::size_t header = std::to_integer<std::size_t>(fragment[0]) % 16 * 4;
    const std::size_t at = u16(fragment, 6) % 0x2000 * 8 - first_offset;
    const std::size_t end = at + fragment.size() - header;
    if (end > data.size()) data.resize(end), there.resize(end);
    for (std::size_t i = at; i < end; ++i) {
      if (there[i]) return {};
      there[i] = true;
      data[i] = fragment[header + i - at];
    }
  }
  return std::find(there.begin(), there.end(), false) == there.end() ? data : Bytes{};
}

/// Header of fragment `number`: options, flags, length, checksum, all else of the datagram.
void expect_header(const Bytes& fragment, const Bytes& whole, const Options& options, bool first,
                   bool last) {
  const std::size_t header = std::to_integer<std::size_t>(fragment[0]) % 16 * 4;
  EXPECT_EQ(std::to_integer<unsigned>(fragment[0]) >> 4, 4U);
  EXPECT_EQ(bytes_of(std::span(fragment).subspan(20, header - 20)),
            first ? options.all : options.copied);
  EXPECT_EQ(u16(fragment, 2), fragment.size());
  EXPECT_EQ(slow_checksum(std::span(fragment).first(header)), 0U);
  EXPECT_EQ(u16(fragment, 6) & 0xc000, u16(whole, 6) & 0xc000);
  EXPECT_EQ((u16(fragment, 6) & 0x2000) != 0, !last || (u16(whole, 6) & 0x2000) != 0);
  for (const std::size_t at : {1, 4, 5, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19}) {
    EXPECT_EQ(fragment[at], whole[at]) << at;
  }
}

TEST(Ipv4Fragments, ReceiversGetTheSameBytes) {
  std::mt19937 random(11);
  unsigned split = 0;
  for (int i = 0; i < 4000; ++i) {
    const Options options = random_options(random);
    const std::size_t mtu = 68 + random() % (random() % 4 == 0 ? 9000 : 200);
    const std::size_t data_bytes = random() % (random() % 8 == 0 ? 60'000 : 1000);
    const std::size_t offset = random() % 2 == 0 ? 0 : random() % 600;
    const std::size_t field =
        offset | (random() % 2 == 0 ? 0x2000 : 0) | (random() % 16 == 0 ? 0x8000 : 0);
    const Bytes whole = datagram(options.all, data_bytes, field, random);
    const std::vector<Bytes> fragments = fragments_of(whole, mtu);
    if (whole.size() <= mtu) {
      ASSERT_EQ(fragments, std::vector<Bytes>{whole});
      continue;
    }
    ++split;
    ASSERT_GE(fragments.size(), 2U);
    for (std::size_t number = 0; number < fragments.size(); ++number) {
      const Bytes& fragment = fragments[number];
      const bool last = number + 1 == fragments.size();
      expect_header(fragment, whole, options, number == 0, last);
      const std::size_t header = std::to_integer<std::size_t>(fragment[0]) % 16 * 4;
      EXPECT_GT(fragment.size(), header);
      if (!last) {  // as long as it can be
        EXPECT_EQ((fragment.size() - header) % 8, 0U);
        EXPECT_GT(fragment.size() + 8, mtu);
      }
    }
    EXPECT_EQ(reassembled(fragments, offset * 8, random),
              bytes_of(std::span(whole).subspan(20 + options.all.size())));
    ASSERT_FALSE(HasFailure()) << "datagram " << i;
  }
  EXPECT_GT(split, 2000U);
}

TEST(Ipv4Fragments, TheLastFillsRoomThatIsNoMultipleOf8) {
  std::mt19937 random(12);
  // 70 - 20 = 50: the first has 48 bytes of data, the last up to 50.
  EXPECT_EQ(Ipv4Fragments(datagram({}, 48 + 50, 0, random), 70).count(), 2U);
  EXPECT_EQ(Ipv4Fragments(datagram({}, 48 + 51, 0, random), 70).count(), 3U);
}

TEST(Ipv4Fragments, ADatagramThatFitsIsItself) {
  std::mt19937 random(13);
  const Bytes whole = datagram({}, 80, 0x4000, random);
  EXPECT_EQ(fragments_of(whole, 100), std::vector<Bytes>{whole});
  EXPECT_EQ(fragments_of(whole, 1500), std::vector<Bytes>{whole});
  Bytes padded = whole;
  padded.resize(200);
  EXPECT_EQ(fragments_of(padded, 100), std::vector<Bytes>{whole});
}

TEST(Ipv4Fragments, PaddingBehindTheDatagramIsNoData) {
  std::mt19937 random(14);
  const Bytes whole = datagram({}, 200, 0, random);
  Bytes padded = whole;
  padded.resize(300, std::byte{0x5a});
  EXPECT_EQ(fragments_of(padded, 100), fragments_of(whole, 100));
}

TEST(Ipv4Fragments, ThereAreNoneOfWhatCannotBeSplit) {
  std::mt19937 random(15);
  EXPECT_EQ(Ipv4Fragments(datagram({}, 81, 0x4000, random), 100).count(), 0U);  // DF
  Bytes options(40, std::byte{0x94});  // one option of 40 bytes, copied: 8 bytes of data each
  options[1] = std::byte{40};
  EXPECT_EQ(Ipv4Fragments(datagram(options, 81, 0, random), 68).count(), 11U);
  EXPECT_EQ(Ipv4Fragments(datagram(options, 81, 0, random), 67).count(), 0U);
  EXPECT_EQ(Ipv4Fragments(datagram({}, 81, 0, random), 27).count(), 0U);
  EXPECT_EQ(Ipv4Fragments(datagram({}, 81, 0, random), 0).count(), 0U);
  EXPECT_EQ(Ipv4Fragments(datagram({}, 81, 0x1ff6, random), 68).count(), 0U);  // beyond 65,535
  EXPECT_EQ(Ipv4Fragments(datagram({}, 79, 0x1ff6, random), 68).count(), 2U);
}

TEST(Ipv4Fragments, ThereAreNoneOfWhatIsNoDatagram) {
  std::mt19937 random(16);
  const Bytes whole = datagram(Bytes(8, std::byte{1}), 120, 0, random);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut = bytes_of(std::span(whole).first(size));
    const Ipv4Fragments fragments(cut, 68);
    Bytes out(68);
    EXPECT_EQ(fragments.count(), 0U) << size;
    EXPECT_EQ(fragments.write(0, out), 0U) << size;
  }
  for (const unsigned first : {0x00U, 0x44U, 0x65U}) {
    Bytes wrong = whole;
    wrong[0] = static_cast<std::byte>(first);
    EXPECT_EQ(Ipv4Fragments(wrong, 68).count(), 0U) << first;
  }
  Bytes shorter = whole;
  put16(shorter, 2, 27);  // than its header
  EXPECT_EQ(Ipv4Fragments(shorter, 68).count(), 0U);
}

TEST(Ipv4Fragments, NothingIsWrittenWhereThereIsNoRoom) {
  std::mt19937 random(17);
  for (const std::size_t mtu : {100U, 400U}) {
    const Bytes whole = datagram({}, 300, 0, random);
    const Ipv4Fragments fragments(whole, mtu);
    for (std::uint32_t number = 0; number < fragments.count(); ++number) {
      Bytes out(mtu);
      const std::size_t bytes = fragments.write(number, out);
      Bytes small(bytes - 1, std::byte{0xee});
      EXPECT_EQ(fragments.write(number, small), 0U);
      EXPECT_EQ(small, Bytes(bytes - 1, std::byte{0xee}));
    }
    Bytes out(mtu);
    EXPECT_EQ(fragments.write(fragments.count(), out), 0U);
    EXPECT_EQ(fragments.write(0xffffffff, out), 0U);
  }
}

TEST(Ipv4Fragments, MalformedOptionsEndTheCopies) {
  std::mt19937 random(18);
  // A copied option, one whose length lies, then what looks like a copied one.
  const Bytes options = bytes_of_hex("9404123488ff940400000000");
  const std::vector<Bytes> fragments = fragments_of(datagram(options, 100, 0, random), 68);
  ASSERT_EQ(fragments.size(), 3U);
  EXPECT_EQ(hex_of_bytes(std::span(fragments[0]).subspan(20, 12)), hex_of_bytes(options));
  EXPECT_EQ(std::to_integer<unsigned>(fragments[1][0]), 0x46U);
  EXPECT_EQ(hex_of_bytes(std::span(fragments[1]).subspan(20, 4)), "94041234");
}

}  // namespace
}  // namespace millrace::ipv4_fragments_test
