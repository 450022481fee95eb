// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu-worker/resident/resident_device.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>

#include "gpu-worker/cuda/gpu.hpp"
#include "gpu-worker/resident/resident.hpp"
#include "services/functions/table.hpp"
#include "shared/base/error.hpp"
#include "shared/base/say.hpp"

namespace millrace {
namespace {

using resident::Arguments;
using resident::Chain;
using resident::Submission;

constexpr std::uint32_t kGone = UINT32_MAX;
constexpr std::uint32_t kPassedByMax = 64;  ///< batches that a poll looks at in vain
constexpr std::uint64_t kWatchNs = 10'000'000;
constexpr std::uint64_t kLostNs = 2'000'000'000;  ///< a batch takes microseconds
constexpr std::uint64_t kDeadNs = 500'000'000;    ///< its dispatcher beats each 64 rounds
constexpr std::uint64_t kFollowAgainNs = 1'000'000'000;
constexpr std::size_t kSpareBytes = 512;  ///< for the heartbeat, and what aligning takes

[[noreturn]] void fail(const std::string& name, const char* what) {
  say(name, std::string(what) + "; the stand-in takes over");
  std::_Exit(1);  // no destructor: each would wait for the kernel
}

template <typename T>
T* place_in(std::byte* base, std::size_t& at, std::size_t count) {
  T* const place = reinterpret_cast<T*>(base + at);
  at += (count * sizeof(T) + 127) / 128 * 128;
  return place;
}

}  // namespace

ResidentDevice::ResidentDevice(const ActorContext& context, int ordinal)
    : context_(context),
      scale_(context.status.header().tsc_hz),
      ordinal_(ordinal),
      name_(open_gpu(ordinal)),
      segment_(pin(context.segment.memory())),
      copies_(make_stream()),
      kernel_(make_stream()),
      memory_(copies_.get()),
      places_(context.segment.slot_count()),
      order_(std::bit_ceil(context.segment.slot_count()), kGone),
      order_mask_(static_cast<std::uint32_t>(order_.size()) - 1),
      chains_(context.plan->stages.size()) {
  if (context.segment.buffers().stride + kStageSlack > kStageBytes) {
    throw Error("buffers have " + std::to_string(context.segment.buffers().stride) +
                " bytes; a GPU takes at most " + std::to_string(kStageBytes - kStageSlack) +
                ": lower the mtu of the ports");
  }
  blocks_ = resident::load_kernel();
  lay_out();
  load_tables(*context_.plan);
  use_tables();
  resident::launch_kernel(arguments_, blocks_, kernel_.get());
  running_ = true;
}

ResidentDevice::~ResidentDevice() {
  if (!running_) return;
  push({.slot = 0, .count = 0, .chain = 0});
  const cudaError_t status = cudaStreamSynchronize(kernel_.get());
  if (status != cudaSuccess) fail(name_, cudaGetErrorString(status));
}

/// Rings in pinned memory, the rest on the GPU.
void ResidentDevice::lay_out() {
  const SegmentLayout& layout = context_.segment.layout();
  Arguments& to = arguments_;
  const std::uint32_t slots = layout.slot_count;
  to.submission_ring = resident::ring_size(slots + 1);
  to.ticket_ring = resident::ring_size(slots * resident::kPartsMax);
  rings_ = make_host_memory(to.submission_ring.entries() * sizeof(std::uint64_t) + kSpareBytes);
  std::size_t at = 0;
  submissions_ = place_in<std::uint64_t>(rings_.get(), at, to.submission_ring.entries());
  to.submissions = submissions_;
  to.heartbeat = place_in<std::uint64_t>(rings_.get(), at, 1);

  to.slots = reinterpret_cast<const std::byte*>(&context_.segment.slot(0));
  to.columns = layout.columns;
  to.slot_count = slots;
  to.capacity = context_.segment.capacity();
  const BufferArea buffers = context_.segment.buffers();
  to.buffers = buffers.base;
  to.buffer_stride = buffers.stride;
  to.buffer_count = context_.segment.buffer_count();
  to.results = context_.segment.gpu_results(gpu_number(*context_.plan, context_.me.actor), 0);
  to.result_words = layout.gpu_result_bytes / kResultWordBytes;

  const auto on_gpu = [&]<typename T>(T*& where, std::size_t count) {
    where = reinterpret_cast<T*>(memory_.zeros(count * sizeof(T)));
  };
  on_gpu(to.tickets, to.ticket_ring.entries());
  on_gpu(to.state, 1);
  Chain* chains = nullptr;
  on_gpu(chains, resident::kChainCount);
  to.chains = chains;
}

Chain ResidentDevice::make_chain(std::uint8_t stage, const Plan& plan, GpuMemory& tables) const {
  Chain chain;
  std::uint32_t may_be_set = 0;
  for (const std::uint32_t number : plan.stages[stage].functions) {
    const PlanFunction& function = plan.functions[number];
    const FunctionType& type = function_type(function.type);
    if (type.upload == nullptr) {
      throw Error("function " + function.name + ": " + function.type + " has no GPU version");
    }
    resident::ChainMember& member = chain.members[chain.member_count++];
    member.table =
        while_doing("function " + function.name, [&] { return type.upload(function, tables); });
    const bool known_at_entry = (function.when_class & may_be_set) == 0;
    member.when_class = known_at_entry ? function.when_class : 0;
    member.ends_packets = known_at_entry && function.unavailable != Fallback::kPass ? 1 : 0;
    may_be_set |= function.class_mask;
    chain.frame_bytes = std::max(chain.frame_bytes, member.table.frame_bytes);
  }
  return chain;
}

void ResidentDevice::load_stage(std::uint8_t stage, const Plan& plan) {
  const std::uint32_t place = chains_.vacant();
  auto tables = std::make_unique<GpuMemory>(copies_.get());
  const Chain chain = make_chain(stage, plan, *tables);
  memory_.write(reinterpret_cast<const std::byte*>(arguments_.chains + place),
                std::as_bytes(std::span(&chain, 1)));
  memory_.settle();
  const PlanPath& path = plan.paths[plan.stages[stage].path];
  const bool needs_frames =
      std::any_of(chain.members, chain.members + chain.member_count,
                  [](const resident::ChainMember& one) { return one.table.needs_frames != 0; });
  chains_.load(stage, place,
               {.edition = stage_edition(plan, stage),
                .members = chain.member_count,
                .whole_frames = chain.frame_bytes > kHeaderBytes,
                .keyed = path.has_keys && path.first_stage == stage && !needs_frames},
               std::move(tables));
}

void ResidentDevice::load_tables(const Plan& plan) {
  use_gpu(ordinal_);
  chains_.forget_loaded();
  chains_.free_unused();
  try {
    for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) {
      if (plan.stages[stage].group != plan.actors[context_.me.actor].group) continue;
      if (chains_.computes_with(stage, stage_edition(plan, stage))) continue;
      load_stage(static_cast<std::uint8_t>(stage), plan);
    }
  } catch (const Error&) {
    chains_.forget_loaded();  // those of the stages before
    throw;
  }
}

