// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/hub/dpdk_ports.hpp"

#include <algorithm>
#include <utility>

#include "services/hub/dpdk_device.hpp"
#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/say.hpp"
#include "shared/driver/pause.hpp"
#include "shared/driver/port_args.hpp"

namespace millrace {
namespace {

/// Long enough for every process at the other end to see the link go: one that does not goes on
/// with the old rings.
constexpr std::uint64_t kMemifDownNs = 300'000'000;

}  // namespace

DpdkPorts::DpdkPorts(const ActorContext& context) : context_(context), mbufs_(context.segment) {
  const Plan& plan = *context.plan;
  register_buffer_handler(context, *this);
  empty_.resize(plan.streams.size());
  for (std::uint32_t stream = 0; stream < plan.streams.size(); ++stream) {
    pools_.push_back(make_pool(context, stream));
    empty_[stream].reserve(plan.streams[stream].buffer_count);
  }
  send_headers_ = send_headers(plan);
  for (std::uint32_t queue = 0; queue < send_headers_.size(); ++queue) {
    send_pools_.push_back(make_send_pool(context, queue));
  }
  sent_.reserve(plan.buffer_count);
  restarts_.resize(plan.actors.size(), Restart::kNone);
  for (const PlanActor& actor : plan.actors) {
    egress_count_ += actor.kind == ActorKind::kEgress ? 1 : 0;
  }
  for (std::uint32_t i = 0; i < plan.ports.size(); ++i) {
    if (is_dpdk(plan.ports[i])) ports_.push_back({.plan = i});
  }
  for (Port& port : ports_) {
    const PlanPort& about = plan.ports[port.plan];
    while_doing("port '" + about.name + "' (dpdk)", [&] { open(port); });
  }
}

DpdkPorts::~DpdkPorts() {
  for (const Port& port : ports_) {
    if (port.made) close_device(port.number);
  }
}

void DpdkPorts::open(Port& port) {
  const Plan& plan = *context_.plan;
  const PlanPort& about = plan.ports[port.plan];
  const PortArgs args = port_args(about);
  port.number = find_device(args);
  for (const Port& other : ports_) {
    if (!other.made || other.number != port.number) continue;
    throw Error("device '" + args.name + "' is port '" + plan.ports[other.plan].name +
                "' already: each port needs a device of its own");
  }
  port.made = true;
  std::uint32_t receive = 0;
  for (const PlanStream& stream : plan.streams) receive += stream.port == port.plan ? 1 : 0;
  configure_device(port.number, about, args, receive, egress_count_);
  run(port);
}

void DpdkPorts::run(Port& port) {
  const Plan& plan = *context_.plan;
  const PortArgs args = port_args(plan.ports[port.plan]);
  for (std::uint32_t i = 0; i < plan.streams.size(); ++i) {
    const PlanStream& stream = plan.streams[i];
    if (stream.port != port.plan) continue;
    refill_from(i);
    set_up_receive(port.number, stream.queue, args.rx_descriptors, pools_[i].get());
  }
  for (std::uint32_t queue = 0; queue < egress_count_; ++queue) {
    set_up_transmit(port.number, queue, args.tx_descriptors);
  }
  start_device(port.number, args);
  flush_sent_headers();  // of queues that were set up anew
  // What the ring did not want of a dead ingress's is where it was.
  for (std::uint32_t i = 0; i < plan.streams.size(); ++i) {
    if (plan.streams[i].port == port.plan && !lives(plan.streams[i].ingress)) empty_[i].clear();
  }
  port.runs = true;
  port.refuses = false;
}

bool DpdkPorts::lives(std::uint32_t actor) const {
  const ActorState state = context_.state_of(actor);
  return state == ActorState::kAlive || state == ActorState::kDraining ||
         state == ActorState::kQuarantined;
}

bool DpdkPorts::uses(std::uint32_t actor, const Port& port) const {
  const std::vector<std::uint32_t> users = users_of(*context_.plan, port.plan);
  return std::find(users.begin(), users.end(), actor) != users.end();
}

bool DpdkPorts::stop(std::uint32_t actor) {
  if (restarts_[actor] != Restart::kNone) return true;
  restarts_[actor] = Restart::kStopped;
  for (Port& port : ports_) {
    if (!port.runs || !uses(actor, port)) continue;
    stop_device(port.number);
    flush_sent_headers();
    port.runs = false;
    port.stopped_at_ns = monotonic_ns();
  }
  reset_headers(actor);
  return true;
}

/// What a stopped driver has freed lies in this process's caches.
void DpdkPorts::flush_sent_headers() noexcept {
  for (const DriverPool& pool : send_pools_) flush_sent(*pool);
}

/// What its driver had in hand when it was killed: half-written headers, chains.
void DpdkPorts::reset_headers(std::uint32_t actor) {
  const PlanActor& dead = context_.plan->actors[actor];
  if (dead.kind == ActorKind::kEgress) {
    for (std::size_t number = 0; number < send_headers_.size(); ++number) {
      const SendHeaders& queue = send_headers_[number];
      if (queue.egress != dead.index) continue;
      forget_caches(*send_pools_[number]);
      for (std::uint32_t i = 0; i < queue.count; ++i) Mbufs::reset(mbufs_.sending(queue.first + i));
    }
    return;
  }
  const std::uint32_t held = Mark{MarkKind::kRx, dead.index}.word();
  for (std::uint32_t buffer = 0; buffer < context_.segment.buffer_count(); ++buffer) {
    if (context_.segment.mark(buffer) == held) Mbufs::reset(mbufs_.at(buffer));
  }
}

bool DpdkPorts::start(std::uint32_t actor, std::vector<std::uint32_t>& rest) {
  if (restarts_[actor] == Restart::kStopped) restarts_[actor] = Restart::kFreed;
  bool all = true;
  for (Port& port : ports_) {
    if (!port.runs && uses(actor, port)) all &= restart(port);
  }
  if (!all) return false;
  return_rest(rest);
  restarts_[actor] = Restart::kNone;
  return true;
}

/// Of several users that died together each has to be freed first: what a ring is filled with looks
/// like what was in it.
bool DpdkPorts::restart(Port& port) {
  for (const std::uint32_t user : users_of(*context_.plan, port.plan)) {
    if (restarts_[user] == Restart::kStopped) return false;
  }
  const bool memif = port_args(context_.plan->ports[port.plan]).name.starts_with("net_memif");
  if (memif && monotonic_ns() - port.stopped_at_ns < kMemifDownNs) return false;
  try {
    run(port);
    return true;
  } catch (const Error& error) {
    if (std::exchange(port.refuses, true)) return false;
    say("hub", "port '" + context_.plan->ports[port.plan].name +
                   "' does not start again: " + error.what());
    return false;
  }
}

/// Empty buffers for the ring of a stream whose ingress does not live: its own. A living one's ring
/// gets back what was in it.
void DpdkPorts::refill_from(std::uint32_t stream) {
  const PlanStream& plan = context_.plan->streams[stream];
  if (lives(plan.ingress)) return;
  // A take cut short has marked what its ring still holds.
  std::vector<std::uint32_t> in_rings;
  for (std::uint32_t r = 0; r < kReturnerCount; ++r) {
    context_.segment.buffer_return(stream, static_cast<Returner>(r)).snapshot(in_rings);
  }
  std::vector<bool> returned(plan.buffer_count, false);
  for (const std::uint32_t buffer : in_rings) {
    if (buffer - plan.buffer_first < plan.buffer_count) returned[buffer - plan.buffer_first] = true;
  }
  const std::uint32_t hand = Mark{MarkKind::kHand, plan.ingress}.word();
  empty_[stream].clear();
  for (std::uint32_t i = plan.buffer_count; i-- > 0;) {
    const std::uint32_t buffer = plan.buffer_first + i;
    if (!returned[i] && context_.segment.mark(buffer) == hand) empty_[stream].push_back(buffer);
  }
}

bool DpdkPorts::take(std::uint32_t stream, std::span<std::uint32_t> out) noexcept {
  MILLRACE_CHECK(stream < empty_.size());
  std::vector<std::uint32_t>& empty = empty_[stream];
  if (empty.size() < out.size()) return false;
  for (std::uint32_t& buffer : out) {
    buffer = empty.back();
    empty.pop_back();
    MILLRACE_CHECK(buffer < context_.segment.buffer_count());
    context_.segment.mark(buffer) = Mark{MarkKind::kRx, stream}.word();
    Mbufs::reset(mbufs_.at(buffer));
  }
  return true;
}

/// A driver empties the rings of a queue that is being stopped. What belonged to the dead is found
/// by its marks, whatever a killed process has left in the ring.
void DpdkPorts::put(std::uint32_t stream, std::span<const std::uint32_t> buffers) noexcept {
  const Plan& plan = *context_.plan;
  for (const std::uint32_t buffer : buffers) {
    const Mark mark = Mark::from_word(context_.segment.mark(buffer));
    const bool received = mark.kind == MarkKind::kRx && mark.number == stream;
    if (received && lives(plan.streams[stream].ingress)) empty_[stream].push_back(buffer);
  }
}

void DpdkPorts::put_sent(std::uint32_t queue, std::span<rte_mbuf* const> headers) noexcept {
  MILLRACE_CHECK(queue < send_headers_.size());
  const std::uint32_t egress = send_headers_[queue].egress;
  const auto first = static_cast<std::uint32_t>(context_.plan->actors.size()) - egress_count_;
  if (!lives(first + egress)) return;
  for (const rte_mbuf* header : headers) {
    const std::uint32_t buffer = Mbufs::sent_buffer(header);
    MILLRACE_CHECK(buffer < context_.segment.buffer_count());
    if (context_.segment.mark(buffer) == Mark{MarkKind::kTx, egress}.word()) {
      sent_.push_back(buffer);
    }
  }
}

/// What the rings of the living held and do not hold any more.
void DpdkPorts::return_rest(std::vector<std::uint32_t>& rest) {
  rest.insert(rest.end(), sent_.begin(), sent_.end());
  sent_.clear();
  for (std::uint32_t stream = 0; stream < empty_.size(); ++stream) {
    std::vector<std::uint32_t>& empty = empty_[stream];
    if (lives(context_.plan->streams[stream].ingress)) {
      rest.insert(rest.end(), empty.begin(), empty.end());
    }
    empty.clear();
  }
}

void DpdkPorts::watch_links(const std::function<void(const std::string&, bool)>& tell) {
  for (Port& port : ports_) {
    if (!port.runs) continue;
    const DeviceLink link = link_of(port.number);
    const bool up = link.up;
    PortTally& tally = context_.status.port(port.plan);
    tally.up.store(up ? 1 : 0, std::memory_order_relaxed);
    tally.bytes_per_second.store(link.bytes_per_second, std::memory_order_relaxed);
    tally.known.store(1, std::memory_order_release);
    port.looks_down = up ? 0 : port.looks_down + 1;
    if (port.looks_down > 1 && calls_its_peer(port_args(context_.plan->ports[port.plan]))) {
      call_again(port.number);
      flush_sent_headers();
    }
    if (up == port.link_up) continue;
    port.link_up = up;
    tell(context_.plan->ports[port.plan].name, up);
  }
}

}  // namespace millrace
