// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/observers.hpp"

#include <utility>

#include "orchestration/supervisor/bypass.hpp"
#include "orchestration/supervisor/post_state.hpp"
#include "shared/base/clock.hpp"

namespace millrace {

Observers::Observers(const Plan& plan, const Fleet& fleet, StateFile& state, std::string run_dir,
                     std::string run_words, Note note)
    : plan_(plan),
      fleet_(fleet),
      state_(state),
      run_dir_(std::move(run_dir)),
      run_words_(std::move(run_words)),
      note_(std::move(note)) {}

void Observers::resume() { refused_ = refused_before_ = state_.now().config.control_refused; }

/// Once a second at most: a sender of nonsense shall not fill the log.
void Observers::tend_refused(std::uint64_t since) {
  const std::uint64_t count = refused_before_ + since;
  if (count == refused_ || Clock::now() < refused_next_) return;
  refused_next_ = Clock::now() + std::chrono::seconds(1);
  refused_ = count;
  note_(
      {.severity = Severity::kWarning,
       .kind = "control_refused",
       .text = std::to_string(count) + " control messages or connections so far were none of ours",
       .number = count});
}

/// What a command has written into the status file. A state that was there before us is not news.
void Observers::note_drained() {
  if (fleet_.status() == nullptr) return;
  const bool now = fleet_.status()->is_drained();
  if (drained_ && *drained_ != now) {
    note_({.kind = now ? "drained" : "undrained",
           .text = now ? "ingresses read nothing until: millrace undrain " + run_words_
                       : "ingresses read on"});
  }
  drained_ = now;
}

ConfigFacts Observers::config_now(const Changes& changes, bool differs) const {
  const ConfigFacts& told = state_.now().config;
  const auto bypass = load_bypass(run_dir_);
  ConfigFacts facts{.generation = plan_.generation,
                    .hash = plan_.hash,
                    .differs = differs,
                    .reloads_done = changes.counts().done,
                    .reloads_refused = changes.counts().failed,
                    .control_refused = refused_,
                    .bypass = bypass ? std::optional(bypass->on) : std::nullopt,
                    .changed_ns = told.changed_ns,
                    .failed_ns = told.failed_ns};
  if (facts.generation != told.generation) facts.changed_ns = system_clock_ns();
  if (facts.reloads_refused != told.reloads_refused) facts.failed_ns = system_clock_ns();
  return facts;
}

void Observers::tend(const Changes& changes, bool differs) {
  note_drained();
  state_.keep([&](RunState& state) {
    state.config = config_now(changes, differs);
    state.wanted = wanted_workers(plan_, fleet_.posts());
    state.posts = states_of(fleet_.posts());
  });
  logs_.tend(run_dir_, Clock::now());
}

}  // namespace millrace
