// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/netlink.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace millrace {
namespace {

using Bytes = std::vector<std::byte>;

template <typename T>
void append(Bytes& to, const T& value) {
  const std::size_t at = to.size();
  to.resize(at + sizeof value);
  std::memcpy(to.data() + at, &value, sizeof value);
}

void append_attribute(Bytes& to, std::uint16_t type, std::size_t bytes, std::uint8_t fill) {
  append(to, rtattr{static_cast<std::uint16_t>(RTA_LENGTH(bytes)), type});
  to.insert(to.end(), bytes, std::byte{fill});
  to.resize(RTA_ALIGN(to.size()));
}

/// An ndmsg and two attributes, of 3 and of 4 bytes.
Bytes message() {
  Bytes bytes;
  append(bytes, nlmsghdr{.nlmsg_len = 0, .nlmsg_type = RTM_NEWNEIGH});
  append(bytes, ndmsg{.ndm_family = 2, .ndm_ifindex = 7});
  append_attribute(bytes, 1, 3, 0x11);
  append_attribute(bytes, 2 | NLA_F_NESTED, 4, 0x22);
  reinterpret_cast<nlmsghdr*>(bytes.data())->nlmsg_len = static_cast<std::uint32_t>(bytes.size());
  return bytes;
}

TEST(Netlink, EachMessageAndEachAttributeIsVisited) {
  Bytes bytes = message();
  const Bytes second = message();
  bytes.insert(bytes.end(), second.begin(), second.end());
  int messages = 0, attributes = 0;
  for_each_message(bytes, [&](const nlmsghdr& header, std::span<const std::byte> one) {
    ++messages;
    EXPECT_EQ(header.nlmsg_type, RTM_NEWNEIGH);
    EXPECT_EQ(one.size(), second.size());
    ndmsg body{};
    ASSERT_TRUE(read_body(one, body));
    EXPECT_EQ(body.ndm_ifindex, 7);
    for_each_attribute(attributes_behind<ndmsg>(one), [&](const NetlinkAttribute& attribute) {
      ++attributes;
      std::uint32_t value = 1;
      EXPECT_EQ(attribute.read(value), attribute.type == 2) << "three bytes are too short";
      EXPECT_EQ(value, attribute.type == 2 ? 0x22222222u : 1u);
    });
  });
  EXPECT_EQ(messages, 2);
  EXPECT_EQ(attributes, 4);
}

TEST(Netlink, NothingIsReadBehindWhatIsCutOrWrong) {
  const auto walk = [](const Bytes& bytes) {
    std::size_t seen = 0;
    for_each_message(bytes, [&](const nlmsghdr&, std::span<const std::byte> one) {
      EXPECT_LE(one.size(), bytes.size());
      ndmsg body{};
      read_body(one, body);
      for_each_attribute(attributes_behind<ndmsg>(one), [&](const NetlinkAttribute& attribute) {
        for (const std::byte byte : attribute.bytes) seen += std::to_integer<std::size_t>(byte);
      });
    });
    return seen;
  };
  for (std::size_t length = 0; length < message().size(); ++length) {
    Bytes cut = message();
    cut.resize(length);
    cut.shrink_to_fit();  // a sanitizer sees each byte behind it
    EXPECT_EQ(walk(cut), 0u) << length;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    Bytes wrong = message();
    for (int j = 0; j < 3; ++j) wrong[random() % wrong.size()] = std::byte(random());
    walk(wrong);
  }
}

}  // namespace
}  // namespace millrace
