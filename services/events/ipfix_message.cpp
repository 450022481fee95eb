// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/ipfix_message.hpp"

#include <algorithm>
#include <cstring>

#include "services/events/flow_json.hpp"
#include "shared/base/check.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

constexpr std::uint16_t kVersion = 10;
constexpr std::uint16_t kTemplateSet = 2;
constexpr std::uint16_t kEnterpriseBit = 0x8000;
constexpr std::uint32_t kReversePen = 29305;  ///< RFC 5103, 6.1
constexpr std::size_t kMessageHeaderBytes = 16, kSetHeaderBytes = 4;
constexpr std::uint64_t kNsOfAMillisecond = 1'000'000;

/// Information elements, with their numbers at IANA.
constexpr std::uint16_t kOctetDeltaCount = 1, kPacketDeltaCount = 2, kProtocolIdentifier = 4,
                        kTcpControlBits = 6, kSourceTransportPort = 7, kSourceIpv4Address = 8,
                        kDestinationTransportPort = 11, kDestinationIpv4Address = 12,
                        kSourceIpv6Address = 27, kDestinationIpv6Address = 28,
                        kIcmpTypeCodeIpv4 = 32, kFlowEndReason = 136, kIcmpTypeCodeIpv6 = 139,
                        kFlowStartMilliseconds = 152, kFlowEndMilliseconds = 153,
                        kPostNatSourceIpv4Address = 225, kPostNatDestinationIpv4Address = 226,
                        kPostNaptSourceTransportPort = 227, kPostNaptDestinationTransportPort = 228,
                        kNatEvent = 230, kBiflowDirection = 239, kObservationTimeMilliseconds = 323,
                        kPortRangeStart = 361, kPortRangeEnd = 362;

struct Field {
  std::uint16_t element;
  std::uint16_t bytes;
  bool is_reverse = false;
};

constexpr Field kStart{kFlowStartMilliseconds, 8}, kEnd{kFlowEndMilliseconds, 8},
    kTime{kObservationTimeMilliseconds, 8}, kSource4{kSourceIpv4Address, 4},
    kDestination4{kDestinationIpv4Address, 4}, kSource6{kSourceIpv6Address, 16},
    kDestination6{kDestinationIpv6Address, 16}, kSourcePort{kSourceTransportPort, 2},
    kDestinationPort{kDestinationTransportPort, 2}, kProtocol{kProtocolIdentifier, 1},
    kOctets{kOctetDeltaCount, 8}, kPackets{kPacketDeltaCount, 8},
    kOctetsBack{kOctetDeltaCount, 8, true}, kPacketsBack{kPacketDeltaCount, 8, true},
    kFlags{kTcpControlBits, 2}, kFlagsBack{kTcpControlBits, 2, true}, kReason{kFlowEndReason, 1},
    kDirection{kBiflowDirection, 1}, kIcmp4{kIcmpTypeCodeIpv4, 2}, kIcmp6{kIcmpTypeCodeIpv6, 2},
    kEvent{kNatEvent, 1}, kPostSource{kPostNatSourceIpv4Address, 4},
    kPostDestination{kPostNatDestinationIpv4Address, 4},
    kPostSourcePort{kPostNaptSourceTransportPort, 2},
    kPostDestinationPort{kPostNaptDestinationTransportPort, 2}, kRangeStart{kPortRangeStart, 2},
    kRangeEnd{kPortRangeEnd, 2};

// Flags of the first packet's direction come last: nfdump has one field for both, and keeps those.
constexpr Field kFlowIpv4[] = {
    kStart,           kEnd,        kSource4,     kDestination4, kSourcePort,
    kDestinationPort, kProtocol,   kReason,      kDirection,    kOctets,
    kPackets,         kOctetsBack, kPacketsBack, kFlagsBack,    kFlags};
constexpr Field kFlowIpv6[] = {
    kStart,           kEnd,        kSource6,     kDestination6, kSourcePort,
    kDestinationPort, kProtocol,   kReason,      kDirection,    kOctets,
    kPackets,         kOctetsBack, kPacketsBack, kFlagsBack,    kFlags};
constexpr Field kFlowIcmp[] = {kStart,  kEnd,      kSource4,    kDestination4,
                               kIcmp4,  kProtocol, kReason,     kDirection,
                               kOctets, kPackets,  kOctetsBack, kPacketsBack};
constexpr Field kFlowIcmpIpv6[] = {kStart,  kEnd,      kSource6,    kDestination6,
                                   kIcmp6,  kProtocol, kReason,     kDirection,
                                   kOctets, kPackets,  kOctetsBack, kPacketsBack};
constexpr Field kNat44Session[] = {
    kTime,           kSource4,      kPostSource,      kProtocol,        kSourcePort,
    kPostSourcePort, kDestination4, kPostDestination, kDestinationPort, kPostDestinationPort,
    kEvent};
