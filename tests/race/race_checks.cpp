// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

#include "shared/recovery/census.hpp"
#include "tests/race/race_world.hpp"

namespace millrace::race {
namespace {

class Checks {
 public:
  void equal(const char* what, std::uint64_t found, std::uint64_t wanted) {
    if (found == wanted) return;
    std::printf("  BREACH %s: found %lu, wanted %lu\n", what, static_cast<unsigned long>(found),
                static_cast<unsigned long>(wanted));
    ++breaches_;
  }
  void at_most(const char* what, std::uint64_t found, std::uint64_t most) {
    if (found <= most) return;
    std::printf("  BREACH %s: found %lu, at most %lu\n", what, static_cast<unsigned long>(found),
                static_cast<unsigned long>(most));
    ++breaches_;
  }
  std::uint32_t breaches() const { return breaches_; }

 private:
  std::uint32_t breaches_ = 0;
};

struct StreamSum {
  std::uint64_t received = 0, generated = 0, transmitted = 0, dropped = 0, egress_lost = 0,
                unaccounted = 0;
};

StreamSum sum_of(const World& world, std::uint32_t stream) {
  StreamSum sum;
  const Plan& plan = world.plan();
  for (const std::uint32_t lane : lanes_of(plan, plan.streams[stream])) {
    const LaneRecord record = read_record(world.context(0).status.ledger(stream, lane));
    sum.received += record.received;
    sum.unaccounted += record.unaccounted;
    for (const std::uint64_t packets : record.transmitted) sum.transmitted += packets;
    for (const std::uint64_t packets : record.dropped) sum.dropped += packets;
    for (const std::uint64_t packets : record.generated) sum.generated += packets;
    sum.egress_lost += record.dropped[static_cast<std::size_t>(Reason::kEgressLost)];
  }
  return sum;
}

std::uint32_t held_in_queues(const Arena& arena) {
  return arena.held_rx[0] + arena.held_rx[1] + arena.held_tx[0] + arena.held_tx[1];
}

}  // namespace

bool all_returned(const World& world, std::uint32_t quarantined) {
  const Census census = census_of(world.context(1));
  return census.slots_free == census.slots - quarantined &&
         (quarantined != 0 || (census.buffers_free + census.buffers_held == census.buffers &&
                               census.buffers_held == held_in_queues(world.arena())));
}

std::uint32_t check_round(const World& world, std::uint32_t quarantined) {
  Checks checks;
  const Arena& arena = world.arena();
  for (std::uint32_t s = 0; s < 2; ++s) {
    const StreamSum sum = sum_of(world, s);
    // Counted by the test itself, from the source and from what left.
    const std::uint64_t offered = arena.handed_out[s];
    std::uint64_t left = 0;
    for (std::uint64_t ordinal = 0; ordinal < offered; ++ordinal) left += arena.seen[s][ordinal];
    checks.equal("packets received", sum.received, offered);
    checks.equal("received + generated = transmitted + dropped", sum.transmitted + sum.dropped,
                 sum.received + sum.generated);
    checks.equal("unaccounted", sum.unaccounted, 0);
    const StreamSum last = s == 0 ? sum : sum_of(world, kLoopStream);
    checks.at_most("transmitted, but never seen to leave", last.transmitted,
                   left + arena.side_seen[s]);
    checks.at_most("left beyond what was transmitted or lost at egress", left,
                   last.transmitted + last.egress_lost);
  }
  const StreamSum again = sum_of(world, kLoopStream);
  checks.equal("received from the loop", again.received, sum_of(world, 1).transmitted);
  checks.equal("of the loop: received = transmitted + dropped", again.transmitted + again.dropped,
               again.received);
  checks.equal("of the loop: unaccounted", again.unaccounted, 0);
  for (std::size_t i = 0; i < world.context(0).segment.layout().loops.size(); ++i) {
    const LoopRing ring = world.context(0).segment.loop(i);
    checks.equal("packets in the loop's ring", ring.head() - ring.tail(), 0);
  }
  checks.equal("packets that left twice", arena.duplicates, 0);
  checks.equal("inversions in a flow at the output", arena.inversions_out, 0);
  checks.equal("inversions at the stateful stage", arena.inversions_state, 0);
  checks.equal("states of lanes that were half changed", arena.torn_states, 0);
  checks.equal("states of lanes that were discarded",
               world.context(0).status.header().lane_states_discarded, 0);
  checks.equal("buffers changed while in a queue", arena.touched, 0);
  checks.equal("results of another batch", arena.bad_results, 0);
  const Census census = census_of(world.context(1));
  checks.equal("slots that are free", census.slots_free, census.slots - quarantined);
  if (quarantined == 0) {
    const std::uint32_t held = held_in_queues(world.arena());
    checks.equal("buffers that queues keep", census.buffers_held, held);
    checks.equal("buffers that are free", census.buffers_free, census.buffers - held);
  }
  return checks.breaches();
}

const char* hook_name(std::size_t point) {
  static constexpr const char* kNames[] = {
      "take: owner",   "take: index",  "push: element",   "push: index",   "open: header",
      "open: state",   "hold: mark",   "fill: mark",      "fill: column",  "seal: header",
      "seal: state",   "gpu: holder",  "accept: claim",   "accept: clear", "work: state",
      "work: dirty",   "work: next",   "complete: state", "send: state",   "send: mark",
      "send: record",  "send: flip",   "free: state",     "free: slot",    "side: mark",
      "reclaim: push", "loop: intent", "loop: head",      "loop: ordinal", "loop: tail",
      "work: change"};
  static_assert(std::size(kNames) == kHookCount);
  return kNames[point];
}

}  // namespace millrace::race
