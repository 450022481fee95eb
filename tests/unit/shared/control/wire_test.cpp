// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/wire.hpp"

#include <gtest/gtest.h>

#include "shared/control/control.capnp.h"

namespace millrace::wire {
namespace {

/// One text of 100 kB that 60 pointers share: 100 kB of bytes that would read as 6 MB.
TEST(Wire, ReadsOverlappingListsOnlyOnce) {
  capnp::MallocMessageBuilder message(1 << 15);  // one segment: no far pointers
  auto classes = message.initRoot<wire::Plan>().initClasses(60);
  classes.set(0, std::string(100'000, 'x'));
  for (unsigned i = 1; i < 60; ++i) classes.set(i, "x");
  std::vector<std::byte> bytes = message_bytes(message);
  // Point each element at the text of the first: a pointer counts words from its own place.
  const auto read = [](wire::Plan::Reader plan) {
    std::size_t total = 0;
    for (auto item : plan.getClasses()) total += item.size();
    return total;
  };
  ASSERT_EQ(read_message<wire::Plan>(bytes, "plan", read), 100'059U);
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  std::size_t first = 0;
  const auto is_long_text = [](std::uint64_t word) { return word >> 35 == 100'001; };
  while (!is_long_text(words.at(first))) ++first;
  for (unsigned i = 1; i < 60; ++i) words.at(first + i) = words[first] - (std::uint64_t{i} << 2);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  EXPECT_THROW(read_message<wire::Plan>(bytes, "plan", read), Error);
}

}  // namespace
}  // namespace millrace::wire
