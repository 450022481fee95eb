// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/tuple_hash.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace millrace {
namespace {

constexpr std::array<std::uint64_t, 2> kSecret = {3, 4};

FlowTuple random_tuple(std::mt19937& random, bool is_ipv4) {
  const auto byte = [&] { return static_cast<std::uint8_t>(random()); };
  FlowTuple tuple{.protocol = byte(), .version = static_cast<std::uint8_t>(is_ipv4 ? 4 : 6)};
  for (std::size_t i = 0; i < (is_ipv4 ? 4u : 16u); ++i) {
    tuple.source[i] = byte();
    tuple.destination[i] = byte();
  }
  tuple.source_port = static_cast<std::uint16_t>(random());
  tuple.destination_port = static_cast<std::uint16_t>(random());
  return tuple;
}

TEST(TupleHash, IsTheSameForManyAndForOne) {
  std::mt19937 random(7);
  for (std::size_t count = 0; count <= 64; ++count) {
    for (const unsigned one_of_ipv6 : {0u, 2u, 9u}) {
      std::vector<FlowTuple> tuples;
      for (std::size_t i = 0; i < count; ++i) {
        tuples.push_back(random_tuple(random, one_of_ipv6 == 0 || random() % one_of_ipv6 != 0));
      }
      std::array<std::uint64_t, 64> hashes{};
      tuple_hashes(tuples, kSecret, hashes);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(hashes[i], tuple_hash(tuples[i], kSecret)) << i << " of " << count;
      }
    }
  }
}

TEST(TupleHash, DependsOnAllOfTheTupleAndOnTheSecret) {
  FlowTuple tuple{
      .source = {10, 0, 0, 1}, .destination = {10, 0, 0, 2}, .protocol = 6, .version = 4};
  const std::uint64_t hash = tuple_hash(tuple, kSecret);
  EXPECT_NE(tuple_hash(tuple, {3, 5}), hash);
  EXPECT_NE(tuple_hash(reversed(tuple), kSecret), hash);
  tuple.destination_port = 1;
  EXPECT_NE(tuple_hash(tuple, kSecret), hash);
}

}  // namespace
}  // namespace millrace
