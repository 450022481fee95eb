// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/tcp_options.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace millrace {
namespace {

std::vector<std::byte> header_with(const std::vector<unsigned>& options) {
  std::vector<std::byte> out(20);
  out[12] = static_cast<std::byte>((5 + options.size() / 4) << 4);
  for (const unsigned byte : options) out.push_back(static_cast<std::byte>(byte));
  return out;
}

TEST(TcpOptions, ReadsThemAtAnyPlace) {
  const TcpOptions options = read_tcp_options(
      header_with({1, 2, 4, 5, 180, 3, 3, 15, 4, 2, 8, 10, 0, 0, 1, 2, 0, 0, 3, 4, 0, 9, 9, 9}));
  EXPECT_EQ(options.mss, 1460);
  EXPECT_EQ(options.scale, 15) << "a shift over 14 is 14";
  EXPECT_TRUE(options.may_sack);
  EXPECT_TRUE(options.has_timestamp);
  EXPECT_EQ(options.value, 0x102u);
  EXPECT_EQ(options.echo, 0x304u);
  EXPECT_EQ(options.timestamp_at, 32u);
  EXPECT_EQ(options.sack_edges, 0u);
}

TEST(TcpOptions, SaysWhereBlocksOfSackStand) {
  const TcpOptions options =
      read_tcp_options(header_with({1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 1}));
  EXPECT_EQ(options.sack_at, 23u);
  EXPECT_EQ(options.sack_edges, 4u);
}

TEST(TcpOptions, AMalformedOneEndsThem) {
  for (const std::vector<unsigned>& bad :
       {std::vector<unsigned>{8, 0, 4, 2}, {8, 1, 4, 2}, {8, 10, 4, 2}, {1, 1, 1, 8}}) {
    std::vector<unsigned> all = {2, 4, 1, 0};
    all.insert(all.end(), bad.begin(), bad.end());
    const TcpOptions options = read_tcp_options(header_with(all));
    EXPECT_EQ(options.mss, 256);
    EXPECT_FALSE(options.may_sack || options.has_timestamp);
  }
  std::vector<std::byte> cut = header_with({2, 4, 1, 0});
  cut.pop_back();
  EXPECT_EQ(read_tcp_options(cut).mss, 0);
  EXPECT_EQ(read_tcp_options(std::vector<std::byte>(19)).mss, 0);
}

TEST(TcpOptions, WhatIsWrittenIsReadAgain) {
  for (unsigned which = 0; which < 16; ++which) {
    TcpOptions options;
    if ((which & 1) != 0) options.mss = 1300;
    if ((which & 2) != 0) options.scale = 8;
    options.may_sack = (which & 4) != 0;
    if ((which & 8) != 0) {
      options.has_timestamp = true;
      options.value = 0x0102'0304;
      options.echo = 0xf0e0'd0c0;
    }
    std::array<std::byte, kTcpOptionBytesMax> bytes;
    const std::size_t size = put_tcp_options(options, bytes);
    ASSERT_EQ(size % 4, 0u);
    std::vector<unsigned> words;
    for (std::size_t i = 0; i < size; ++i) words.push_back(std::to_integer<unsigned>(bytes[i]));
    const TcpOptions again = read_tcp_options(header_with(words));
    EXPECT_EQ(again.mss, options.mss);
    EXPECT_EQ(again.scale, options.scale);
    EXPECT_EQ(again.may_sack, options.may_sack);
    EXPECT_EQ(again.has_timestamp, options.has_timestamp);
    EXPECT_EQ(again.value, options.value);
    EXPECT_EQ(again.echo, options.echo);
  }
}

}  // namespace
}  // namespace millrace
