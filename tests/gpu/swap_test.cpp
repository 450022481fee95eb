// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables change while batches are under way: each batch meets one version as a whole.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "services/functions/route/route_image.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

using test::GpuWorld;

constexpr const char* kOne = R"(
millrace: 1
name: swap
batch: { capacity: 256 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers: { cpu: { kind: classifier }, gpu: { kind: gpu, device: cuda } }
functions: { scan: { type: match, rules: scan.rules, on: gpu } }
paths: { one: { from: [a], run: [scan], slots: 32 } }
)";
constexpr const char* kWay = R"(
millrace: 1
name: way
batch: { capacity: 256 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers: { cpu: { kind: classifier }, gpu: { kind: gpu, device: cuda } }
functions: { way: { type: route, table: routes.txt, on: gpu } }
paths: { one: { from: [a], run: [way], slots: 32 } }
)";
constexpr std::uint32_t kPackets = 256, kSwaps = 1000, kBatchesUnderWay = 16;

class Swap : public test::GpuTest {
 protected:
  /// The word that every packet of the slot has; packets that differ are a failure.
  static std::uint32_t word_of_all(const GpuWorld& world, std::uint32_t slot) {
    const std::uint32_t* words = world.segment().gpu_results(0, slot);
    for (std::uint32_t i = 1; i < kPackets; ++i) EXPECT_EQ(words[i], words[0]) << "packet " << i;
    return words[0];
  }
};

TEST_F(Swap, AThousandWhileBatchesAreUnderWay) {
  // By the first table the payload's rule is number 0, by the other number 2.
  const std::string rules[] = {"alert \"payload\"\n",
                               "alert \"no\"\nalert \"nor\"\nalert \"payload\"\n"};
  const GpuWorld world(kOne, {{"scan.rules", rules[0]}});
  const PlanFunction& function = world.plan().functions[0];
  for (const int version : {1, 0}) {
    world.write("scan.rules", rules[version]);
    world.build(function);
    std::filesystem::copy_file(function.image, world.path("image." + std::to_string(version)));
  }
  const Frame frame = FrameBuilder().ipv4(17, 8 + 7).udp(7).text("payload").build();
  const std::vector<Frame> frames(kPackets, frame);
  for (std::uint32_t slot = 0; slot < kBatchesUnderWay; ++slot) {
    world.fill(slot, slot * kPackets, frames);
  }
  ResidentDevice gpu(world.context("gpu.0.a"), 0);
  std::vector<std::uint32_t> expected(kBatchesUnderWay);
  std::uint32_t batches = 0;
  const std::uint32_t words[] = {1, 3};
  const std::uint32_t swaps = test::many(kSwaps);
  for (std::uint32_t swap = 1; swap <= swaps; ++swap) {
    const std::uint32_t version = swap % 2;
    // Half of the batches before the swap, half behind it, all under way together.
    for (std::uint32_t slot = 0; slot < kBatchesUnderWay; ++slot) {
      if (slot == kBatchesUnderWay / 2) {
        std::filesystem::copy_file(world.path("image." + std::to_string(version)),
                                   world.path("next"));
        std::filesystem::rename(world.path("next"), function.image);
        gpu.load_tables(test::with_edition(world.plan(), swap));
        gpu.use_tables();
      }
      expected[slot] = words[slot < kBatchesUnderWay / 2 ? 1 - version : version];
      test::submit(world, gpu, slot);
    }
    while (gpu.in_flight() != 0) {
      const DeviceBatch done = test::wait_for_one(gpu);
      if (HasFailure()) return;
      ASSERT_EQ(word_of_all(world, done.descriptor.slot), expected[done.descriptor.slot])
          << "swap " << swap << " slot " << done.descriptor.slot;
      ++batches;
    }
  }
  EXPECT_EQ(batches, swaps * kBatchesUnderWay);
}

