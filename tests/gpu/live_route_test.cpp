// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A live route table on the GPU follows its image while batches are under way: each packet finds
// the old or the new next hop of its address. Three threads: the writer of the image, the control
// thread that copies what has changed, and the data thread with its batches.

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "services/functions/route/live/live_blocks.hpp"
#include "services/functions/route/live/live_image.hpp"
#include "services/functions/route/live/live_nodes.hpp"
#include "services/functions/route/live/live_table.hpp"
#include "services/functions/route/route_check.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

using test::GpuWorld;

constexpr const char* kTopology = R"(
millrace: 1
name: live
batch: { capacity: 256 }
ports:
  a: { device: "null", addresses: [10.1.0.1/24, "2001:db8::1/64"] }
  b: { device: "null" }
workers: { cpu: { kind: classifier }, gpu: { kind: gpu, device: cuda } }
functions: { way: { type: route, table: routes.txt, answers: false, on: gpu } }
paths: { one: { from: [a], run: [way], slots: 32 } }
)";
constexpr std::uint32_t kPackets = 256, kSlots = 16;
constexpr std::uint64_t kAddresses = 64;
constexpr std::uint32_t kWide = 7;  ///< hop of the prefix around all addresses

/// Each has routes of its own, which come and go in the same leaves as its neighbours'.
Ipv6Address address_of(std::uint64_t i) {
  return {0xa400'0000'0000'0000 + ((i / 16) << 40) + ((i % 16 * 16) << 32), 0};
}

/// Nothing on this host computes with the table.
struct NoHost final : ReaderGrace {
  std::uint64_t now() override { return 0; }
  bool passed(std::uint64_t) override { return true; }
};

/// The two families of an image.
struct Part {
  std::unique_ptr<LiveLeaves> leaves;
  std::unique_ptr<LiveTable> table;
};

/// Writes routes into the image, as the process `routes` does, and knows what it says.
class Writer {
 public:
  explicit Writer(const std::string& path) : image_(path) {
    parts_[0].leaves = std::make_unique<LiveBlocks>(image_.blocks(), image_.journal());
    parts_[0].table =
        std::make_unique<LiveTable>(image_.table24(), *parts_[0].leaves, image_.journal());
    parts_[1].leaves = std::make_unique<LiveNodes>(image_.ipv6_nodes(), image_.ipv6_runs(),
                                                   image_.ipv6_first_chunk(), image_.journal());
    parts_[1].table =
        std::make_unique<LiveTable>(image_.ipv6_table24(), *parts_[1].leaves, image_.journal());
    tend();
    for (Part& part : parts_) part.table->write_all();
  }
  /// One change of one address, in both families.
  void change() {
    const std::uint64_t which = random_() % kAddresses;
    const bool gone = random_() % 3 == 0;
    hops_[which] = gone ? 0 : static_cast<std::uint32_t>(which + (random_() % 2 == 0 ? 100 : 200));
    for (Part& part : parts_) {
      if (gone) {
        part.table->remove(address_of(which), 32);
      } else {
        part.table->set({address_of(which), 32, hops_[which]});
      }
    }
    tend();
  }
  /// More words than the journal holds.
  void change_wide(std::uint32_t hop) {
    wide_ = hop;
    for (Part& part : parts_) part.table->set({{0x8000'0000'0000'0000, 0}, 1, hop});
    tend();
  }
  std::uint32_t hop_of(std::uint64_t which) const {
    return hops_[which] != 0 ? hops_[which] : wide_;
  }

 private:
  void tend() {
    NoHost grace;
    for (Part& part : parts_) {
      part.leaves->tend(grace);
      part.leaves->tend(grace);
    }
  }

  LiveRouteImage image_;
  std::array<Part, 2> parts_;
  std::array<std::uint32_t, kAddresses> hops_{};
  std::uint32_t wide_ = 0;
  std::mt19937_64 random_{7};
};

class LiveRouteOnGpu : public test::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    world_ = std::make_unique<GpuWorld>(
        kTopology, std::vector<std::pair<std::string, std::string>>{{"routes.txt", ""}});
    PlanFunction function = world_->plan().functions[0];
    std::erase_if(function.settings, [](const auto& one) { return one.first == "answers"; });
    function.settings.emplace_back("routes", "kernel");
    std::vector<PlanPort> ports = world_->plan().ports;
    ports[0].host = static_cast<int>(ports.size());  // the kernel's, which has no route by it
    PlanPort host{.name = "a.host", .device = "null", .mac = ports[0].mac};
    host.settings = {{"interface", "mr-absent"}};
    ports.push_back(std::move(host));
    build_image({.function = function, .ports = ports, .on_device = true});
    writer_ = std::make_unique<Writer>(function.image);
    std::vector<Frame> frames;
    for (std::uint32_t i = 0; i < kPackets; ++i) frames.push_back(frame_of(i));
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) world_->fill(slot, slot * kPackets, frames);
    gpu_ = std::make_unique<ResidentDevice>(world_->context("gpu.0.a"), 0);
  }

  static Frame frame_of(std::uint32_t packet) {
    const Ipv6Address address = address_of(packet / 2 % kAddresses);
    if (packet % 2 == 0) {
      return make_frame({.destination = static_cast<std::uint32_t>(address.high >> 32)});
    }
    return make_ipv6_frame({.destination = address});
  }
  /// 0: that of the default route.
  static std::uint32_t hop_in(std::uint32_t word) {
    const std::uint32_t hop = word & kRouteHopMask;
    return hop == kHopDefaultIpv6 ? 0 : hop;
  }
  /// One batch of each slot, all under way together. Calls look(address, next hop) for each packet.
  template <typename Look>
  void run_batches(Look look) {
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) test::submit(*world_, *gpu_, slot);
    while (gpu_->in_flight() != 0) {
      const std::uint32_t slot = test::wait_for_one(*gpu_).descriptor.slot;
      if (HasFailure()) return;
      const std::uint32_t* words = world_->segment().gpu_results(0, slot);
      for (std::uint32_t i = 0; i < kPackets; ++i) {
        ASSERT_EQ(words[i] & kRouteDrop, 0u) << "packet " << i;
        look(i / 2 % kAddresses, hop_in(words[i]));
      }
    }
  }
  bool says_what_the_writer_does() {
    std::uint32_t others = 0;
    run_batches([&](std::uint64_t which, std::uint32_t hop) {
      others += hop == writer_->hop_of(which) ? 0 : 1;
    });
    return others == 0;
  }
  /// Until the GPU says what the writer wrote; no more is written.
  void await_the_end() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!says_what_the_writer_does() && !HasFailure()) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "the copy does not follow";
      gpu_->follow_tables();
    }
  }

  std::unique_ptr<GpuWorld> world_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<ResidentDevice> gpu_;
};

