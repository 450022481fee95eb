// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace millrace {

/// 128 bits that nothing outside this process can guess, as siphash13() takes them. System calls:
/// not for the packet path. Throws where there is no source of random numbers.
std::array<std::uint64_t, 2> random_secret();

}  // namespace millrace
