// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/base64.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <random>
#include <string>
#include <vector>

namespace millrace {
namespace {

TEST(Base64, IsThatOfLibcrypto) {
  std::mt19937 random(7);
  for (std::size_t size = 0; size < 100; ++size) {
    std::vector<unsigned char> bytes(size);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    std::string wanted(size * 4 / 3 + 8, '\0');
    wanted.resize(static_cast<std::size_t>(EVP_EncodeBlock(
        reinterpret_cast<unsigned char*>(wanted.data()), bytes.data(), static_cast<int>(size))));
    EXPECT_EQ(base64_of(std::as_bytes(std::span(bytes))), wanted);
  }
}

}  // namespace
}  // namespace millrace