constexpr Field kNat64Session[] = {
    kTime,           kSource6,      kPostSource,      kProtocol,        kSourcePort,
    kPostSourcePort, kDestination6, kPostDestination, kDestinationPort, kPostDestinationPort,
    kEvent};
constexpr Field kNat44Mapping[] = {kTime,       kSource4,        kPostSource, kProtocol,
                                   kSourcePort, kPostSourcePort, kEvent};
constexpr Field kNat64Mapping[] = {kTime,       kSource6,        kPostSource, kProtocol,
                                   kSourcePort, kPostSourcePort, kEvent};
constexpr Field kNat44Block[] = {kTime, kSource4, kPostSource, kRangeStart, kRangeEnd, kEvent};
constexpr Field kNat64Block[] = {kTime, kSource6, kPostSource, kRangeStart, kRangeEnd, kEvent};

std::span<const Field> fields_of(IpfixTemplate which) noexcept {
  constexpr std::array<std::span<const Field>, static_cast<std::size_t>(IpfixTemplate::kCount)>
      kFields = {kFlowIpv4,     kFlowIpv6,     kFlowIcmp,     kFlowIcmpIpv6, kNat44Session,
                 kNat64Session, kNat44Mapping, kNat64Mapping, kNat44Block,   kNat64Block};
  return kFields[static_cast<std::size_t>(which)];
}

std::size_t bytes_of(std::span<const Field> fields) noexcept {
  std::size_t bytes = 0;
  for (const Field& field : fields) bytes += field.bytes;
  return bytes;
}

std::uint16_t id_of(IpfixTemplate which) noexcept {
  return static_cast<std::uint16_t>(kIpfixTemplateFirst + static_cast<unsigned>(which));
}

IpfixTemplate flow_template_of(const EventRecord& record) noexcept {
  if (record.ip_version == 4) {
    return record.protocol == ip_protocol::kIcmp ? IpfixTemplate::kFlowIcmp
                                                 : IpfixTemplate::kFlowIpv4;
  }
  if (record.ip_version != 6) return IpfixTemplate::kCount;
  return record.protocol == ip_protocol::kIcmpv6 ? IpfixTemplate::kFlowIcmpIpv6
                                                 : IpfixTemplate::kFlowIpv6;
}

/// flowEndReason (RFC 5102): idle timeout, end of flow detected, forced end, lack of resources.
std::uint8_t end_reason_of(FlowEndReason reason) noexcept {
  switch (reason) {
    case FlowEndReason::kTimeout:
      return 1;
    case FlowEndReason::kClosed:
      return 3;
    case FlowEndReason::kForced:
    case FlowEndReason::kShutdown:
      break;
    case FlowEndReason::kEvicted:
      return 5;
  }
  return 4;
}

std::uint64_t ago(std::uint64_t time_ms, const EventCount& ago_ms) noexcept {
  return time_ms - std::min(time_ms, ago_ms.number());
}

std::uint64_t first_four_of(const std::array<std::uint8_t, 16>& address) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | address[i];
  return value;
}

/// Value of an element of a flow; `direction` 1: of the packets that answer.
std::uint64_t flow_value_of(const EventRecord& record, std::uint64_t time_ms, std::uint16_t element,
                            std::size_t direction) noexcept {
  const FlowEvent& flow = record.flow;
  const std::uint64_t end_ms = ago(time_ms, flow.idle_ms);
  switch (element) {
    case kFlowStartMilliseconds:
      return ago(end_ms, flow.lasted_ms);
    case kFlowEndMilliseconds:
      return end_ms;
    case kOctetDeltaCount:
      return flow.bytes[direction].number();
    case kPacketDeltaCount:
      return flow.packets[direction].number();
    case kTcpControlBits:
      return flow.tcp_flags[direction];
    case kFlowEndReason:
      return end_reason_of(flow.reason);
    case kBiflowDirection:
      return 1;  // the first packet's source is the initiator
    default:     // icmpTypeCode
      return static_cast<std::uint64_t>(record.destination_port & 0xff) << 8;
  }
}

std::uint64_t translation_value_of(const EventRecord& record, std::uint64_t time_ms,
                                   std::uint16_t element) noexcept {
  const TranslationEvent& to = record.translation;
  switch (element) {
    case kObservationTimeMilliseconds:
      return time_ms;
    case kPostNatSourceIpv4Address:
      return first_four_of(to.source);
    case kPostNatDestinationIpv4Address:
      return first_four_of(to.destination);
    case kPostNaptSourceTransportPort:
    case kPortRangeStart:
      return to.source_port;
    case kPostNaptDestinationTransportPort:
    case kPortRangeEnd:
      return to.destination_port;
    default:
      return nat_event_of(record);
  }
}

