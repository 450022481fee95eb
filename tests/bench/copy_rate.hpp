// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace millrace {

/// What the bus carries to the present GPU when CUDA copies `bytes` of pinned memory, 20 times in a
/// row. No kernel is resident.
double copy_bytes_per_second(std::size_t bytes);

}  // namespace millrace