/// A fault of the GPU ends the process by watch(); what finds no room is tried again.
bool ResidentDevice::follow_tables() noexcept {
  const std::uint64_t now = tsc_now();
  if (now < next_follow_tsc_) return chains_.has_followers();
  try {
    use_gpu(ordinal_);
    note_copies(chains_.follow(grace_), now);
  } catch (const std::exception& error) {
    say(name_, std::string("a table on the GPU is behind its image: ") + error.what());
    next_follow_tsc_ = now + scale_.to_ticks(kFollowAgainNs);
  }
  return chains_.has_followers();
}

void ResidentDevice::note_copies(const DeviceCopies& more, std::uint64_t now) {
  followed_.words += more.words;
  followed_.tables += more.tables;
  if (followed_.tables == told_copies_ || now < next_told_tsc_) return;
  say(name_, "live tables copied as a whole so far: " + std::to_string(followed_.tables) +
                 "; more changed at once than is noted, or another writer began");
  told_copies_ = followed_.tables;
  next_told_tsc_ = now + scale_.to_ticks(kFollowAgainNs);
}

void ResidentDevice::push(const Submission& submission) noexcept {
  const resident::RingSize ring = arguments_.submission_ring;
  std::atomic_ref(submissions_[ring.place(submitted_)])
      .store(submission.word(ring.lap(submitted_)), std::memory_order_release);
  ++submitted_;
}

