// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/curve_keys.hpp"

#include <gtest/gtest.h>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

TEST(CurveKeys, AreMadeInPairs) {
  const CurveKeys keys = make_curve_keys(), others = make_curve_keys();
  EXPECT_TRUE(is_curve_key(keys.public_key));
  EXPECT_TRUE(is_curve_key(keys.secret_key));
  EXPECT_NE(keys.public_key, keys.secret_key);
  EXPECT_NE(keys.secret_key, others.secret_key);
  const CurveKeys again = curve_keys_of(keys.secret_key);
  EXPECT_EQ(again.public_key, keys.public_key);
  EXPECT_EQ(again.secret_key, keys.secret_key);
}

TEST(CurveKeys, AreFortyCharactersOfZ85) {
  const std::string key = make_curve_keys().public_key;
  EXPECT_FALSE(is_curve_key(""));
  EXPECT_FALSE(is_curve_key(key.substr(1)));
  EXPECT_FALSE(is_curve_key(key + "00000"));
  EXPECT_FALSE(is_curve_key(key.substr(1) + " "));
  EXPECT_FALSE(is_curve_key(key.substr(1) + '\0'));
  EXPECT_THROW(curve_keys_of("secret"), Error);
}

}  // namespace
}  // namespace millrace
