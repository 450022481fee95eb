// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/supervisor/fleet.hpp"
#include "orchestration/supervisor/table_build.hpp"

namespace millrace {

/// Gives functions of a running topology other settings and tables, and stages other functions,
/// while batches flow. One change at a time, in phases; each actor's tally in the status file says
/// how far it is:
///
/// | phase    | plan.bin                   | goes on when                                      |
/// |----------|----------------------------|---------------------------------------------------|
/// | building | as before                  | the builders have ended                           |
/// | loading  | old ones, others: the new  | all have made the new ones ready                  |
/// | using    | new ones, others: the old  | all compute with the new ones: the change is done |
/// | draining | alike                      | all batches that were under way have left         |
/// | dropping | new ones                   | all have let go of the old ones                   |
///
/// A result of a GPU means something only by the tables that computed it: so an acceptor has the
/// new ones before a GPU computes with them, and the old ones until no batch can have met them.
/// A process that starts meanwhile reads the plan as it is then. When one refuses, or time runs
/// out, the plan goes back by the same steps. When plan.bin cannot be written (a full disk) the
/// change fails, too; what is in use by then is finished or taken back when it can be written
/// again.
///
/// One thread; nothing blocks.
class TableSwitch {
 public:
  using Clock = std::chrono::steady_clock;
  struct Means {
    std::string folder, run_dir;
    std::function<void(std::uint32_t actor, std::uint32_t revision)> tell;  ///< FollowPlan
    std::chrono::milliseconds limit{20'000};  ///< of loading, of using, of batches of the old
  };
  struct Wish {
    std::vector<PlanEdition> functions;  ///< as they are to be; those that come and go among them
    bool accept_refused = false;         ///< also tables of which more lines are refused than now
    std::vector<PlanStageEdition> stages = {};  ///< that are to run other functions
    std::vector<std::string> classes = {};      ///< those of the plan, then new ones; empty: as now
    std::vector<PlanReason> reasons = {};       ///< likewise
    bool accept_shrunk = false;    ///< also tables with under half of the entries of those in use
    bool only_if_differs = false;  ///< nothing happens when the new tables are like those in use
    bool empty() const { return functions.empty() && stages.empty(); }
  };
  struct Outcome {
    std::string error;                 ///< empty: the new tables are in use
    std::vector<TableReport> reports;  ///< of the builders
  };

  /// All are borrowed, `plan` is changed. `state` says what is in use.
  TableSwitch(Plan& plan, const Fleet& fleet, const StateFile& state, Means means);

  /// Begins. Only when idle(). Throws Error: then nothing has changed.
  void begin(Wish wish);
  /// A supervisor that took over: what an earlier one had begun ends, its new tables with it unless
  /// they are in use.
  void resume();
  /// Goes on. The outcome, once: when all use the new tables, or all is as before.
  std::optional<Outcome> tend(Clock::time_point now);
  /// An actor cannot go over to that revision.
  void refused(const std::string& who, std::uint32_t revision, const std::string& why);
  bool idle() const { return phase_ == Phase::kIdle; }
  /// Where builders are from now on.
  void use_folder(const std::string& folder) { means_.folder = folder; }

 private:
  enum class Phase { kIdle, kBuilding, kLoading, kUsing, kReverting, kDraining, kDropping };

  void build();
  void refuse_losses() const;
  bool compare();
  void make_places();
  void publish(Phase phase);
  bool save(Clock::time_point now);
  bool all_follow(Clock::time_point now);
  void swap_editions();
  void forget_others();
  void fail(const std::string& why);
  void drain(Clock::time_point now);
  void advance(Clock::time_point now);
  void finish(const std::string& error);

  Plan& plan_;
  const Fleet& fleet_;
  const StateFile& state_;
  Means means_;
  Phase phase_ = Phase::kIdle;
  Wish wish_;
  std::unique_ptr<TableBuild> build_;
  std::vector<TableReport> reports_;
  std::optional<Outcome> outcome_;
  std::vector<std::uint64_t> sealed_;  ///< by lane, when all used the new ones
  std::string failure_;                ///< why the plan goes back
  bool saved_ = true;                  ///< plan.bin says what the plan does
  std::vector<std::string> unneeded_;  ///< images that go once it does
  Clock::time_point until_{}, tell_again_{}, save_again_{};
};

}  // namespace millrace
