// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "orchestration/planner/loader.hpp"
#include "orchestration/planner/planner.hpp"
#include "shared/actor/context.hpp"
#include "shared/layout/mapping.hpp"

/// A small topology in private memory, without processes: what the actors of a test share.

namespace millrace::test {

/// Both ways to a GPU and from it: from a classifier to a stateful stage, from an ingress to the
/// egress. Stages: 0 first (front), 1 second (gpu), 2 third (deep, with state), 3 fourth (gpu).
inline constexpr const char* kTwoPaths = R"(
millrace: 1
name: small
batch: { capacity: 8 }
ports:
  a: { device: "null" }
  b: { device: "null" }
workers:
  front: { kind: classifier, count: 3, max: 3, dispatch: any }
  deep: { kind: classifier, count: 2, max: 2, dispatch: flow }
  gpu: { kind: gpu, device: software }
functions:
  first: { type: pass, on: front }
  second: { type: pass, on: gpu }
  third: { type: state, on: deep }
  fourth: { type: pass, on: gpu }
paths:
  long: { from: [a], run: [first, second, third], lanes: 4 }
  short: { from: [b], run: [fourth], lanes: 2 }
)";

inline Plan plan_of_text(const std::string& text) {
  static constexpr KnownFunction kFunctions[] = {
      {.type = "pass", .runs_on_gpu = true, .counter_count = 2, .settings = {}},
      {.type = "keyed", .runs_on_gpu = true, .keys_suffice = true, .settings = {}},
      {.type = "state",
       .stateful = true,
       .lane_needs =
           [](const LaneRequest&) {
             return LaneNeeds{96, 0};
           },
       .settings = {}},
      {.type = "kept",
       .stateful = true,
       .lane_needs =
           [](const LaneRequest&) {
             return LaneNeeds{96, 2};
           },
       .settings = {}}};
  return make_plan(parse_topology(text, "small.yaml", kFunctions), kFunctions, Host{{0, 1}});
}

/// A batch that a test makes by hand. All batches of a lane have the same count.
struct HandMade {
  std::uint32_t stream = 0;
  std::uint32_t lane = 0;
  std::uint64_t sequence = 1;
  std::uint32_t count = 3;
  std::string_view owner = "ingress.a.0";
  SlotState state{SlotKind::kHeld, 0};
};

class SmallWorld {
 public:
  static constexpr std::uint16_t kPacketBytes = 60;

  explicit SmallWorld(const std::string& text = kTwoPaths)
      : plan(plan_of_text(text)),
        segment_memory_(Mapping::create_anonymous(segment_layout(plan).bytes)),
        status_memory_(Mapping::create_anonymous(status_layout(plan).bytes)),
        segment(SegmentView::create(segment_memory_.base(), plan)),
        status(StatusView::create(status_memory_.base(), plan, 1'000'000'000)),
        used_slots_(plan.streams.size(), 0),
        used_buffers_(plan.streams.size(), 0) {}
  SmallWorld(const SmallWorld&) = delete;  // contexts point to its plan
  SmallWorld& operator=(const SmallWorld&) = delete;

  std::uint16_t actor(std::string_view name) const {
    for (std::uint16_t i = 0; i < plan.actors.size(); ++i) {
      if (plan.actors[i].name == name) return i;
    }
    std::abort();
  }
  ActorContext context(std::string_view name, std::uint16_t incarnation = 1) const {
    return {&plan, segment, status, {actor(name), incarnation}};
  }
  ActorEntry& entry(std::string_view name) const { return status.actor(actor(name)); }
  ActorState state_of(std::string_view name) const {
    return static_cast<ActorState>(entry(name).state.load());
  }
  void set(std::string_view name, ActorState state, std::uint32_t incarnation = 1) const {
    entry(name).pid = pid_of(name);
    entry(name).start_time = 1;
    entry(name).incarnation = incarnation;
    entry(name).state = static_cast<std::uint32_t>(state);
  }
  std::int32_t pid_of(std::string_view name) const { return 1000 + actor(name); }
  /// All that start with the topology are alive, in their first life.
  void start_all() const {
    for (const PlanActor& actor : plan.actors) {
      if (actor.at_start) set(actor.name, ActorState::kAlive);
    }
  }
  Owner owner_word(std::string_view name, std::uint16_t incarnation = 1) const {
    return {actor(name), incarnation};
  }

  SpscRing<std::uint64_t> link(std::string_view from, std::string_view to) const {
    const std::uint32_t producer = actor(from);
    const std::uint32_t consumer = actor(to);
    for (std::uint32_t i = 0; i < plan.links.size(); ++i) {
      const PlanLink& link = plan.links[i];
      if (link.producer == producer && link.consumer == consumer) return segment.link(i);
    }
    std::abort();
  }
  /// Slots that lie in the link, in order.
  std::vector<std::uint32_t> slots_in(std::string_view from, std::string_view to) const {
    std::vector<std::uint64_t> words;
    link(from, to).snapshot(words);
    std::vector<std::uint32_t> slots;
    for (const std::uint64_t word : words) slots.push_back(Descriptor::from_word(word).slot);
    return slots;
  }
  std::vector<std::uint32_t> slots_returned(std::uint32_t stream, Returner from) const {
    std::vector<std::uint64_t> words;
    segment.slot_return(stream, from).snapshot(words);
    std::vector<std::uint32_t> slots;
    for (const std::uint64_t word : words) slots.push_back(Descriptor::from_word(word).slot);
    return slots;
  }
  std::vector<std::uint32_t> buffers_returned(std::uint32_t stream, Returner from) const {
    std::vector<std::uint32_t> buffers;
    segment.buffer_return(stream, from).snapshot(buffers);
    return buffers;
  }
  /// All links that hold the slot, by number.
  std::vector<std::uint32_t> links_with(std::uint32_t slot) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < plan.links.size(); ++i) {
      std::vector<std::uint64_t> words;
      segment.link(i).snapshot(words);
      for (const std::uint64_t word : words) {
        if (Descriptor::from_word(word).slot == slot) found.push_back(i);
      }
    }
    return found;
  }