/// Calls work() again and again, on a thread of its own.
class Loop {
 public:
  template <typename Work>
  explicit Loop(Work work)
      : thread_([this, work] {
          while (!ends_) work();
        }) {}
  ~Loop() {
    ends_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

TEST_F(LiveRouteOnGpu, APacketFindsTheOldOrTheNewWhileWordsChange) {
  const std::uint32_t changes = test::many(200'000);
  std::atomic<std::uint32_t> changed = 0;
  std::uint64_t packets = 0, wrong = 0;
  {
    const Loop control([&] { gpu_->follow_tables(); });
    std::thread writer([&] {
      for (; changed < changes; ++changed) writer_->change();
    });
    while (changed < changes && !HasFailure()) {
      run_batches([&](std::uint64_t which, std::uint32_t hop) {
        ++packets;
        if (hop != 0 && hop != 100 + which && hop != 200 + which) ++wrong;
      });
    }
    writer.join();
  }
  EXPECT_EQ(wrong, 0u);
  await_the_end();
  EXPECT_NE(gpu_->followed().words, 0u);
  std::printf("%u changes, %lu words of them copied, under %lu packets\n", changes,
              static_cast<unsigned long>(gpu_->followed().words),
              static_cast<unsigned long>(packets));
}

TEST_F(LiveRouteOnGpu, WhatTheJournalHasLostIsCopiedAsAWhole) {
  const std::uint32_t rounds = test::many(20);
  std::atomic<std::uint32_t> round = 0;
  std::uint64_t wrong = 0;
  writer_->change_wide(kWide);  // nothing follows meanwhile: the journal is overrun
  {
    const Loop control([&] { gpu_->follow_tables(); });
    std::thread writer([&] {
      for (; round < rounds; ++round) {
        writer_->change_wide(kWide + round % 2);
        for (int i = 0; i < 100; ++i) writer_->change();
      }
    });
    while (round < rounds && !HasFailure()) {
      run_batches([&](std::uint64_t which, std::uint32_t hop) {
        if (hop != 0 && hop != kWide && hop != kWide + 1 && hop != 100 + which &&
            hop != 200 + which) {
          ++wrong;
        }
      });
    }
    writer.join();
  }
  EXPECT_EQ(wrong, 0u);
  await_the_end();
  EXPECT_NE(gpu_->followed().tables, 0u);
}

}  // namespace
}  // namespace millrace
