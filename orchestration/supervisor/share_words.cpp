// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/share_words.hpp"

#include <algorithm>

#include "shared/base/check.hpp"

namespace millrace {

ShareWords::ShareWords(const Plan& plan)
    : plan_(plan), mapping_(Mapping::attach_status(status_file_name(plan.name), true)) {
  view_ = StatusView::attach(mapping_.base(), mapping_.bytes(), plan);
}

void ShareWords::spread(std::uint32_t port, std::uint32_t queues) {
  const std::vector<std::uint32_t> actors = ingresses_of_port(plan_, port);
  if (actors.size() < 2) return;
  std::vector<std::uint32_t> readers;
  for (const std::uint32_t actor : actors) {
    const std::uint32_t reader = view_.actor(actor).share_reader.load(std::memory_order_acquire);
    readers.push_back(
        static_cast<std::uint32_t>(std::ranges::find(actors, reader) - actors.begin()));
  }
  const std::vector<std::uint32_t> wanted = spread_shares(readers, queues);
  for (std::size_t i = 0; i < actors.size(); ++i) {
    MILLRACE_CHECK(wanted[i] < actors.size());
    view_.actor(actors[i]).share_wanted.store(actors[wanted[i]], std::memory_order_release);
  }
}

bool ShareWords::all_moved(std::uint32_t port) const {
  return std::ranges::all_of(ingresses_of_port(plan_, port), [&](std::uint32_t actor) {
    const ActorEntry& entry = view_.actor(actor);
    const std::uint32_t wanted = entry.share_wanted.load(std::memory_order_acquire);
    return wanted == 0 || wanted == entry.share_reader.load(std::memory_order_acquire);
  });
}

void ShareWords::set_joined(std::uint32_t port, std::uint32_t reader, bool joined) {
  for (const std::uint32_t actor : ingresses_of_port(plan_, port)) {
    ActorEntry& entry = view_.actor(actor);
    if (entry.share_reader.load(std::memory_order_acquire) != reader) continue;
    entry.share_joined.store(joined ? 1 : 0, std::memory_order_release);
  }
}

void ShareWords::forget_joined(std::uint32_t port, std::uint32_t reader) {
  set_joined(port, reader, false);
}

void ShareWords::wait_no_more(std::uint32_t port, std::uint32_t reader) {
  set_joined(port, reader, true);
}

std::vector<std::uint32_t> spread_shares(const std::vector<std::uint32_t>& readers,
                                         std::uint32_t queues) {
  MILLRACE_CHECK(queues != 0);
  const std::size_t least = readers.size() / queues;
  std::size_t with_one_more = readers.size() % queues;
  std::vector<std::size_t> counts(queues, 0);
  std::vector<std::uint32_t> wanted(readers.size(), queues);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    const std::uint32_t reader = readers[i];
    if (reader >= queues || counts[reader] > least) continue;
    if (counts[reader] == least && with_one_more == 0) continue;
    if (counts[reader]++ == least) --with_one_more;
    wanted[i] = reader;
  }
  for (std::uint32_t& queue : wanted) {
    if (queue != queues) continue;
    queue = static_cast<std::uint32_t>(std::ranges::min_element(counts) - counts.begin());
    ++counts[queue];
  }
  return wanted;
}

}  // namespace millrace
