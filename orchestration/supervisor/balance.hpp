// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace millrace {

/// Decides how many of a hundred batches of a stage go to a GPU, and how many to the classifiers
/// beside it (`offload: auto`). A batch should wait for neither side longer than for the other:
/// the share moves towards the side where they are through sooner. A side that gets more than it
/// can do has a queue and so becomes slow; one that is faster with all of the load gets all of
/// it. Where both are used their times are alike, and no batch waits in the egress's order for one
/// of the slower side.
///
/// - Steps of 1, 2, 4, 8, 16 percent, one in two looks, as long as the direction stays. Where it
///   turns they are halved. Where one percent makes the other side the slower one it stays at the
///   better of both places, for longer and longer, or until times change.
/// - While slots run short, a move after which less is done altogether is taken back. What is done
///   varies from look to look, so a difference must be larger than chance makes it.
/// - At 0 and 100 percent the other side gets one of a hundred batches now and then, less and less
///   often, until it has been measured.
/// - A side that cannot be used gets nothing. With no traffic nothing moves.
///
/// Pure: told what has been done, reads no clock. A look is a fifth of a second or so.
class Balance {
 public:
  static constexpr std::uint32_t kStart = 100;      ///< percent: not yet worse than a GPU alone
  static constexpr std::uint32_t kStepMax = 16;     ///< percent
  static constexpr std::uint32_t kProbeEvery = 16;  ///< looks; twice as many each time
  static constexpr std::uint32_t kProbeEveryMost = 128;
  static constexpr std::uint32_t kBatchesLeast = 4;   ///< that a side is judged by
  static constexpr std::uint32_t kQuietLooks = 5;     ///< after which a side may stand still
  static constexpr std::uint32_t kPauseMax = 64;      ///< looks between two turns of one percent
  static constexpr std::uint32_t kBlockedLooks = 64;  ///< that a direction is left alone for
  static constexpr double kBand = 1.2;                ///< times that are so much alike are the same
  static constexpr double kWorse = 0.95;              ///< of what was done before, under full load
  static constexpr double kLooksMost = 32;            ///< that a rate is the mean of

  /// What has been done since the start.
  struct Side {
    bool usable = false;
    std::uint64_t batches = 0;
    std::int64_t ns = 0;  ///< that they were in the stage, all together; may shrink by roundings
  };
  struct Look {
    Side gpu, cpu;
    std::uint64_t shortages = 0;  ///< times that no slot was free
    std::uint64_t time_ns = 0;
  };

  /// `percent` to the GPU, until something is known.
  explicit Balance(std::uint32_t percent = kStart) : percent_(percent) {}

  /// Percent of the batches that go to the GPU from now on.
  std::uint32_t look(const Look& now);

 private:
  struct Gathered {
    std::uint64_t batches = 0;
    std::int64_t ns = 0;
    std::uint32_t quiet_looks = 0;  ///< since a batch came back
    void forget() {
      batches = 0;
      ns = 0;
    }
    std::optional<double>
        time_ns;  ///< of a batch, when it was known last; infinite: none came back
  };
  /// Batches a second of both sides together in the looks at one share. Old ones count less.
  struct Rate {
    std::uint32_t percent = 0;
    double looks = 0, sum = 0, squares = 0;
    void add(double batches);
    double mean() const { return sum / looks; }
    double deviation() const;
    bool is_above(const Rate& other) const;
  };

  void forget_gathered();
  bool gather(const Look& now);
  bool follow_usable(const Look& now);
  static bool judge(Gathered& side, std::uint32_t share, std::uint64_t other_did,
                    std::uint32_t rest);
  double lean() const;
  bool take_back(double rate, bool full);
  void follow(double lean);
  void set_step(int direction);
  void rest(double lean);
  bool rests(double lean);
  void move_to(std::uint32_t percent);
  std::uint32_t shown();

  std::uint32_t percent_;
  std::uint32_t given_ = percent_;  ///< what the last look answered: with a probe another one
  std::optional<Look> before_;
  bool gpu_was_usable_ = true, cpu_was_usable_ = true;
  Gathered gpu_, cpu_;
  std::uint64_t since_ns_ = 0, since_batches_ = 0, since_shortages_ = 0;  ///< since the last move
  bool settling_ = false;  ///< what is under way went by the share before
  int last_direction_ = 0;
  std::uint32_t step_ = 1, pause_ = 0, pause_length_ = 1;
  bool narrows_ = false;         ///< the place lies between two where we have been
  std::uint32_t came_from_ = 0;  ///< percent before the last step
  double lean_there_ = 0, rest_lean_ = 0;
  std::optional<Rate> best_;  ///< under full load
  Rate here_;                 ///< since the last move, where that is not at best_
  int blocked_ = 0;           ///< direction that did harm; 0: none
  Rate harm_;                 ///< what was done there
  std::uint32_t blocked_looks_ = 0;
  std::uint32_t probe_ = kProbeEvery;  ///< looks since the last one; the first one comes at once
  std::uint32_t probe_every_ = kProbeEvery;
};

}  // namespace millrace
