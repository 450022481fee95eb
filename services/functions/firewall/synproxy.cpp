// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/synproxy.hpp"

#include <algorithm>

#include "services/functions/firewall/proxied_error.hpp"
#include "services/functions/firewall/syn_cookie.hpp"
#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/lane_share.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/random_secret.hpp"
#include "shared/packet/tcp_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using tcp_wire::kAck, tcp_wire::kReset, tcp_wire::kSyn;
using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;
using Fate = Synproxy::Fate;

/// Flags that say what a segment is for.
constexpr std::uint8_t kKindFlags = tcp_wire::kFin | kSyn | kReset | kAck;
constexpr std::uint16_t kWindowMax = UINT16_MAX;

std::uint32_t shift_of(std::uint8_t scale) noexcept { return scale == 0 ? 0 : scale - 1u; }

std::uint16_t window_of(std::uint32_t bytes) noexcept {
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(bytes, kWindowMax));
}

/// What the client announces, where the header of its receiver has no scale.
std::uint16_t unscaled(const ProxiedFlow& flow, std::uint16_t window) noexcept {
  return window_of(std::uint32_t{window} << shift_of(flow.client_scale));
}

/// A window of the server as the client reads it. `scale`: the server's, of that segment.
std::uint16_t told_window(const ProxiedFlow& flow, std::uint16_t window,
                          std::uint8_t scale) noexcept {
  return window_of((std::uint32_t{window} << shift_of(scale)) >> shift_of(flow.told_scale));
}

/// False: the buffer has no room, and nothing is changed.
bool replace(const FinishContext& call, std::uint16_t packet, const ProxyFrame& by) noexcept {
  const Batch& batch = call.batch;
  const auto size = static_cast<std::int32_t>(by.size);
  if (!batch.grow_back(packet, size - std::int32_t{batch.length[packet]})) return false;
  std::ranges::copy(by.bytes(), batch.bytes(packet).begin());
  return true;
}

/// Of the SYN to the server; `value`: the client's timestamp.
ProxySegment syn_of(const ProxiedFlow& flow, std::uint32_t value) noexcept {
  return {.sequence = flow.client,
          .window = unscaled(flow, flow.window),
          .flags = kSyn,
          .options = {.mss = flow.mss,
                      .scale = flow.client_scale,
                      .may_sack = flow.may_sack != 0,
                      .has_timestamp = flow.has_timestamp != 0,
                      .value = value}};
}

/// What `flow` is to know of it.
TcpSegment tracked_syn(const ProxiedFlow& flow) noexcept {
  TcpSegment syn;
  syn.sequence = flow.client;
  syn.end = flow.client + 1;
  syn.window = unscaled(flow, flow.window);
  syn.kind = TcpKind::kSyn;
  syn.may_sack = flow.may_sack != 0;
  syn.scale = flow.client_scale;
  return syn;
}

/// The ACK that the server has had for its SYN+ACK, as the client counts.
TcpSegment tracked_ack(const ProxiedFlow& flow) noexcept {
  TcpSegment ack;
  ack.sequence = ack.end = flow.client + 1;
  ack.acknowledgment = ack.sack = flow.cookie + 1;
  ack.window = flow.window;
  ack.kind = TcpKind::kAck;
  ack.acknowledges = true;
  return ack;
}

void add_to(std::span<std::byte> segment, std::size_t at, std::uint32_t more) noexcept {
  change_segment_u32(segment, at, u32(segment, at) + more);
}

/// From the server, open.
void translate_answer(const ProxiedFlow& flow, std::span<std::byte> segment,
                      const TcpOptions& options) noexcept {
  add_to(segment, tcp_wire::kSequenceAt, flow.shift);
  if (options.has_timestamp) add_to(segment, options.timestamp_at, flow.timestamp);
  const std::uint16_t window = u16(segment, tcp_wire::kWindowAt);
  const std::uint16_t told = told_window(flow, window, flow.server_scale);
  if (told != window) change_segment_window(segment, told);
}

/// From the client, open.
void translate_question(const ProxiedFlow& flow, std::span<std::byte> segment,
                        const TcpOptions& options) noexcept {
  if ((u8(segment, tcp_wire::kFlagsAt) & kAck) != 0) {
    add_to(segment, tcp_wire::kAcknowledgmentAt, 0 - flow.shift);
    if (options.has_timestamp) add_to(segment, options.timestamp_at + 4, 0 - flow.timestamp);
  }
  for (std::size_t i = 0; i < options.sack_edges; ++i) {
    add_to(segment, options.sack_at + 4 * i, 0 - flow.shift);
  }
  if (flow.client_scale != 0 && flow.server_scale == 0) {
    change_segment_window(segment, unscaled(flow, u16(segment, tcp_wire::kWindowAt)));
  }
}

