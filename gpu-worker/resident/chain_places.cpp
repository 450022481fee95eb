// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu-worker/resident/chain_places.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "shared/base/error.hpp"

namespace millrace {

ChainPlaces::ChainPlaces(std::size_t stage_count)
    : places_(resident::kChainCount), now_(stage_count, kNone), loaded_(stage_count, kNone) {}

bool ChainPlaces::computes_with(std::size_t stage, std::uint32_t edition) const noexcept {
  return now_[stage] != kNone && places_[now_[stage]].facts.edition == edition;
}

std::uint32_t ChainPlaces::vacant() const {
  for (std::uint32_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].used.load(std::memory_order_acquire)) return i;
  }
  throw Error("all " + std::to_string(places_.size()) + " versions of tables are in use");
}

void ChainPlaces::load(std::size_t stage, std::uint32_t place, const ChainFacts& facts,
                       std::unique_ptr<DeviceMemory> tables) noexcept {
  Place& to = places_[place];
  to.facts = facts;
  to.tables = std::move(tables);
  to.used.store(true, std::memory_order_relaxed);
  loaded_[stage] = place;
}

void ChainPlaces::forget_loaded() noexcept {
  for (std::uint32_t& loaded : loaded_) {
    const std::uint32_t place = std::exchange(loaded, kNone);
    if (place != kNone) places_[place].used.store(false, std::memory_order_relaxed);
  }
}

void ChainPlaces::free_unused() noexcept {
  for (Place& place : places_) {
    if (place.tables && !place.used.load(std::memory_order_acquire)) place.tables.reset();
  }
}

DeviceCopies ChainPlaces::follow(ReaderGrace& grace) {
  return follow_each(places_, [&](const Place& place) {
    return place.tables ? place.tables->follow(grace) : DeviceCopies{};
  });
}

bool ChainPlaces::has_followers() const noexcept {
  return std::ranges::any_of(places_, [](const Place& place) {
    return place.tables != nullptr && place.tables->has_followers();
  });
}

void ChainPlaces::take_loaded() noexcept {
  for (std::size_t stage = 0; stage < now_.size(); ++stage) {
    const std::uint32_t next = std::exchange(loaded_[stage], kNone);
    if (next == kNone) continue;
    places_[next].current = true;
    const std::uint32_t before = std::exchange(now_[stage], next);
    if (before == kNone) continue;
    places_[before].current = false;
    give_up(places_[before]);
  }
}

void ChainPlaces::leave(std::uint32_t place) noexcept {
  --places_[place].in_flight;
  give_up(places_[place]);
}

/// Lets the control thread free the place, once no batch needs it.
void ChainPlaces::give_up(Place& place) noexcept {
  if (place.in_flight == 0 && !place.current) place.used.store(false, std::memory_order_release);
}

}  // namespace millrace
