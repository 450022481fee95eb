// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/kernel_link.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(KernelLink, AnInterfaceThatIsNotThereIsDown) {
  const auto link = read_kernel_link("mr-no-such-if");
  ASSERT_TRUE(link.has_value());
  EXPECT_FALSE(link->up);
}

TEST(KernelLink, OfWhatCannotBeAskedNothingIsKnown) {
  EXPECT_FALSE(read_kernel_link("a-name-that-no-interface-can-have").has_value());
}

TEST(KernelLink, TheLoopbackInterfaceIsUpAndHasNoSpeed) {
  const auto link = read_kernel_link("lo");
  ASSERT_TRUE(link.has_value());
  EXPECT_TRUE(link->up);
  EXPECT_EQ(link->bytes_per_second, 0u);
}

}  // namespace
}  // namespace millrace