const ProxiedFlow* flow_of(const FinishContext& call, const PacketFlow& flow) noexcept {
  const auto flows = ProxiedFlows::laid_out(call.state);
  return flows ? flows->find(call.flows->tuple(flow.flow, 0)) : nullptr;
}

}  // namespace

struct Synproxy::Segment {
  const FinishContext& call;
  std::uint16_t packet;
  std::span<std::byte> frame;
  PacketHeaders headers;
  ProxySegment tcp;
  FlowTuple tuple;
};

Synproxy::Synproxy(std::uint32_t flows, std::size_t first_hit)
    : flows_(flows), first_hit_(first_hit), secret_(random_secret()) {}

LaneNeeds Synproxy::needs_of(std::uint32_t flows, const LaneRequest& request) {
  // A packet: a connection begins or is opened, and as many end as `flow` may end.
  constexpr std::uint32_t kOfPacket = 6 * ProxiedFlows::kLinesOfCall;
  return {.state_bytes = ProxiedFlows::bytes_for(share_of_lane(flows, request.lanes)),
          .undo_lines = request.batch_capacity * kOfPacket + 1};
}

std::optional<ProxiedFlows> Synproxy::flows_of(const FinishContext& call) const noexcept {
  return ProxiedFlows::of_lane(call.state, share_of_lane(flows_, call.facts.lane_count), secret_);
}

Fate Synproxy::meet(const FinishContext& call, std::uint16_t packet, const PacketFlow& flow,
                    const AclRule& rule) noexcept {
  if (call.flows == nullptr) return Fate::kDropped;
  // Of a connection that is there; as the others of it, the rule lets it pass.
  if (flow.flow != kNoFlow && !call.flows->is_new(flow.flow)) return Fate::kGoesOn;
  const std::span<std::byte> frame = call.batch.bytes(packet);
  const PacketHeaders headers = parse_headers(frame);
  const auto tcp = read_proxy_segment(frame, headers);
  const auto tuple = tcp ? flow_tuple_of(frame, headers) : std::nullopt;
  const auto flows = flows_of(call);
  if (tuple && flows && may_answer_segment(frame, headers)) {
    const Segment segment{call, packet, frame, headers, *tcp, *tuple};
    const std::uint8_t flags = tcp->flags & kKindFlags;
    if (flags == kSyn) return answer(segment, *flows, rule);
    if (flags == kAck) return begin(segment, *flows, rule);
  }
  hit(call, SynproxyCounter::kInvalid);
  return Fate::kDropped;
}

Fate Synproxy::answer(const Segment& syn, const ProxiedFlows& flows, const AclRule& rule) noexcept {
  constexpr std::uint16_t kMssOfIpv4 = 1460, kMssOfIpv6 = 1440;
  const FinishContext& call = syn.call;
  const std::uint8_t port = call.facts.port_in;
  if (port == kOutputDefault || call.batch.output[syn.packet] != kOutputDefault) {
    return Fate::kDropped;
  }
  const TcpOptions& asked = syn.tcp.options;
  const SynCookies cookies(flows.cookie_secret());
  ProxySegment out{.acknowledgment = syn.tcp.sequence + 1, .flags = kSyn | kAck};
  out.sequence = cookies.number(syn.tuple, syn.tcp.sequence, asked.mss, call.facts.now_ns);
  out.options.mss = syn.tuple.version == 4 ? kMssOfIpv4 : kMssOfIpv6;
  if (rule.proxy_mss != 0) out.options.mss = rule.proxy_mss;
  if ((rule.proxy & kRuleProxyTimestamp) != 0 && asked.has_timestamp) {
    const bool scales = (rule.proxy & kRuleProxyScale) != 0 && asked.scale != 0;
    const TcpOptions kept{.scale = scales ? asked.scale : std::uint8_t{0},
                          .may_sack = (rule.proxy & kRuleProxySack) != 0 && asked.may_sack};
    out.options.has_timestamp = true;
    out.options.value = syn_cookie_timestamp(kept, call.facts.now_ns);
    out.options.echo = asked.value;
    out.options.may_sack = kept.may_sack;
    if (scales) {
      out.options.scale = static_cast<std::uint8_t>((rule.proxy & kRuleProxyShiftBits) + 1);
    }
  }
  if (!replace(call, syn.packet, make_proxy_frame(syn.frame, syn.headers, ProxyWay::kBack, out))) {
    return Fate::kDropped;
  }
  call.batch.finish(syn.packet, port, Reason::kReply);
  call.flows->take_out(syn.packet);
  hit(call, SynproxyCounter::kAnswered);
  return Fate::kAnswered;
}

