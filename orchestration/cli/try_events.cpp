// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/try_events.hpp"

namespace millrace {

TryEvents::TryEvents(const std::string& file, const Plan& plan)
    : plan_(plan), records_(kEventRingRecords), file_(file) {}

void TryEvents::write(std::uint64_t time_ns) {
  log_.publish();
  std::uint64_t skipped = 0;
  std::string line;
  const std::uint32_t count = reader_.peek(records_, skipped);
  if (count != 0 && lines_ == 0) signatures_.use(plan_);
  std::span<const EventRecord> rest(records_.data(), count);
  while (!rest.empty()) {
    const std::uint64_t record = reader_.head() + (count - rest.size());
    next_line(rest, line_);
    if (!line_.is_whole) continue;
    line.clear();
    const EventPlace place = {.actor = "try",
                              .number = record,
                              .time_ns = time_ns,
                              .signature = signatures_.find(line_.record),
                              .text = line_.text()};
    put_event(line_.record, place, plan_, times_, line);
    file_.put(line);
    ++lines_;
  }
  reader_.let_go_until(reader_.head() + count);
  file_.flush();
}

std::uint64_t TryEvents::lost() const { return rings_.ring(0).lost.load(); }

}  // namespace millrace
