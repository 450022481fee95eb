// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/leader_client.hpp"

#include <array>

#include "shared/base/patience.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kSlice{5};

struct Asked {
  ControlClient client;
  std::uint64_t id = 0;  ///< of the question; 0: it was not there yet
};

}  // namespace

ControlBody ask_leader_within(const std::string& run_dir, const ControlBody& question,
                              LeaderLimits limits) {
  std::array<Asked, 2> leaders = {
      {{ControlClient(run_dir, kHubEndpoint)}, {ControlClient(run_dir, kStandbyEndpoint)}}};
  bool heard = false;
  Patience patience(limits.there);
  do {
    for (Asked& leader : leaders) {
      if (leader.id == 0) {
        leader.id = leader.client.ask(question, kSlice);
        if (leader.id == 0) continue;
        heard = true;
        patience = Patience(limits.answer);
      }
      if (auto answer = leader.client.answer_within(leader.id, kSlice)) return std::move(*answer);
    }
  } while (!patience.is_over());
  const std::string what = std::string("`") + message_name(question) + "` in " + run_dir;
  if (heard) {
    throw Error("the leader does not answer " + what + " within " +
                std::to_string(limits.answer.count()) + " ms");
  }
  throw Error("neither hub nor standby is there to hear " + what);
}

}  // namespace millrace
