// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace millrace {
namespace {

/// What a side can do, and how long a batch takes it that waits for none.
struct Station {
  double rate = 0;  ///< batches a second at most; 0: it stands still
  double time = 0;  ///< seconds of a batch
};

/// Two stations in one closed system of so many slots, a look of 0.2 s after the other, each as if
/// it had been so for ever. `coupled`: of what both can do, this is lost where both are used.
struct Flow {
  Station gpu, cpu;
  double offered = 0;  ///< batches a second
  double slots = 1024;
  double coupled = 0;
};

struct Outcome {
  double rate = 0, gpu_time = 0, cpu_time = 0;
  bool full = false;
  double time(double share) const { return share * gpu_time + (1 - share) * cpu_time; }
};

/// Of a station with a queue: as with arrivals at random, and never longer than all slots.
double time_under(const Station& station, double load, double slots) {
  const double used = std::min(load / station.rate, 0.999);
  return std::min(station.time * (1 + used / (2 * (1 - used))), slots / station.rate);
}

/// With `share` (0..1) of the batches at the GPU.
Outcome outcome(const Flow& flow, double share) {
  const auto most = [](double part, double rate) { return part == 0 ? 1e18 : rate / part; };
  const double loss = share > 0.02 && share < 0.98 ? 1 - flow.coupled : 1;
  const double gpu = most(share, flow.gpu.rate) * loss, cpu = most(1 - share, flow.cpu.rate) * loss;
  Outcome is;
  is.rate = std::min({flow.offered, gpu, cpu});
  is.gpu_time = time_under(flow.gpu, is.rate * share, flow.slots);
  is.cpu_time = time_under(flow.cpu, is.rate * (1 - share), flow.slots);
  is.full = is.rate < flow.offered;
  if (!is.full) return is;
  // All slots that the other side has not are in the queue of the one that limits.
  if (gpu < cpu) {
    is.gpu_time = (flow.slots - is.rate * (1 - share) * is.cpu_time) / (is.rate * share);
  } else {
    is.cpu_time = (flow.slots - is.rate * share * is.gpu_time) / (is.rate * (1 - share));
  }
  return is;
}

class BalanceTest : public testing::Test {
 protected:
  static constexpr double kLook = 0.2;
  static constexpr std::uint32_t kMiddle = 50;

  std::uint32_t look() {
    now_.time_ns += static_cast<std::uint64_t>(kLook * 1e9);
    percent_ = balance_.look(now_);
    shares_.push_back(percent_);
    return percent_;
  }
  /// Looks at a system that does as the share says.
  void run(const Flow& flow, int looks) {
    shares_.clear();
    for (int i = 0; i < looks; ++i) {
      const double share = percent_ / 100.0;
      const Outcome is = outcome(flow, share);
      // Whole batches; what is left of one comes with the next look.
      gpu_left_ += is.rate * share * kLook;
      cpu_left_ += is.rate * (1 - share) * kLook;
      add(now_.gpu, gpu_left_, is.gpu_time);
      add(now_.cpu, cpu_left_, is.cpu_time);
      if (is.full) ++now_.shortages;
      look();
    }
  }
  /// How often the share turned round in the last run.
  int turns() const {
    int turns = 0, last = 0;
    for (std::size_t i = 1; i < shares_.size(); ++i) {
      const int step = static_cast<int>(shares_[i]) - static_cast<int>(shares_[i - 1]);
      if (step == 0) continue;
      if (last * step < 0) ++turns;
      last = step;
    }
    return turns;
  }
  /// After 40 s, from wherever it begins, not worse than the better one of both alone: in what is
  /// done over a minute, tries of other shares included, and where all of it can be done, in the
  /// time of a batch in nine of ten looks.
  void expect_no_worse(const Flow& flow) {
    const Outcome gpu = outcome(flow, 1), cpu = outcome(flow, 0);
    double time = 1e9;
    if (!gpu.full) time = std::min(time, gpu.gpu_time);
    if (!cpu.full) time = std::min(time, cpu.cpu_time);
    for (const std::uint32_t start : {0u, kMiddle, Balance::kStart}) {
      balance_ = Balance(start);
      percent_ = start;
      run(flow, 200);
      double done = 0;
      int good = 0;
      constexpr int kLooks = 300;
      for (int i = 0; i < kLooks; ++i) {
        run(flow, 1);
        const Outcome is = outcome(flow, percent_ / 100.0);
        done += is.rate / kLooks;
        if (is.time(percent_ / 100.0) <= 1.25 * time) ++good;
      }
      const std::string what =
          "gpu " + std::to_string(flow.gpu.rate) + " " + std::to_string(flow.gpu.time) + " cpu " +
          std::to_string(flow.cpu.rate) + " offered " + std::to_string(flow.offered) + ", " +
          std::to_string(percent_) + " % from " + std::to_string(start);
      EXPECT_GE(done, 0.97 * std::max(gpu.rate, cpu.rate)) << what;
      EXPECT_GE(good, kLooks * 9 / 10) << what;
    }
  }

