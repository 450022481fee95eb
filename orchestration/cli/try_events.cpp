// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/try_events.hpp"

namespace millrace {

TryEvents::TryEvents(const std::string& file, const Plan& plan)
    : plan_(plan), records_(kEventRingRecords) {
  if (!file.empty()) file_.emplace(file);
  for (const PlanFunction& function : plan.functions) {
    const auto limits = stream_file_limits(function);
    streams_.push_back(limits ? std::make_unique<StreamFiles>(*limits) : nullptr);
  }
}

void TryEvents::write(std::uint64_t time_ns) {
  log_.publish();
  std::uint64_t skipped = 0;
  const std::uint32_t count = reader_.peek(records_, skipped);
  if (count != 0 && lines_ == 0) signatures_.use(plan_);
  std::span<const EventRecord> rest(records_.data(), count);
  while (!rest.empty()) {
    const std::uint64_t record = reader_.head() + (count - rest.size());
    next_line(rest, line_);
    if (!line_.is_whole) continue;
    put({.actor = "try",
         .number = record,
         .time_ns = time_ns,
         .signature = signatures_.find(line_.record),
         .text = line_.text()});
    ++lines_;
  }
  reader_.let_go_until(reader_.head() + count);
  if (file_) file_->flush();
}

/// The line that was taken last.
void TryEvents::put(const EventPlace& place) {
  if (line_.record.kind == EventKind::kStream) {
    StreamFiles* const files = streams_.at(line_.record.function).get();
    if (files == nullptr || !files->put(line_.record, place.text)) ++stream_lost_;
    return;
  }
  if (!file_) return;
  std::string line;
  put_event(line_.record, place, plan_, times_, line);
  file_->put(line);
}

std::uint64_t TryEvents::lost() const { return rings_.ring(0).lost.load() + stream_lost_; }

}  // namespace millrace
