// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/observers.hpp"

#include <utility>

#include "orchestration/supervisor/bypass.hpp"
#include "shared/base/clock.hpp"

namespace millrace {

Observers::Observers(const Plan& plan, const Fleet& fleet, std::string run_dir,
                     std::string run_words, Note note)
    : plan_(plan),
      fleet_(fleet),
      run_dir_(std::move(run_dir)),
      run_words_(std::move(run_words)),
      note_(std::move(note)) {}

const ConfigFacts& Observers::resume() {
  told_ = read_config(run_dir_);
  refused_ = refused_before_ = told_.control_refused;
  return told_;
}

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
       .number = count,
       .time_ns = system_clock_ns()});
}

/// What a command has written into the status file. A state that was there before us is not news.
void Observers::note_drained() {
  if (fleet_.status() == nullptr) return;
  const bool now = fleet_.status()->is_drained();
  if (drained_ && *drained_ != now) {
    note_({.kind = now ? "drained" : "undrained",
           .text = now ? "ingresses read nothing until: millrace undrain " + run_words_
                       : "ingresses read on",
           .time_ns = system_clock_ns()});
  }
  drained_ = now;
}

void Observers::tend(const Changes& changes, bool differs) {
  note_drained();
  const auto bypass = load_bypass(run_dir_);
  ConfigFacts facts{.generation = plan_.generation,
                    .hash = plan_.hash,
                    .differs = differs,
                    .reloads_done = changes.counts().done,
                    .reloads_refused = changes.counts().failed,
                    .control_refused = refused_,
                    .bypass = bypass ? std::optional(bypass->on) : std::nullopt,
                    .changed_ns = told_.changed_ns,
                    .failed_ns = told_.failed_ns};
  if (facts.generation != told_.generation) facts.changed_ns = system_clock_ns();
  if (facts.reloads_refused != told_.reloads_refused) facts.failed_ns = system_clock_ns();
  config_.tend(run_dir_, facts);
  told_ = std::move(facts);
  wanted_.tend(run_dir_, plan_, fleet_.posts());
  posts_.tend(run_dir_, fleet_.posts());
  logs_.tend(run_dir_, Clock::now());
}

}  // namespace millrace