  Balance balance_{kMiddle};
  Balance::Look now_{.gpu = {.usable = true}, .cpu = {.usable = true}};
  std::uint32_t percent_ = kMiddle;
  std::vector<std::uint32_t> shares_;

 private:
  static void add(Balance::Side& side, double& left, double time) {
    const auto count = static_cast<std::uint64_t>(left);
    left -= static_cast<double>(count);
    side.batches += count;
    side.ns += static_cast<std::uint64_t>(static_cast<double>(count) * time * 1e9);
  }
  double gpu_left_ = 0, cpu_left_ = 0;
};

TEST_F(BalanceTest, IsNeverWorseThanTheBetterOfBoth) {
  for (const double gpu_rate : {2e3, 2e4, 2e5}) {
    for (const double cpu_rate : {1e3, 1e4, 1e5}) {
      for (const double gpu_time : {50e-6, 2e-3}) {
        for (const double offered : {500.0, 5e3, 5e4, 5e5}) {
          expect_no_worse(
              {.gpu = {gpu_rate, gpu_time}, .cpu = {cpu_rate, 200e-6}, .offered = offered});
        }
      }
    }
  }
}

TEST_F(BalanceTest, UnderFullLoadBothDoWhatTheyCan) {
  const Flow flow{.gpu = {30e3, 50e-6}, .cpu = {10e3, 100e-6}, .offered = 1e6};
  run(flow, 100);
  EXPECT_NEAR(percent_, 75, 3);
  EXPECT_GE(outcome(flow, percent_ / 100.0).rate, 0.96 * 40e3);
  run(flow, 200);
  for (const std::uint32_t share : shares_) EXPECT_NEAR(share, 75, 3);
  EXPECT_LE(turns(), 200 / static_cast<int>(Balance::kPauseMax)) << "it does not swing";
}

/// Times and loads of a look are those of a flow, give or take a tenth.
TEST_F(BalanceTest, NoiseMovesItLittle) {
  std::minstd_rand random(7);
  std::uniform_real_distribution<double> about(0.9, 1.1);
  for (const double offered : {20e3, 1e6}) {
    double done = 0;
    int looks = 0;
    for (int i = 0; i < 600; ++i) {
      const Flow flow{.gpu = {30e3 * about(random), 100e-6 * about(random)},
                      .cpu = {10e3 * about(random), 100e-6 * about(random)},
                      .offered = offered * about(random)};
      run(flow, 1);
      if (i < 100) continue;
      const Flow mean{.gpu = {30e3, 100e-6}, .cpu = {10e3, 100e-6}, .offered = offered};
      done += outcome(mean, percent_ / 100.0).rate;
      ++looks;
    }
    EXPECT_GE(done / looks, 0.97 * std::min(offered, 30e3)) << "of what the GPU does alone";
    EXPECT_GE(done / looks, 0.85 * std::min(offered, 40e3)) << "of what both do";
  }
}

TEST_F(BalanceTest, WithLittleLoadTheSideThatIsSoonerHasAll) {
  const Flow slow_gpu{.gpu = {1e5, 300e-6}, .cpu = {1e4, 100e-6}, .offered = 1000};
  run(slow_gpu, 100);
  EXPECT_LE(percent_, 1u);
  const Flow quick_gpu{.gpu = {1e5, 30e-6}, .cpu = {1e4, 100e-6}, .offered = 1000};
  run(quick_gpu, 300);
  EXPECT_GE(percent_, 99u);
}

TEST_F(BalanceTest, FollowsTheLoad) {
  Flow flow{.gpu = {1e5, 500e-6}, .cpu = {1e4, 100e-6}, .offered = 1000};
  run(flow, 100);
  EXPECT_LE(percent_, 1u) << "the CPU is sooner and can do it";
  flow.offered = 90e3;
  run(flow, 60);
  EXPECT_GE(percent_, 85u) << "more than the CPU can do";
  EXPECT_LE(percent_, 95u);
  flow.offered = 1000;
  run(flow, 60);
  EXPECT_LE(percent_, 1u);
}

TEST_F(BalanceTest, RestsWhereBothAreAlike) {
  const Flow flow{.gpu = {1e5, 100e-6}, .cpu = {1e5, 105e-6}, .offered = 1000};
  run(flow, 200);
  EXPECT_EQ(turns(), 0);
  EXPECT_EQ(percent_, kMiddle);
}

/// Each of both waits less than the other side alone would make it, and yet less is done.
TEST_F(BalanceTest, AMoveAfterWhichLessIsDoneIsTakenBack) {
  balance_ = Balance(100);
  percent_ = 100;
  const Flow flow{.gpu = {40e3, 50e-6}, .cpu = {10e3, 100e-6}, .offered = 1e6, .coupled = 0.4};
  run(flow, 300);
  const auto all = std::count_if(shares_.begin(), shares_.end(), [](auto s) { return s >= 98; });
  EXPECT_GE(all, 240) << "of 300 looks; the others tried";
}

TEST_F(BalanceTest, LeavesASideThatStandsStill) {
  Flow flow{.gpu = {2e4, 100e-6}, .cpu = {2e4, 100e-6}, .offered = 5e3};
  run(flow, 20);
  for (int i = 0; i < 40; ++i) {  // the other one does its own part
    now_.cpu.batches += 10 * (100 - percent_) / 2;
    now_.cpu.ns += 10ull * (100 - percent_) / 2 * 100'000;
    look();
  }
  EXPECT_LE(percent_, 1u);
  run(flow, 300);
  EXPECT_GE(percent_, 0u);
  EXPECT_NE(percent_, 100u);
  flow.cpu.time = 200e-6;
  run(flow, 300);
  EXPECT_GE(percent_, 50u) << "it has come back";
}

/// Classifiers that stand still for most of a period, and then do all that has come, beside a GPU
/// that takes longer than they do when they run. Periods are up to `spread` longer. In steps of a
/// millisecond.
class Bursts {
 public:
  Bursts(int period_ms, int spread_ms, unsigned seed)
      : period_ms_(period_ms), spread_(0, spread_ms), random_(seed) {}

