// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/plan_diff.hpp"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

#include "orchestration/planner/plan_equal.hpp"
#include "orchestration/planner/plan_renumber.hpp"
#include "orchestration/planner/plan_sources.hpp"
#include "shared/base/secrets.hpp"
#include "shared/config/known_devices.hpp"
#include "shared/config/plan_fields.hpp"

namespace millrace {
namespace {

using Hashes = std::map<std::string, std::string>;

Hashes hashes_of(const Plan& plan) {
  Hashes hashes;
  for (const std::string& source : plan.sources) {
    hashes[path_of_source(source)] = hash_of_source(source);
  }
  return hashes;
}

std::string values_of(const Settings& settings, const std::string& key) {
  std::string text;
  for (const auto& [name, value] : settings) {
    if (name == key) text += (text.empty() ? "" : ", ") + value;
  }
  return text.empty() ? "(default)" : text;
}

/// "rules a.rules -> b.rules", for each key that differs.
std::string settings_change(const Settings& now, const Settings& next) {
  std::vector<std::string> keys;
  for (const Settings* settings : {&now, &next}) {
    for (const auto& [key, value] : *settings) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  std::string text;
  for (const std::string& key : keys) {
    const std::string before = values_of(now, key), after = values_of(next, key);
    if (before == after) continue;
    text += (text.empty() ? "" : "; ") + key + " " + before + " -> " + after;
  }
  return text;
}

/// `count` is what it begins with: what it has come to stays, within its limits.
bool scales_itself_to(const PlanGroup& group, std::uint32_t count) {
  return scales_itself(group) && group.autoscale.min <= count && count <= group.autoscale.max;
}

bool is_queues(const Settings::value_type& setting) { return setting.first == "queues"; }

/// Functions of the stage that have state, by number.
std::vector<std::uint32_t> with_state(const Plan& plan, const PlanStage& stage) {
  std::vector<std::uint32_t> numbers;
  for (const std::uint32_t number : stage.functions) {
    if (plan.functions[number].stateful) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

/// A function that the path runs in both, and not in the same stage: a packet on its way could miss
/// it, or meet it twice.
const PlanFunction* moved(const Plan& now, const Plan& next, std::uint32_t to) {
  for (const std::uint32_t number : next.stages[to].functions) {
    for (std::uint32_t i = 0; i < now.stages.size(); ++i) {
      if (i == to || now.stages[i].path != next.stages[to].path) continue;
      if (std::ranges::find(now.stages[i].functions, number) != now.stages[i].functions.end()) {
        return &next.functions[number];
      }
    }
  }
  return nullptr;
}

/// What a file calls the field, and how it differs where a number says more.
template <typename Row, typename Value>
std::string field_change(const Row& row, const Value& now, const Value& next) {
  std::string text(row.in_file);
  if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    if (row.in_file == row.name && row.table == PlanTable::kNone) {
      text += " " + std::to_string(now) + " -> " + std::to_string(next);
    }
  }
  return text;
}

/// Of each field that differs and needs a restart; what is said already is not said again.
template <HasFields Item>
std::vector<std::string> restart_fields(const Item& now, const Item& next) {
  std::vector<std::string> found;
  each_field<Item>([&](const auto& row) {
    if (row.change != PlanChange::kRestart) return;
    const auto &a = now.*row.member, &b = next.*row.member;
    if (same_plan_value(a, b)) return;
    std::string text = field_change(row, a, b);
    if (std::ranges::find(found, text) == found.end()) found.push_back(std::move(text));
  });
  return found;
}

template <HasFields Item>
bool needs_restart(const std::vector<Item>& now, const std::vector<Item>& next) {
  return !std::ranges::equal(
      now, next, [](const Item& a, const Item& b) { return restart_fields(a, b).empty(); });
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string names_of(const Plan& plan, const std::vector<std::uint32_t>& functions) {
  std::string text;
  for (const std::uint32_t number : functions) {
    text += (text.empty() ? "" : ", ") + plan.functions[number].name;
  }
  return "[" + text + "]";
}

std::string classes_text(const Plan& plan, std::uint32_t mask) {
  std::string text;
  for (std::size_t i = 0; i < plan.classes.size(); ++i) {
    if ((mask >> i & 1) != 0) text += (text.empty() ? "" : ", ") + plan.classes[i];
  }
  return text.empty() ? "(all)" : text;
}

class Differ {
 public:
  Differ(const Plan& now, Renumbered next)
      : now_(now),
        next_(std::move(next.plan)),
        now_hashes_(hashes_of(now_)),
        next_hashes_(hashes_of(next_)) {
    diff_.restart = std::move(next.obstacles);
  }

  PlanDiff differ() {
    for (const std::string& what : restart_fields(now_, next_)) restart(what);
    names("port", now_.ports, next_.ports,
          [&](const PlanPort& a, const PlanPort& b) { return port_change(a, b); });
    const std::size_t known = diff_.restart.size();
    functions();
    groups();
    if (diff_.restart.size() == known) shape();
    for (auto* lines : {&diff_.lines, &diff_.restart}) {
      for (std::string& line : *lines) {
        line = without_secrets(without_secrets(std::move(line), now_.secrets), next_.secrets);
      }
    }
    diff_.classes = next_.classes;
    diff_.reasons = next_.reasons;
    return std::move(diff_);
  }

 private:
  void restart(const std::string& what) { diff_.restart.push_back(what); }

  /// Calls `compare` for items of the same name at the same place that need no restart for one of
  /// their fields, and adds what it finds that does; others are new, or gone.
  template <typename Item, typename Compare>
  void names(const std::string& kind, const std::vector<Item>& now, const std::vector<Item>& next,
             Compare&& compare) {
    const auto has = [](const std::vector<Item>& items, const std::string& name) {
      return std::ranges::find(items, name, &Item::name) != items.end();
    };
    for (const Item& item : now) {
      if (!has(next, item.name)) restart(kind + " " + item.name + " goes");
    }
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (!has(now, next[i].name)) {
        restart(kind + " " + next[i].name + " comes");
      } else if (i < now.size() && now[i].name == next[i].name) {
        std::string what = joined(restart_fields(now[i], next[i]));
        if (what.empty()) what = compare(now[i], next[i]);
        if (!what.empty()) restart(kind + " " + next[i].name + ": " + what);
      } else {
        restart(kind + " " + next[i].name + ": its place in the file");
      }
    }
  }

  /// Queues come and go where there is room for them; nothing else of a port changes.
  std::string port_change(const PlanPort& now, const PlanPort& next) {
    std::string all = settings_change(now.settings, next.settings);
    Settings as_now = next.settings;
    std::erase_if(as_now, is_queues);
    Settings others = now.settings;
    std::erase_if(others, is_queues);
    if (all.empty() || !settings_change(others, as_now).empty()) return all;
    const std::uint32_t before = port_number(now, "queues"), after = port_number(next, "queues");
    const std::uint32_t most = port_number(now, "queues_max");
    if (before == after) return "";
    if (most == 0) {
      const bool can = now.device == "afpacket";
      return all + " (while it runs only " +
             (can ? "of a port with queues_max)" : "of afpacket ports)");
    }
    if (after > most) {
      return all + " (there is room for " + std::to_string(most) + ": queues_max)";
    }
    diff_.queues.push_back({static_cast<std::uint32_t>(&next - next_.ports.data()), before, after});
    diff_.lines.push_back("port " + next.name + ": " + all);
    return "";
  }

  /// Files of the function whose contents differ, in words.
  std::string files_change(const PlanFunction& next) const {
    std::string text;
    for (const auto& [key, value] : next.settings) {
      const auto before = now_hashes_.find(value), after = next_hashes_.find(value);
      if (before == now_hashes_.end() || after == next_hashes_.end()) continue;
      if (before->second == after->second) continue;
      text += (text.empty() ? "" : "; ") + std::string("what is in ") + value;
    }
    return text;
  }

  void functions() {
    for (std::uint32_t i = 0; i < next_.functions.size(); ++i) {
      const PlanFunction& after = next_.functions[i];
      const bool was = i < now_.functions.size() && !now_.functions[i].gone;
      if (was && after.gone) {
        come_or_go(i, "goes");
      } else if (was) {
        function_change(i, now_.functions[i], after);
      } else if (!after.gone) {
        come_or_go(i, "comes");
      }
    }
  }

  void come_or_go(std::uint32_t number, const std::string& what) {
    const PlanFunction& function = next_.functions[number];
    const std::string line = "function " + function.name + " " + what;
    if (function.stateful) return restart(line + ", and has state");
    diff_.functions.push_back({number, function});
    diff_.lines.push_back(line);
  }

  void function_change(std::uint32_t number, const PlanFunction& a, const PlanFunction& b) {
    const std::string name = "function " + b.name + ": ";
    if (const auto fields = restart_fields(a, b); !fields.empty()) {
      return restart(name + joined(fields));
    }
    std::string what = settings_change(a.settings, b.settings);
    if (what.empty()) what = files_change(b);
    if (a.when_class != b.when_class) {
      const bool skipped = std::ranges::any_of(now_.stages, [&](const PlanStage& stage) {
        return may_be_skipped(now_, stage) &&
               std::ranges::find(stage.functions, number) != stage.functions.end();
      });
      // A producer that leads batches past it counts those that it would have looked at.
      if (skipped) return restart(name + "when, as batches may go past it");
      what += (what.empty() ? "" : "; ") + std::string("when ") + classes_text(now_, a.when_class) +
              " -> " + classes_text(next_, b.when_class);
    }
    if (what.empty()) return;
    diff_.functions.push_back({number, a});
    PlanFunction& after = diff_.functions.back().function;
    after.settings = b.settings;
    after.when_class = b.when_class;
    after.class_mask = b.class_mask;
    diff_.lines.push_back(name + what);
  }

  void groups() {
    names("group", now_.groups, next_.groups,
          [&](const PlanGroup& a, const PlanGroup& b) -> std::string {
            std::string what = settings_change(a.settings, b.settings);
            if (!what.empty()) return what;
            const auto group = static_cast<std::uint32_t>(&b - next_.groups.data());
            if (a.count != b.count && !scales_itself_to(b, a.count)) count(group, a, b);
            if (a.autoscale != b.autoscale)
              diff_.lines.push_back("group " + b.name + ": autoscale");
            return "";
          });
  }

  void count(std::uint32_t group, const PlanGroup& a, const PlanGroup& b) {
    diff_.counts.push_back({group, a.count, b.count});
    diff_.lines.push_back("group " + b.name + ": " + std::to_string(a.count) + " -> " +
                          std::to_string(b.count) + " workers");
  }

  /// What follows from all of these and from paths: when it differs, paths do.
  void shape() {
    names("path", now_.paths, next_.paths,
          [](const PlanPath& /*now*/, const PlanPath& /*next*/) { return std::string(); });
    if (!diff_.restart.empty()) return;
    const bool stages = !needs_restart(now_.stages, next_.stages);
    const bool streams = !needs_restart(now_.streams, next_.streams);
    if (!stages) restart("paths: the groups that their functions run on");
    if (!streams) restart("paths: ports, queues, slots or buffers");
    if (now_.actors.size() != next_.actors.size()) {
      restart("egress: count");
    } else {
      cores();
    }
    if (now_.buffer_stride != next_.buffer_stride) restart("size of buffers");
    if (!stages) return;
    for (std::uint32_t i = 0; i < now_.stages.size(); ++i) stage_change(i);
  }

  /// Its functions come, go, and change places under traffic, as far as only what runs them
  /// has to know.
  void stage_change(std::uint32_t number) {
    const PlanStage &a = now_.stages[number], &b = next_.stages[number];
    if (a.functions == b.functions) return;
    const PlanPath &before = now_.paths[a.path], &after = next_.paths[b.path];
    const std::string line = "path " + after.name + ": runs " + names_of(now_, a.functions) +
                             " -> " + names_of(next_, b.functions) + " on " +
                             next_.groups[b.group].name;
    if (may_be_skipped(now_, a) || may_be_skipped(next_, b)) {
      return restart(line + ", and batches may go past all of it (unavailable, overload)");
    }
    if (with_state(now_, a) != with_state(next_, b)) return restart(line + ": those with state");
    // A GPU would go on reading keys alone.
    if (before.has_keys && !after.has_keys) {
      return restart(line + ", which ask for more than keys of flows");
    }
    if (const PlanFunction* function = moved(now_, next_, number)) {
      return restart(line + ": " + function->name + " is in another part of the path");
    }
    diff_.stages.push_back({number, b.functions});
    diff_.lines.push_back(line);
  }

  /// Those that the file names: others are given out anew with each plan. (That of a build from
  /// before `core_named`, which `upgrade` leaves as it was, says of none that it was named.)
  void cores() {
    const auto same = [](const PlanActor& now, const PlanActor& next) {
      return next.core_named ? next.core == now.core : !now.core_named;
    };
    std::string names;
    for (std::size_t i = 0; i < now_.actors.size(); ++i) {
      if (same(now_.actors[i], next_.actors[i])) continue;
      names += (names.empty() ? "" : ", ") + next_.actors[i].name;
    }
    if (!names.empty()) restart("cores of " + names);
  }

  const Plan& now_;
  const Plan next_;
  Hashes now_hashes_, next_hashes_;
  PlanDiff diff_;
};

}  // namespace

PlanDiff diff_plans(const Plan& now, const Plan& next) {
  return Differ(now, renumbered(now, next)).differ();
}

}  // namespace millrace