/// The value of every element but addresses of IPv6.
std::uint64_t value_of(const EventRecord& record, std::uint64_t time_ms,
                       const Field& field) noexcept {
  switch (field.element) {
    case kSourceIpv4Address:
      return first_four_of(record.source);
    case kDestinationIpv4Address:
      return first_four_of(record.destination);
    case kSourceTransportPort:
      return record.source_port;
    case kDestinationTransportPort:
      return record.destination_port;
    case kProtocolIdentifier:
      return record.protocol;
    default:
      break;
  }
  if (record.kind == EventKind::kTranslation) {
    return translation_value_of(record, time_ms, field.element);
  }
  return flow_value_of(record, time_ms, field.element, field.is_reverse ? 1 : 0);
}

}  // namespace

IpfixTemplate ipfix_template_of(const EventRecord& record) noexcept {
  if (record.kind == EventKind::kFlow) return flow_template_of(record);
  if (record.kind != EventKind::kTranslation || nat_event_of(record) == 0) {
    return IpfixTemplate::kCount;
  }
  const bool old = record.ip_version == 4;
  if (record.translation.scope == TranslationScope::kMapping) {
    return old ? IpfixTemplate::kNat44Mapping : IpfixTemplate::kNat64Mapping;
  }
  if (record.translation.scope == TranslationScope::kBlock) {
    return old ? IpfixTemplate::kNat44Block : IpfixTemplate::kNat64Block;
  }
  return old ? IpfixTemplate::kNat44Session : IpfixTemplate::kNat64Session;
}

void IpfixMessage::put(std::uint64_t value, std::size_t bytes) noexcept {
  for (std::size_t i = bytes; i > 0; --i) {
    bytes_[size_++] = static_cast<std::byte>(value >> 8 * (i - 1));
  }
}

void IpfixMessage::put_address(const std::array<std::uint8_t, 16>& address) noexcept {
  std::memcpy(bytes_.data() + size_, address.data(), address.size());
  size_ += address.size();
}

void IpfixMessage::set_u16(std::size_t at, std::size_t value) noexcept {
  bytes_[at] = static_cast<std::byte>(value >> 8);
  bytes_[at + 1] = static_cast<std::byte>(value);
}

void IpfixMessage::begin_set(std::uint16_t id) noexcept {
  set_at_ = size_;
  put(id, 2);
  put(0, 2);  // the length, which end_set() writes
}

void IpfixMessage::end_set() noexcept {
  if (set_at_ != 0) set_u16(set_at_ + 2, size_ - set_at_);
  set_at_ = 0;
}

void IpfixMessage::put_template(IpfixTemplate which) noexcept {
  const std::span<const Field> fields = fields_of(which);
  put(id_of(which), 2);
  put(fields.size(), 2);
  for (const Field& field : fields) {
    put(field.element | (field.is_reverse ? kEnterpriseBit : 0), 2);
    put(field.bytes, 2);
    if (field.is_reverse) put(kReversePen, 4);
  }
}

void IpfixMessage::begin(std::uint32_t time_s, std::uint32_t sequence, std::uint32_t domain,
                         bool with_templates) noexcept {
  size_ = set_at_ = 0;
  records_ = 0;
  open_ = IpfixTemplate::kCount;
  put(kVersion, 2);
  put(0, 2);  // the length, which finish() writes
  put(time_s, 4);
  put(sequence, 4);
  put(domain, 4);
  MILLRACE_CHECK(size_ == kMessageHeaderBytes);
  if (!with_templates) return;
  begin_set(kTemplateSet);
  for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(IpfixTemplate::kCount); ++i) {
    put_template(static_cast<IpfixTemplate>(i));
  }
  end_set();
}

bool IpfixMessage::add(const EventRecord& record, std::uint64_t time_ns) noexcept {
  const IpfixTemplate which = ipfix_template_of(record);
  MILLRACE_CHECK(which != IpfixTemplate::kCount);
  const std::span<const Field> fields = fields_of(which);
  const bool opens = which != open_;
  if (size_ + (opens ? kSetHeaderBytes : 0) + bytes_of(fields) > kBytesMax) return false;
  if (opens) {
    end_set();
    begin_set(id_of(which));
    open_ = which;
  }
  for (const Field& field : fields) {
    if (field.bytes == sizeof record.source) {
      put_address(field.element == kSourceIpv6Address ? record.source : record.destination);
    } else {
      put(value_of(record, time_ns / kNsOfAMillisecond, field), field.bytes);
    }
  }
  ++records_;
  return true;
}

std::span<const std::byte> IpfixMessage::finish() noexcept {
  end_set();
  set_u16(2, size_);
  return {bytes_.data(), size_};
}

}  // namespace millrace
