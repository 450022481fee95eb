// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "gpu-worker/cuda/host_memory.hpp"

/// A resident kernel that hangs while the CPU says so. An executable that it is linked into has it
/// in the place of the real one (resident.hpp), with the same dispatcher, and blocks that answer
/// every packet with 0. No executable of the product has it.

namespace millrace::test {

enum class Hang : std::uint32_t { kNothing, kBlocks, kDispatcher };

/// What hangs in the kernels that are launched while this lives. Made before their device; it has
/// to let go before that ends.
class HangSwitch {
 public:
  explicit HangSwitch(Hang what);
  HangSwitch(const HangSwitch&) = delete;  // the kernel reads its word
  HangSwitch& operator=(const HangSwitch&) = delete;
  ~HangSwitch();

  void let_go() noexcept;

 private:
  HostMemory word_;
};

}  // namespace millrace::test
