// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <vector>

#include "shared/layout/actor_states.hpp"
#include "shared/layout/slot_state.hpp"
#include "tests/race/race_world.hpp"

namespace millrace::race {
namespace {

unsigned long number(std::uint64_t value) { return value; }

void dump_actors(const World& world) {
  const ActorContext context = world.context(0);
  std::printf("    epoch %lu, leader %lu\n", number(context.status.header().epoch),
              number(context.status.header().leader));
  for (std::uint32_t actor = 0; actor < world.plan().actors.size(); ++actor) {
    const ActorEntry& entry = context.entry(actor);
    const std::string_view state = rule_of(context.state_of(actor)).name;
    std::printf("    %-14s %-12.*s pid %d (%s) life %u acknowledged %lu of %lu%s\n",
                world.plan().actors[actor].name.c_str(), static_cast<int>(state.size()),
                state.data(), entry.pid.load(), world.running(actor) ? "runs" : "gone",
                entry.incarnation.load(), number(entry.acked_epoch), number(entry.fence_epoch),
                entry.sleeping.load() != 0 ? " asleep" : "");
  }
}

void dump_slots(const World& world) {
  const ActorContext context = world.context(0);
  for (std::uint32_t slot = 0; slot < context.segment.slot_count(); ++slot) {
    const SlotHeader& header = context.segment.slot(slot);
    const SlotState state = SlotState::from_word(header.state.load());
    if (state.kind == SlotKind::kFree) continue;
    const Owner owner = Owner::from_word(header.owner.load());
    std::printf(
        "    slot %u %s for stage %u, owner %s life %u, holder %lx, stream %u lane %u "
        "sequence %lu flags %u\n",
        slot, rule_of(state.kind).name.data(), state.stage,
        world.plan().actors[owner.actor].name.c_str(), owner.incarnation, number(header.gpu_holder),
        header.stream, header.lane, number(header.sequence), header.flags);
  }
}

void dump_windows(const World& world) {
  const ActorContext context = world.context(0);
  for (std::uint8_t stage = 0; stage < world.plan().stages.size(); ++stage) {
    if (!world.plan().stages[stage].stateful) continue;
    for (std::uint32_t s = 0; s < world.plan().streams.size(); ++s) {
      for (const std::uint32_t lane : lanes_of(world.plan(), world.plan().streams[s])) {
        const LaneWindow& window = context.segment.lane_window(stage, s, lane);
        std::printf("    window of stage %u stream %u lane %u: released %lu, dirty %u, worker %u\n",
                    stage, s, lane, number(window.released),
                    static_cast<unsigned>(window.dirty.load()),
                    context.status.lane_map(world.plan().stages[stage].group).worker[lane].load());
      }
    }
  }
}

void dump_links(const World& world) {
  const ActorContext context = world.context(0);
  std::vector<std::uint64_t> words;
  for (std::uint32_t i = 0; i < world.plan().links.size(); ++i) {
    words.clear();
    context.segment.link(i).snapshot(words);
    for (const std::uint64_t word : words) {
      const Descriptor descriptor = Descriptor::from_word(word);
      std::printf("    link %s -> %s holds slot %u stage %u\n",
                  world.plan().actors[world.plan().links[i].producer].name.c_str(),
                  world.plan().actors[world.plan().links[i].consumer].name.c_str(), descriptor.slot,
                  descriptor.stage);
    }
  }
}

}  // namespace

void dump(const World& world) {
  dump_actors(world);
  dump_slots(world);
  dump_links(world);
  dump_windows(world);
  const ActorContext context = world.context(0);
  for (std::uint32_t s = 0; s < world.plan().streams.size(); ++s) {
    for (const std::uint32_t lane : lanes_of(world.plan(), world.plan().streams[s])) {
      std::printf("    stream %u lane %u sealed %lu released %lu\n", s, lane,
                  number(context.status.ingress_lane(s, lane).sealed_sequence),
                  number(context.status.ledger(s, lane).released));
    }
  }
}

}  // namespace millrace::race
