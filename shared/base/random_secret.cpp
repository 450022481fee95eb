// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/random_secret.hpp"

#include <random>

namespace millrace {

std::array<std::uint64_t, 2> random_secret() {
  std::random_device random;
  const auto word = [&] { return std::uint64_t{random()} << 32 | random(); };
  return {word(), word()};
}

}  // namespace millrace