  SlotState slot_state(std::uint32_t slot) const {
    return SlotState::from_word(segment.slot(slot).state.load());
  }
  Owner owner_of(std::uint32_t slot) const {
    return Owner::from_word(segment.slot(slot).owner.load());
  }
  std::uint64_t word_of(std::uint32_t slot, std::uint8_t stage) const {
    return Descriptor{static_cast<std::uint16_t>(slot), stage, segment.slot(slot).generation}
        .word();
  }
  bool push(std::string_view from, std::string_view to, std::uint64_t word) const {
    return link(from, to).push({&word, 1});
  }

  /// Puts a batch into the stream's next slot, as ingress and those after it would have left it.
  /// Its packets hold their ordinal in bytes 16..23. Returns the slot.
  std::uint32_t make(const HandMade& from) {
    const PlanStream& stream = plan.streams[from.stream];
    const std::uint32_t slot = stream.slot_first + used_slots_[from.stream]++;
    SlotHeader& header = segment.slot(slot);
    header.owner = owner_word(from.owner).word();
    header.state = from.state.word();
    ++header.generation;
    header.gpu_holder = 0;
    header.stream = static_cast<std::uint16_t>(from.stream);
    header.lane = static_cast<std::uint16_t>(from.lane);
    header.count = static_cast<std::uint16_t>(from.count);
    header.sequence = from.sequence;
    header.received_total = header.position = from.sequence * from.count;
    header.received_bytes_total = header.received_total * kPacketBytes;
    const Batch batch = segment.batch(slot);
    for (std::uint32_t i = 0; i < from.count; ++i) {
      const std::uint32_t buffer = stream.buffer_first + used_buffers_[from.stream]++;
      segment.mark(buffer) = Mark{MarkKind::kSlot, slot}.word();
      batch.buffer[i] = buffer;
      batch.offset[i] = kBufferHeadroom;
      batch.length[i] = kPacketBytes;
      batch.verdict[i] = batch.reason[i] = 0;
      batch.output[i] = kOutputDefault;
      const std::uint64_t ordinal = (from.sequence - 1) * from.count + i;
      std::memcpy(batch.data(i) + 16, &ordinal, sizeof ordinal);
    }
    return slot;
  }
  /// Makes a batch and puts it into a link, meant for `from.state.stage`.
  std::uint32_t send(std::string_view producer, std::string_view consumer, const HandMade& from) {
    const std::uint32_t slot = make(from);
    if (!push(producer, consumer, word_of(slot, from.state.stage))) std::abort();
    return slot;
  }
  std::vector<std::uint32_t> buffers_of(std::uint32_t slot) const {
    const Batch batch = segment.batch(slot);
    return {batch.buffer.begin(), batch.buffer.end()};
  }

  const Plan plan;

 private:
  Mapping segment_memory_, status_memory_;

 public:
  const SegmentView segment;
  const StatusView status;

 private:
  std::vector<std::uint32_t> used_slots_, used_buffers_;
};

}  // namespace millrace::test
