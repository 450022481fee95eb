// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/json_line.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(JsonLine, PutsCommasBetweenWhatAnObjectHas) {
  std::string out = "{";
  json_line::put_text("a", "x\"y", out);
  json_line::put_value("b", 7, out);
  json_line::put_flag("c", true, out);
  json_line::put_key("d", out);
  out += '{';
  json_line::put_flag("e", false, out);
  EXPECT_EQ(out, R"({"a":"x\"y","b":7,"c":true,"d":{"e":false)");
}

TEST(JsonLine, WritesAddressesOfBothFamilies) {
  EXPECT_EQ(json_line::address_text(4, {192, 0, 2, 9}), "192.0.2.9");
  EXPECT_EQ(json_line::address_text(6, {0x20, 1, 0x0d, 0xb8}), "2001:db8::");
}

}  // namespace
}  // namespace millrace