/// Two route tables of more than 100 MB each, loaded in turn by a thread of their own, as the
/// control thread does.
class Loader {
 public:
  Loader(const GpuWorld& world, ResidentDevice& gpu, std::uint32_t editions)
      : gpu_(gpu), plans_{world.plan(), world.plan()} {
    for (std::uint32_t version : {1u, 0u}) {
      world.write("routes.txt", kRoutes[version]);
      PlanFunction& function = plans_[version].functions[0];
      function.image = world.path("way." + std::to_string(version));
      world.build(function);
    }
    thread_ = std::thread([this, editions] { load(editions); });
  }
  ~Loader() { thread_.join(); }

  static constexpr const char* kRoutes[] = {
      "10.0.0.0/8 b 02:00:00:00:00:02\n2001:db8::/32 b 02:00:00:00:00:02\n",
      "9.0.0.0/8 a 02:00:00:00:00:01\n10.0.0.0/8 drop\n2001:db8::/32 drop\n"};

  bool at_work() const { return at_work_; }
  bool done() const { return done_; }
  /// Data thread: goes over to what is loaded, if there is something; the version then.
  std::uint32_t take() {
    if (loaded_.load(std::memory_order_acquire) != taken_) {
      gpu_.use_tables();
      taken_.store(loaded_, std::memory_order_release);
    }
    return taken_ % 2;
  }

 private:
  void load(std::uint32_t editions) {
    for (std::uint32_t edition = 1; edition <= editions; ++edition) {
      at_work_ = true;
      gpu_.load_tables(test::with_edition(plans_[edition % 2], edition));
      at_work_ = false;
      loaded_.store(edition, std::memory_order_release);
      while (taken_.load(std::memory_order_acquire) != edition) std::this_thread::yield();
      gpu_.free_tables();
    }
    done_ = true;
  }

  ResidentDevice& gpu_;
  Plan plans_[2];
  std::atomic<std::uint32_t> loaded_ = 0, taken_ = 0;
  std::atomic<bool> at_work_ = false, done_ = false;
  std::thread thread_;
};

/// The longest and the mean time of batches, in microseconds.
struct Times {
  double longest = 0, sum = 0;
  std::uint64_t count = 0;
  void add(double time) {
    longest = std::max(longest, time);
    sum += time;
    ++count;
  }
  void print(const char* when) const {
    std::printf("%s: %lu batches, mean %.1f us, longest %.1f us\n", when,
                static_cast<unsigned long>(count), sum / static_cast<double>(count), longest);
  }
};

TEST_F(Swap, BatchesGoOnWhileAnotherThreadLoadsALargeTable) {
  const GpuWorld world(kWay, {{"routes.txt", Loader::kRoutes[0]}});
  world.fill(0, 0, std::vector<Frame>(kPackets, make_frame({.destination = 0x0a010203})));
  ResidentDevice gpu(world.context("gpu.0.a"), 0);
  Loader loader(world, gpu, 4 + test::many(36));
  Times loading, quiet;
  while (!loader.done()) {
    const bool at_work = loader.at_work();
    const std::uint32_t version = loader.take();
    const auto start = std::chrono::steady_clock::now();
    test::submit(world, gpu, 0);
    test::wait_for_one(gpu);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    (at_work && loader.at_work() ? loading : quiet).add(time.count());
    EXPECT_EQ(word_of_all(world, 0) == kHopFirst, version == 0);
    if (HasFailure()) break;
  }
  while (!loader.done()) loader.take();
  EXPECT_GT(loading.count, 0u) << "no batch went through while a table was loaded";
  loading.print("while a table was loaded");
  quiet.print("otherwise");
}

TEST_F(Swap, AnImageThatCannotBeReadLeavesTheOldTable) {
  const GpuWorld world(kOne, {{"scan.rules", "alert \"payload\"\n"}});
  world.fill(0, 0, std::vector<Frame>{FrameBuilder().ipv4(17, 15).udp(7).text("payload").build()});
  ResidentDevice gpu(world.context("gpu.0.a"), 0);
  world.write("scan.image", "nonsense");
  EXPECT_THROW(gpu.load_tables(test::with_edition(world.plan(), 1)), Error);
  test::submit(world, gpu, 0);
  test::wait_for_one(gpu);
  EXPECT_EQ(world.segment().gpu_results(0, 0)[0], 1u);
}

}  // namespace
}  // namespace millrace