bool ResidentDevice::submit(const DeviceBatch& batch) noexcept {
  const std::uint32_t slot = batch.descriptor.slot;
  Place& place = places_[slot];
  if (place.used) return false;  // a stale one, whose results would mix with the new ones
  // So many have come back behind one that has not: it would be forgotten.
  if (order_end_ - order_begin_ == order_.size()) return false;
  const auto count =
      std::clamp<std::uint32_t>(context_.segment.slot(slot).count, 1, arguments_.capacity);
  const std::uint32_t chain = chains_.place_of(batch.descriptor.stage);
  const ChainFacts& facts = chains_.facts(chain);
  packets_under_way_ += count;
  const std::uint32_t part_bits =
      facts.whole_frames ? resident::frame_part_bits(count, packets_under_way_, blocks_)
                         : resident::kPartBitsMax;
  place = {.batch = batch, .chain = chain, .packets = count, .used = true};
  expect_results(place);
  chains_.enter(chain);
  order_[order_end_++ & order_mask_] = slot;
  grace_.note_submitted(order_end_);
  if (waiting_++ == 0) oldest_since_tsc_ = heartbeat_since_tsc_ = tsc_now();
  push(
      {.slot = slot, .count = count, .chain = chain, .part_bits = part_bits, .keyed = facts.keyed});
  context_.counter(Counter::kPackets) += count;
  return true;
}

/// The words of one member's results of a batch.
std::span<std::uint32_t> ResidentDevice::results(const Place& place,
                                                 std::uint32_t member) const noexcept {
  return {arguments_.results + std::size_t{place.batch.descriptor.slot} * arguments_.result_words +
              std::size_t{member} * arguments_.capacity,
          place.packets};
}

void ResidentDevice::expect_results(const Place& place) noexcept {
  for (std::uint32_t member = 0; member < chains_.facts(place.chain).members; ++member) {
    std::ranges::fill(results(place, member), kWordPending);
  }
}

/// True when all words of the batch have come. What came before is not looked at again.
bool ResidentDevice::is_done(Place& place) noexcept {
  const std::uint32_t members = chains_.facts(place.chain).members;
  for (; place.member < members; ++place.member, place.word = 0) {
    const std::span<std::uint32_t> words = results(place, place.member);
    const auto rest = words.subspan(place.word);
    const auto pending = std::ranges::find_if(rest, [](std::uint32_t& word) {
      return std::atomic_ref(word).load(std::memory_order_relaxed) == kWordPending;
    });
    if (pending == rest.end()) continue;
    place.word = static_cast<std::uint32_t>(&*pending - words.data());
    return false;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

void ResidentDevice::note_completion(Place& place) noexcept {
  chains_.leave(place.chain);
  --waiting_;
  packets_under_way_ -= place.packets;
  place.used = false;
}

/// Looks at the oldest batches: they come back nearly in the order in which they went.
std::uint32_t ResidentDevice::poll(std::span<DeviceBatch> out) noexcept {
  std::uint32_t count = 0, passed_by = 0;
  for (std::uint32_t at = order_begin_; at != order_end_ && count < out.size(); ++at) {
    std::uint32_t& slot = order_[at & order_mask_];
    if (slot == kGone) continue;
    if (!is_done(places_[slot])) {
      if (++passed_by == kPassedByMax) break;
      continue;
    }
    if (passed_by != 0) ++context_.counter(Counter::kCompletionsReordered);
    out[count++] = places_[slot].batch;
    note_completion(places_[slot]);
    slot = kGone;
  }
  while (order_begin_ != order_end_ && order_[order_begin_ & order_mask_] == kGone) ++order_begin_;
  grace_.note_returned(order_begin_);
  if (waiting_ != 0) watch();
  return count;
}

/// While something is under way: is the kernel alive, does it move, does every batch come back?
void ResidentDevice::watch() noexcept {
  const std::uint64_t now = tsc_now();
  if (now < next_watch_tsc_) return;
  next_watch_tsc_ = now + scale_.to_ticks(kWatchNs);
  const cudaError_t status = cudaStreamQuery(kernel_.get());
  if (status == cudaSuccess) fail(name_, "the kernel ended by itself");
  if (status != cudaErrorNotReady) fail(name_, cudaGetErrorString(status));
  const std::uint64_t beat = std::atomic_ref(*arguments_.heartbeat).load(std::memory_order_relaxed);
  if (std::exchange(heartbeat_, beat) != beat) heartbeat_since_tsc_ = now;
  if (std::exchange(oldest_, order_begin_) != order_begin_) oldest_since_tsc_ = now;
  if (now - heartbeat_since_tsc_ > scale_.to_ticks(kDeadNs)) fail(name_, "the kernel hangs");
  if (now - oldest_since_tsc_ > scale_.to_ticks(kLostNs)) {
    fail(name_, "a batch did not come back, though the kernel takes new ones");
  }
}

}  // namespace millrace