  /// A look's worth, with this share at the GPU.
  void pass(Balance::Look& look, std::uint32_t percent) {
    constexpr int kLookMs = 200;
    for (int ms = 0; ms < kLookMs; ++ms) {
      ++now_ms_;
      if (now_ms_ == until_ms_) until_ms_ += period_ms_ + spread_(random_);
      leave(look);
      come(look, percent);
    }
    look.time_ns += kLookMs * kNsPerMs;
  }

 private:
  static constexpr std::int64_t kNsPerMs = 1'000'000;
  static constexpr int kSlots = 256, kGpuMs = 30, kRunsMs = 30;

  void leave(Balance::Look& look) {
    const auto end = [this](Balance::Side& side, std::deque<int>& waiting) {
      ++side.batches;
      side.ns += (now_ms_ - waiting.front()) * kNsPerMs;
      waiting.pop_front();
    };
    while (!gpu_.empty() && now_ms_ - gpu_.front() >= kGpuMs) end(look.gpu, gpu_);
    if (now_ms_ < until_ms_ - kRunsMs) return;
    while (!cpu_.empty()) end(look.cpu, cpu_);
  }
  /// Five batches in four milliseconds, where slots are free.
  void come(Balance::Look& look, std::uint32_t percent) {
    for (int i = now_ms_ % 4 == 0 ? 2 : 1; i > 0; --i) {
      if (gpu_.size() + cpu_.size() == kSlots) {
        ++look.shortages;
        return;
      }
      due_ += percent;
      (due_ >= 100 ? gpu_ : cpu_).push_back(now_ms_);
      due_ %= 100;
    }
  }

