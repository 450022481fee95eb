// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <deque>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "orchestration/cli/alert_line.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/event_history.hpp"
#include "orchestration/cli/event_stream.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

constexpr const char* kAlertsHelp =
    "Each line is an alert: when, what became of the packet (blocked, allowed), the signature as\n"
    "gid:sid:revision with its message, priority (1 is the highest) and class, and both ends.\n"
    "Rules of match, inspect, acl and firewall have their number in the function as sid.\n"
    "Examples:\n"
    "  millrace alerts edge                           the last 50 in the file\n"
    "  millrace alerts edge --last 0 --sid 2019401    all of a signature\n"
    "  millrace alerts edge --top 10                  the signatures with the most\n"
    "  millrace alerts edge --top 10 --by source      sources of the most alerts\n"
    "  millrace alerts edge --count --source 10.1.0.0/16\n"
    "  millrace alerts edge --follow --json           as they come, in the form of EVE\n"
    "It reads the file of section `events` with those that `rotate` has renamed, also what an\n"
    "earlier run wrote there. --follow needs no file: it reads the socket.";

struct AlertsOptions : RunningOptions {
  std::vector<std::uint32_t> sids;
  std::string source, by = "signature";
  std::uint64_t last = 50;
  std::size_t top = 0;
  bool follow = false, count = false;
};

/// Of a word that the command line takes.
AlertOrder order_of(const std::string& by) {
  if (by == "source") return AlertOrder::kSource;
  return by == "destination" ? AlertOrder::kDestination : AlertOrder::kSignature;
}

class Alerts {
 public:
  Alerts(const AlertsOptions& options, const std::string& run_dir)
      : options_(options),
        run_dir_(run_dir),
        plan_(load_plan(plan_path(run_dir))),
        filter_(options.sids, options.source) {}

  void show() const {
    if (options_.follow) return follow();
    if (options_.count || options_.top != 0) return count();
    list();
  }

 private:
  using Json = nlohmann::ordered_json;

  static void print(const Json& json) { std::cout << json_text(json) << '\n'; }

  template <typename Visit>
  void visit(Visit visit) const {
    visit_event_files(plan_, [&](const std::string& line) {
      auto alert = alert_of_line(line);
      if (alert && filter_.takes(*alert)) visit(std::move(*alert));
    });
  }

  void list() const {
    std::deque<Json> last;
    std::uint64_t all = 0;
    visit([&](Json alert) {
      ++all;
      last.push_back(std::move(alert));
      if (options_.last != 0 && last.size() > options_.last) last.pop_front();
    });
    if (options_.json) {
      return print({{"ok", true}, {"topology", plan_.name}, {"alerts", last}, {"count", all}});
    }
    for (const Json& alert : last) std::cout << alert_text(alert) << '\n';
    std::cout << summary(all, last.size());
  }

  static std::string summary(std::uint64_t all, std::size_t shown) {
    std::string text = (all == 0 ? "no" : std::to_string(all)) + (all == 1 ? " alert" : " alerts");
    if (shown != all) text += "; these are the last " + std::to_string(shown);
    return text + "\n";
  }

  void count() const {
    const AlertOrder by = order_of(options_.by);
    AlertCount counted(by);
    visit([&](const Json& alert) { counted.add(alert); });
    const std::vector<AlertGroup> groups = counted.top(options_.top);
    if (options_.json) {
      Json json = {{"ok", true}, {"count", counted.alerts()}, {"blocked", counted.blocked()}};
      if (options_.top != 0) json["top"] = Json::array();
      for (const AlertGroup& group : groups) json["top"].push_back(alert_group_json(group, by));
      return print(json);
    }
    if (options_.count) {
      std::cout << counted.alerts() << '\n';
    } else {
      std::cout << alert_groups_text(groups, by) << summary(counted.alerts(), counted.alerts());
    }
  }

  /// Prints new alerts until the topology ends, or the output is closed.
  void follow() const {
    EventStream stream(plan_, run_dir_);
    for (std::string line; std::cout && stream.next(line);) {
      const auto alert = alert_of_line(line);
      if (!alert || !filter_.takes(*alert)) continue;
      std::cout << (options_.json ? line : alert_text(*alert)) << '\n' << std::flush;
    }
  }

  const AlertsOptions& options_;
  std::string run_dir_;
  Plan plan_;
  AlertFilter filter_;
};

}  // namespace

void add_alerts(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "alerts", "show alerts of a topology: the last ones, new ones, or what has the most");
  auto options = std::make_shared<AlertsOptions>();
  add_running_options(*command, *options);
  command->add_option("--sid", options->sids, "show only alerts of this signature; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--source", options->source,
                      "show only alerts of packets from this address or prefix");
  auto* const last =
      command->add_option("--last", options->last, "show the last N alerts (default 50; 0: all)");
  auto* const count =
      command->add_flag("--count", options->count, "print only the number of alerts");
  auto* const top = command->add_option("--top", options->top, "show the N with the most alerts")
                        ->check(CLI::Range(1, 100'000))
                        ->excludes(count)
                        ->excludes(last);
  command->add_option("--by", options->by, "group by signature, source or destination")
      ->check(CLI::IsMember({"signature", "source", "destination"}))
      ->needs(top);
  command->add_flag("-f,--follow", options->follow, "print new alerts until the topology ends")
      ->excludes(count)
      ->excludes(top)
      ->excludes(last);
  command->footer(kAlertsHelp);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText,
                [&] { Alerts(*options, running_dir(*options)).show(); });
  });
}

}  // namespace millrace
