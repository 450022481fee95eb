// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/upgrade_plan.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

using Kind = UpgradeStep::Kind;

class Planner {
 public:
  Planner(const Plan& plan, const std::vector<Post>& posts, std::string run_words)
      : plan_(plan), posts_(posts), run_words_(std::move(run_words)) {}

  UpgradePlan make() {
    const auto hub = first(ActorKind::kHub);
    if (!hub || !posts_[*hub].seat().child) {
      throw Error("the hub of '" + plan_.name + "' has ended: it needs a planned restart, by " +
                  "millrace down " + run_words_ + " and `up` of the new build");
    }
    if (!plan_.fused) workers();
    all(ActorKind::kIngress);  // fused: the process of all that move packets
    all(ActorKind::kEgress);
    leaders(*hub);
    for (std::size_t i = 0; i < posts_.size(); ++i) {
      if (!posts_[i].kind && posts_[i].wish == Wish::kUp) renew(i);
    }
    return std::move(made_);
  }

 private:
  std::optional<std::size_t> first(ActorKind kind) const {
    const auto at = std::ranges::find(posts_, kind, &Post::kind);
    if (at == posts_.end()) return std::nullopt;
    return static_cast<std::size_t>(at - posts_.begin());
  }

  void add(Kind kind, std::size_t post, bool drain = false) {
    MILLRACE_CHECK(post < posts_.size());
    made_.steps.push_back({kind, post, drain});
  }

  /// Without a moment in which both are there.
  void renew(std::size_t post) {
    add(Kind::kEnd, post);
    add(Kind::kStart, post);
  }

  void all(ActorKind kind) {
    for (std::size_t i = 0; i < posts_.size(); ++i) {
      if (posts_[i].kind == kind && posts_[i].wish == Wish::kUp) add(Kind::kReplace, i);
    }
  }

  void workers() {
    for (std::uint32_t group = 0; group < plan_.groups.size(); ++group) {
      std::vector<std::size_t> wanted;
      std::optional<std::size_t> spare;
      for (std::size_t i = 0; i < posts_.size(); ++i) {
        if (!is_worker(posts_[i]) || posts_[i].group != group) continue;
        if (posts_[i].wish == Wish::kUp) wanted.push_back(i);
        if (posts_[i].wish == Wish::kDown && !posts_[i].seat().child && !spare) spare = i;
      }
      const bool helped = wanted.size() == 1 && spare.has_value();
      if (helped) add(Kind::kStart, *spare);
      for (const std::size_t post : wanted) {
        const bool alone = wanted.size() == 1 && !helped;
        add(Kind::kReplace, post, !(alone && has_state(plan_, group)));
      }
      if (helped) add(Kind::kDrain, *spare);
    }
  }

  void leaders(std::size_t hub) {
    const auto standby = first(ActorKind::kStandby);
    const bool has_standby = standby && posts_[*standby].wish == Wish::kUp;
    if (has_standby) add(Kind::kEnd, *standby);
    if (uses_dpdk(plan_)) {
      made_.remarks.emplace_back(
          "hub: stays of the old build, as it owns the devices of dpdk ports; a planned restart "
          "renews it");
    } else {
      add(Kind::kReplace, hub);
    }
    if (has_standby) add(Kind::kStart, *standby);
  }

  const Plan& plan_;
  const std::vector<Post>& posts_;
  const std::string run_words_;
  UpgradePlan made_;
};

}  // namespace

UpgradePlan plan_upgrade(const Plan& plan, const std::vector<Post>& posts,
                         const std::string& run_words) {
  return Planner(plan, posts, run_words).make();
}

}  // namespace millrace