  int period_ms_, now_ms_ = 0, until_ms_ = 1;
  std::uniform_int_distribution<int> spread_;
  std::minstd_rand random_;
  std::uint32_t due_ = 0;
  std::deque<int> gpu_, cpu_;
};

TEST_F(BalanceTest, LeavesASideThatWorksInBursts) {
  for (const int period : {150, 200, 330, 410, 500, 1000}) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
      balance_ = Balance(0);
      percent_ = 0;
      now_ = {.gpu = {.usable = true}, .cpu = {.usable = true}};
      Bursts bursts(period, period * static_cast<int>(seed % 4) / 4, seed);
      int most = 0;
      constexpr int kLooks = 300;
      for (int i = 0; i < 2 * kLooks; ++i) {
        bursts.pass(now_, percent_);
        percent_ = balance_.look(now_);
        if (i >= kLooks && percent_ >= 90) ++most;
      }
      EXPECT_GE(most, kLooks * 8 / 10) << period << " ms, seed " << seed;
    }
  }
}

TEST_F(BalanceTest, ASideThatCannotBeUsedGetsNothing) {
  const Flow flow{.gpu = {2e4, 50e-6}, .cpu = {2e4, 100e-6}, .offered = 5e3};
  now_.gpu.usable = false;
  EXPECT_EQ(look(), 0u);
  now_.cpu.usable = false;
  EXPECT_EQ(look(), 0u);
  now_.gpu.usable = true;
  EXPECT_EQ(look(), 100u);
  now_.cpu.usable = true;
  EXPECT_EQ(look(), 99u) << "it came back, and is measured first";
  run(flow, 100);
  EXPECT_GE(percent_, 99u);
}

TEST_F(BalanceTest, WithoutTrafficNothingMoves) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(look(), kMiddle);
}

TEST_F(BalanceTest, CountersThatBeginAnewSayNothing) {
  const Flow flow{.gpu = {1e5, 30e-6}, .cpu = {1e5, 33e-6}, .offered = 1e4};
  run(flow, 20);
  const std::uint32_t before = percent_;
  now_.gpu = {.usable = true};
  EXPECT_EQ(look(), before);
  now_.cpu = {.usable = true};
  EXPECT_EQ(look(), before);
  now_.shortages = 0;
  EXPECT_EQ(look(), before);
  run(flow, 20);
  EXPECT_EQ(percent_, before);
}

TEST_F(BalanceTest, AtTheEndTheOtherSideIsAskedNowAndThen) {
  const Flow flow{.gpu = {1e5, 30e-6}, .cpu = {1e5, 300e-6}, .offered = 1e4};
  run(flow, 100);
  run(flow, 160);
  const auto asked = std::count(shares_.begin(), shares_.end(), 99u);
  EXPECT_GE(asked, 1);
  EXPECT_LE(asked, 10);
  EXPECT_EQ(std::count(shares_.begin(), shares_.end(), 100u), 160 - asked);
}

}  // namespace
}  // namespace millrace
