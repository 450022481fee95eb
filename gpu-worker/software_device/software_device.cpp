// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "gpu-worker/software_device/software_device.hpp"

#include <algorithm>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kEchoDelayNs = 1'000'000;

std::uint64_t number_of(const std::string& key, const std::string& text, std::uint64_t most) {
  std::size_t used = 0;
  std::uint64_t value = 0;
  try {
    value = std::stoull(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || value > most) {
    throw Error("software device: " + key + ": found " + text + "; allowed: 0.." +
                std::to_string(most));
  }
  return value;
}

}  // namespace

SoftwareDeviceSettings software_device_settings(const Settings& settings) {
  SoftwareDeviceSettings result;
  for (const auto& [key, value] : settings) {
    if (key == "seed") result.seed = number_of(key, value, UINT64_MAX);
    if (key == "delay_us") {
      result.delay_us = static_cast<std::uint32_t>(number_of(key, value, 1'000'000));
    }
    if (key == "reorder") result.reorder = value == "true";
    if (key == "late")
      result.late_permille = static_cast<std::uint32_t>(number_of(key, value, 1000));
  }
  return result;
}

SoftwareDevice::SoftwareDevice(const ActorContext& context, StageWork& work,
                               const SoftwareDeviceSettings& settings)
    : context_(context),
      work_(work),
      settings_(settings),
      scale_(context.status.header().tsc_hz),
      random_(settings.seed),
      places_(context.segment.slot_count()),
      buffer_(kBatchCapacityMax),
      length_(kBatchCapacityMax),
      offset_(kBatchCapacityMax),
      gpu_number_(gpu_number(*context.plan, context.me.actor)) {
  order_.reserve(places_.size());
}

bool SoftwareDevice::submit(const DeviceBatch& batch) noexcept {
  const std::uint32_t slot = batch.descriptor.slot;
  Place& place = places_[slot];
  if (place.used) {
    order_.erase(std::find(order_.begin(), order_.end(), slot));
    --waiting_;
  }
  const std::uint64_t now = tsc_now();
  std::uint64_t due = now + scale_.to_ticks(random_() % (settings_.delay_us * 1000ull + 1));
  if (!settings_.reorder) due = last_due_ = std::max(due, last_due_);
  place = {batch, due, submitted_++, true, false};
  order_.push_back(slot);
  ++waiting_;
  return true;
}

SoftwareDevice::Place* SoftwareDevice::next_due(std::uint64_t now) noexcept {
  Place* first = nullptr;
  for (const std::uint32_t slot : order_) {
    Place& place = places_[slot];
    if (place.due_tsc > now) continue;
    if (first == nullptr || place.due_tsc < first->due_tsc) first = &place;
  }
  return first;
}

std::uint32_t SoftwareDevice::poll(std::span<DeviceBatch> out) noexcept {
  std::uint32_t count = 0;
  while (count < out.size() && waiting_ != 0) {
    const std::uint64_t now = tsc_now();
    Place* place = next_due(now);
    if (place == nullptr) break;
    if (!place->echo) {
      compute(place->batch);
      if (place->number != order_number_of_oldest())
        ++context_.counter(Counter::kCompletionsReordered);
    }
    out[count++] = place->batch;
    if (!place->echo && random_() % 1000 < settings_.late_permille) {
      place->echo = true;
      place->due_tsc = now + scale_.to_ticks(kEchoDelayNs);
      continue;
    }
    place->used = false;
    order_.erase(std::find(order_.begin(), order_.end(), place->batch.descriptor.slot));
    --waiting_;
  }
  return count;
}

std::uint64_t SoftwareDevice::order_number_of_oldest() const noexcept {
  for (const std::uint32_t slot : order_) {
    if (!places_[slot].echo) return places_[slot].number;
  }
  return submitted_;
}

void SoftwareDevice::compute(const DeviceBatch& device_batch) noexcept {
  const std::uint32_t slot = device_batch.descriptor.slot;
  const SlotHeader& header = context_.segment.slot(slot);
  const std::uint32_t count = std::min<std::uint32_t>(header.count, context_.segment.capacity());
  Batch batch = context_.segment.batch(slot, count);
  batch.edition = device_batch.edition;
  // Recovery may have moved the slot on: values read from it are bounded before they are used.
  const std::uint32_t stride = batch.buffers.stride;
  for (std::uint32_t i = 0; i < count; ++i) {
    buffer_[i] = std::min(batch.buffer[i], context_.segment.buffer_count() - 1);
    offset_[i] = static_cast<std::uint16_t>(std::min<std::uint32_t>(batch.offset[i], stride));
    length_[i] =
        static_cast<std::uint16_t>(std::min<std::uint32_t>(batch.length[i], stride - offset_[i]));
  }
  batch.buffer = {buffer_.data(), count};
  batch.length = {length_.data(), count};
  batch.offset = {offset_.data(), count};
  std::uint32_t* results = context_.segment.gpu_results(gpu_number_, slot);
  for (std::uint32_t first = 0; first < count; first += kTicketPackets) {
    compute_ticket(batch, device_batch.descriptor.stage, first, results);
  }
  context_.counter(Counter::kPackets) += count;
}

void SoftwareDevice::compute_ticket(const Batch& batch, std::uint8_t stage, std::uint32_t first,
                                    std::uint32_t* results) noexcept {
  const std::uint32_t count = std::min(kTicketPackets, batch.count - first);
  Batch part = batch;
  part.count = count;
  part.buffer = batch.buffer.subspan(first, count);
  part.length = batch.length.subspan(first, count);
  part.offset = batch.offset.subspan(first, count);
  part.verdict = batch.verdict.subspan(first, count);
  part.reason = batch.reason.subspan(first, count);
  part.output = batch.output.subspan(first, count);
  part.wire_lengths = batch.wire_lengths.subspan(first, count);
  part.classes = batch.classes.subspan(first, count);
  work_.compute(stage, part, results + first);
}

}  // namespace millrace