Fate Synproxy::begin(const Segment& ack, const ProxiedFlows& flows, const AclRule& rule) noexcept {
  const FinishContext& call = ack.call;
  ProxiedFlow flow{.tuple = ack.tuple,
                   .cookie = ack.tcp.acknowledgment - 1,
                   .client = ack.tcp.sequence - 1,
                   .window = ack.tcp.window};
  const auto mss = SynCookies(flows.cookie_secret())
                       .mss_of(flow.tuple, flow.client, flow.cookie, call.facts.now_ns);
  if (!mss) {
    hit(call, SynproxyCounter::kInvalid);
    return Fate::kDropped;
  }
  flow.mss = *mss;
  const TcpOptions& options = ack.tcp.options;
  if ((rule.proxy & kRuleProxyTimestamp) != 0 && options.has_timestamp) {
    TcpOptions kept;
    read_syn_cookie_timestamp(options.echo, kept);
    flow.has_timestamp = 1;
    flow.timestamp = options.echo;
    flow.may_sack = (rule.proxy & kRuleProxySack) != 0 && kept.may_sack ? 1 : 0;
    if ((rule.proxy & kRuleProxyScale) != 0 && kept.scale != 0) {
      flow.client_scale = kept.scale;
      flow.told_scale = static_cast<std::uint8_t>((rule.proxy & kRuleProxyShiftBits) + 1);
    }
  }
  if (!call.flows->begin_with(ack.packet, flow.tuple, tracked_syn(flow))) return Fate::kDropped;
  if (!flows.put(flow)) {
    hit(call, SynproxyCounter::kNoRoom);
    return Fate::kDropped;
  }
  call.flows->change_own(call.flows->of(ack.packet).flow).renumbered = 1;
  const ProxyFrame syn =
      make_proxy_frame(ack.frame, ack.headers, ProxyWay::kOn, syn_of(flow, options.value));
  if (!replace(call, ack.packet, syn)) return Fate::kDropped;
  hit(call, SynproxyCounter::kOpened);
  return Fate::kOpens;
}

bool Synproxy::is_opening(const FinishContext& call, const PacketFlow& flow) const noexcept {
  const ProxiedFlow* const one = flow_of(call, flow);
  return one == nullptr || one->is_open == 0;
}

Fate Synproxy::ask_again(const FinishContext& call, std::uint16_t packet,
                         const PacketFlow& flow) noexcept {
  const ProxiedFlow* const one = flow_of(call, flow);
  const std::span<std::byte> frame = call.batch.bytes(packet);
  const PacketHeaders headers = parse_headers(frame);
  const auto tcp = read_proxy_segment(frame, headers);
  if (one == nullptr || !tcp) return Fate::kDropped;
  const std::uint8_t flags = tcp->flags & kKindFlags;
  if ((flags & kReset) != 0) return Fate::kGoesOn;
  // What probes a closed window stands one in front of what is awaited.
  const bool shows =
      flags == kAck && tcp->acknowledgment == one->cookie + 1 && tcp->sequence - one->client <= 1;
  if (!shows) return Fate::kDropped;
  const ProxyFrame syn =
      make_proxy_frame(frame, headers, ProxyWay::kOn, syn_of(*one, tcp->options.value));
  return replace(call, packet, syn) ? Fate::kGoesOn : Fate::kDropped;
}

