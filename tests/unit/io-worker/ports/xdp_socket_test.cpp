// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/xdp_socket.hpp"

#include <sys/mman.h>

#include <array>

#include "shared/base/error.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using test::error_of;

TEST(XdpRing, IndexesComeRoundAndTheFlagIsTheKernels) {
  // producer, consumer, flags, nothing, four entries
  alignas(8) std::array<std::uint32_t, 12> memory{0xfffffffe, 0xfffffffe, 0,  0, 10, 0,
                                                  11,         0,          12, 0, 13, 0};
  const xdp_ring_offset at{0, 4, 16, 8};
  const XdpRing<std::uint64_t> ring(reinterpret_cast<std::byte*>(memory.data()), at, 4);
  EXPECT_EQ(ring[0xfffffffe], 12u);
  EXPECT_EQ(ring[0xffffffff], 13u);
  EXPECT_EQ(ring[0], 10u);
  EXPECT_EQ(ring.produced(), 0xfffffffeu);
  ring.produce_to(1);
  ring.consume_to(2);
  EXPECT_EQ(memory[0], 1u);
  EXPECT_EQ(memory[1], 2u);
  EXPECT_FALSE(ring.needs_wakeup());
  memory[2] = XDP_RING_NEED_WAKEUP;
  EXPECT_TRUE(ring.needs_wakeup());
}

class XdpSocketTest : public test::VethTest {
 protected:
  static constexpr std::size_t kBytes = std::size_t{256} << 10;
  void SetUp() override {
    VethTest::SetUp();
    void* base = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(base, MAP_FAILED);
    memory_ = {static_cast<std::byte*>(base), kBytes, 2176};
  }
  void TearDown() override {
    munmap(memory_.base, kBytes);
    VethTest::TearDown();
  }
  XdpMemory memory_;
};

TEST_F(XdpSocketTest, IsBoundToAQueueOfItsOwn) {
  XdpSocket socket(memory_, 64);
  socket.bind("here", 0, false);
  EXPECT_FALSE(socket.zero_copy()) << "veth copies";
  EXPECT_EQ(socket.dropped(), 0u);
  XdpSocket far(memory_, 64);
  const std::string said = error_of([&] { far.bind("here", 99, false); });
  EXPECT_TRUE(said.starts_with("bind an AF_XDP socket to receive queue 99 of here: ")) << said;
}

TEST_F(XdpSocketTest, RefusesMemoryAndRingsThatCannotBe) {
  EXPECT_TRUE(error_of([&] { XdpSocket(memory_, 63); }).starts_with("make a fill ring"));
  XdpMemory crooked = memory_;
  crooked.base += 100;
  EXPECT_TRUE(error_of([&] { XdpSocket(crooked, 64); }).starts_with("register packet memory"));
}

}  // namespace
}  // namespace millrace
