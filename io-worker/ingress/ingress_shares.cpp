// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/ingress_shares.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "shared/base/clock.hpp"
#include "shared/base/say.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kRetryNs = 1'000'000'000;

}  // namespace

ShareSet IngressShares::read_by(const ActorContext& context, std::uint32_t stream) {
  const PlanStream& mine = context.plan->streams[stream];
  const auto actors = ingresses_of_port(*context.plan, mine.port);
  ShareSet set = 0;
  for (std::size_t i = 0; i < actors.size(); ++i) {
    const std::uint32_t reader =
        context.entry(actors[i]).share_reader.load(std::memory_order_acquire);
    if (reader == mine.ingress) set |= ShareSet{1} << i;
  }
  return set;
}

IngressShares::IngressShares(const ActorContext& context, std::uint32_t stream, RxShares* shares)
    : context_(context), stream_(stream), shares_(shares) {
  if (shares_ == nullptr) return;
  last_.reserve(kLaneCountMax);
  ingress_ = ingresses_of_port(*context_.plan, context_.plan->streams[stream_].port);
}

void IngressShares::tell_joined() const noexcept {
  if (shares_ == nullptr) return;
  for (std::size_t i = 0; i < ingress_.size(); ++i) {
    if ((shares_->read_here() >> i & 1) == 0) continue;
    context_.entry(ingress_[i]).share_joined.store(1, std::memory_order_release);
  }
}

bool IngressShares::all_joined() const noexcept {
  return std::ranges::all_of(ingress_, [&](std::uint32_t actor) {
    return context_.entry(actor).share_joined.load(std::memory_order_acquire) != 0;
  });
}

void IngressShares::look() noexcept {
  if (shares_ == nullptr) return;
  if (!admitted_ && all_joined()) {
    shares_->admit();
    admitted_ = true;
  }
  const ShareSet here = shares_->read_here();
  const bool may_ask = monotonic_ns() >= retry_ns_;
  ShareSet leaving = 0;
  for (std::size_t i = 0; i < ingress_.size(); ++i) {
    const ActorEntry& entry = context_.entry(ingress_[i]);
    if (entry.share_reader.load(std::memory_order_acquire) != context_.me.actor) continue;
    const std::uint32_t wanted = entry.share_wanted.load(std::memory_order_acquire);
    const bool goes = wanted != 0 && wanted != context_.me.actor;
    if ((here >> i & 1) != 0) {
      leaving |= ShareSet{goes} << i;
    } else if (may_ask) {
      join(static_cast<std::uint32_t>(i));
    }
  }
  if (leaving != leaving_) {
    if (!shares_->hold(leaving)) return;
    leaving_ = leaving;
    sealed_ = false;
    last_.clear();
    held_ns_ = monotonic_ns();
  } else if (leaving_ != 0 && sealed_ && may_ask && have_left()) {
    hand_over();
  }
}

void IngressShares::note_sealed(std::uint16_t lane, std::uint64_t sequence) noexcept {
  MILLRACE_CHECK(wait_for_seal() && last_.size() < kLaneCountMax);
  last_.push_back({lane, sequence});
}

bool IngressShares::have_left() const noexcept {
  return std::ranges::all_of(last_, [&](const Last& last) {
    return context_.status.ledger(stream_, last.lane).released.load(std::memory_order_acquire) >=
           last.sequence;
  });
}

void IngressShares::hand_over() noexcept {
  for (std::size_t i = 0; i < ingress_.size(); ++i) {
    if ((leaving_ >> i & 1) == 0) continue;
    if (!shares_->leave(static_cast<std::uint32_t>(i))) {
      retry_ns_ = monotonic_ns() + kRetryNs;
      return;
    }
    ActorEntry& entry = context_.entry(ingress_[i]);
    const std::uint32_t next = entry.share_wanted.load(std::memory_order_acquire);
    entry.share_reader.store(next, std::memory_order_release);
    leaving_ &= ~(ShareSet{1} << i);
    tell(i, next);
  }
}

/// Its packets have waited since it was held, and go on waiting until the next one looks.
void IngressShares::tell(std::size_t share, std::uint32_t next) const noexcept {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "share %zu goes to %s, held for %.1f ms", share,
                context_.plan->actors[next].name.c_str(),
                static_cast<double>(monotonic_ns() - held_ns_) / 1e6);
  say(context_.plan->actors[context_.me.actor].name, text.data());
}

void IngressShares::join(std::uint32_t share) noexcept {
  if (shares_->join(share)) {
    admitted_ = false;  // its reader may have given it away before all were there
  } else {
    retry_ns_ = monotonic_ns() + kRetryNs;
  }
}

}  // namespace millrace