/// The server's SYN+ACK, also a later one: the server gets its ACK, and the client, which is open
/// already, learns the window.
Fate Synproxy::meet_server(const FinishContext& call, std::uint16_t packet, const PacketFlow& flow,
                           const ProxiedFlow& known) noexcept {
  const std::span<std::byte> frame = call.batch.bytes(packet);
  const PacketHeaders headers = parse_headers(frame);
  const auto tcp = read_proxy_segment(frame, headers);
  const std::uint8_t port = call.facts.port_in;
  if (!tcp || flow.state == FlowState::kInvalid || port == kOutputDefault ||
      tcp->acknowledgment != known.client + 1 || !may_answer_segment(frame, headers)) {
    return Fate::kDropped;
  }
  ProxiedFlow now = known;
  if (known.is_open == 0) {
    now.is_open = 1;
    now.shift = known.cookie - tcp->sequence;
    now.server_scale = known.client_scale == 0 ? std::uint8_t{0} : tcp->options.scale;
    now.timestamp = known.timestamp - tcp->options.value;
  } else if (tcp->sequence + known.shift != known.cookie) {
    return Fate::kDropped;
  }
  const bool scaled = now.server_scale != 0 || now.client_scale == 0;
  const TcpOptions& has = tcp->options;
  const ProxySegment to_server{
      .sequence = now.client + 1,
      .acknowledgment = tcp->sequence + 1,
      .window = scaled ? now.window : unscaled(now, now.window),
      .flags = kAck,
      .options = {.has_timestamp = has.has_timestamp, .value = has.echo, .echo = has.value}};
  const ProxySegment to_client{.sequence = now.cookie + 1,
                               .acknowledgment = now.client + 1,
                               .window = told_window(now, tcp->window, 0),
                               .flags = kAck,
                               .options = {.has_timestamp = has.has_timestamp,
                                           .value = has.value + now.timestamp,
                                           .echo = has.echo}};
  const ProxyFrame back = make_proxy_frame(frame, headers, ProxyWay::kBack, to_server);
  const ProxyFrame on = make_proxy_frame(frame, headers, ProxyWay::kOn, to_client);
  const SideList& side = call.batch.side;
  if (!side.has_room(back.size) || !replace(call, packet, on)) return Fate::kDropped;
  const std::span<std::byte> out = side.add({.packet = packet,
                                             .kind = static_cast<std::uint8_t>(SideKind::kSend),
                                             .port = port,
                                             .why = static_cast<std::uint8_t>(Reason::kReply)},
                                            back.size);
  std::ranges::copy(back.bytes(), out.begin());
  if (known.is_open == 0) {
    const auto flows = ProxiedFlows::laid_out(call.state);
    flows->change(known) = now;
    call.flows->follow(flow.flow, 0, tracked_ack(now));
  }
  return Fate::kGoesOn;
}

Fate Synproxy::translate(const FinishContext& call, std::uint16_t packet,
                         const PacketFlow& flow) noexcept {
  const ProxiedFlow* const one = flow_of(call, flow);
  if (one == nullptr) return Fate::kDropped;
  const std::span<std::byte> frame = call.batch.bytes(packet);
  const PacketHeaders headers = parse_headers(frame);
  if (flow.state == FlowState::kRelated) {
    const ProxyError about = flow.direction == 0 ? ProxyError::kToServer : ProxyError::kToClient;
    translate_error(*one, about, frame, headers);
    return Fate::kGoesOn;
  }
  if (headers.transport_offset == 0) return Fate::kGoesOn;  // a later fragment has no numbers
  const std::span<std::byte> segment =
      frame.first(headers.payload_end).subspan(headers.transport_offset);
  if (segment.size() < tcp_wire::kHeaderBytesMin) return Fate::kDropped;
  const std::uint8_t flags = u8(segment, tcp_wire::kFlagsAt) & kKindFlags;
  const bool of_server = flow.direction == 1;
  if (of_server && flags == (kSyn | kAck)) return meet_server(call, packet, flow, *one);
  if (one->is_open == 0) {
    if (!of_server || (flags & kReset) == 0) return Fate::kDropped;
    change_segment_u32(segment, tcp_wire::kSequenceAt, one->cookie + 1);
    return Fate::kGoesOn;
  }
  const TcpOptions options = read_tcp_options(segment);
  of_server ? translate_answer(*one, segment, options) : translate_question(*one, segment, options);
  return Fate::kGoesOn;
}

void Synproxy::renumber(const LaneState& state, const FlowTuple& tuple,
                        TcpSegment& segment) noexcept {
  const auto flows = ProxiedFlows::laid_out(state);
  const ProxiedFlow* const one = flows ? flows->find(tuple) : nullptr;
  if (one == nullptr) return;
  std::uint32_t shift = one->shift;
  if (one->is_open == 0) {
    if (segment.kind != TcpKind::kSynAck) return;
    shift = one->cookie - segment.sequence;
  }
  segment.sequence += shift;
  segment.end += shift;
  // The client scales its windows, because it was told that the server does.
  if (segment.kind == TcpKind::kSynAck && one->told_scale != 0 && segment.scale == 0) {
    segment.scale = 1;
  }
}

void Synproxy::revert(const LaneState& state, const FlowTuple& tuple, std::uint8_t direction,
                      std::span<std::byte> frame) noexcept {
  const auto flows = ProxiedFlows::laid_out(state);
  const ProxiedFlow* const one = flows ? flows->find(tuple) : nullptr;
  const PacketHeaders headers = parse_headers(frame);
  if (one == nullptr || headers.transport_offset == 0) return;
  revert_segment(*one, direction == 0 ? ProxyError::kToClient : ProxyError::kToServer,
                 frame.first(headers.payload_end).subspan(headers.transport_offset));
}

void Synproxy::give_back(const LaneState& state, const FlowTuple& tuple) noexcept {
  if (const auto flows = ProxiedFlows::laid_out(state)) flows->remove(tuple);
}

}  // namespace millrace
