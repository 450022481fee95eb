// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "shared/base/limits.hpp"

/// A function's record about a packet or a flow, in two cache lines: the function, the time, the
/// packet, and a payload whose layout its kind says. It goes from the data thread to the process
/// `events` (services/events) by a ring (event_rings.hpp). Longer data follow as text, in records
/// of their own (event_text.hpp): a payload that ends with `texts` says how many there are.

namespace millrace {

enum class EventKind : std::uint8_t {
  kAlert = 0,        ///< a rule that asks for it has matched
  kAnomaly = 1,      ///< something on the network is not as it should be
  kFlow = 2,         ///< a flow has ended; about no packet
  kTranslation = 3,  ///< a translation has begun or ended (RFC 8158); about no packet
  kSignature = 4,    ///< a rule of `ids` has matched: an alert too
  kApp = 5,          ///< a transaction of a protocol above TCP or UDP; text says what it is
  kDrop = 6,         ///< `ids` has dropped a packet
  kText = 7,         ///< no event: text of the one in front
  kStream = 8,       ///< bytes of a TCP connection for its files; text has them, and no fields
  kCount
};

/// What became of the packet that an alert is about.
enum class EventAction : std::uint8_t { kAllowed = 0, kBlocked = 1 };

inline constexpr std::size_t kEventNameBytes = 63;
struct AlertEvent {
  std::uint32_t rule;          ///< its number in the function, from 0
  EventAction action;          ///< what the rule does with the packet
  char name[kEventNameBytes];  ///< of the rule; a shorter one is followed by zeros
};

/// A number of 64 bits, of which a payload, at a multiple of 4, keeps two halves.
struct EventCount {
  std::uint32_t low, high;
  EventCount() = default;
  explicit constexpr EventCount(std::uint64_t number)
      : low(static_cast<std::uint32_t>(number)), high(static_cast<std::uint32_t>(number >> 32)) {}
  constexpr std::uint64_t number() const { return std::uint64_t{high} << 32 | low; }
};

/// The data in which a signature matched.
enum class SignatureScope : std::uint8_t { kPacket = 0, kStream = 1, kTransaction = 2 };
/// The direction of the data that match. Unknown: the packet belongs to no flow.
enum class FlowDirection : std::uint8_t { kUnknown = 0, kToServer = 1, kToClient = 2 };

inline constexpr std::size_t kEventAppBytes = 12;
/// Message, class and metadata have no room here: they stand under gid and sid in the file of names
/// that the builder writes (services/functions/ids/signature_names.hpp).
struct SignatureEvent {
  std::uint32_t rule;  ///< its number in the function, from 0
  std::uint32_t sid, gid, revision;
  EventCount transaction;  ///< its number in its flow, of kTransaction
  EventAction action;      ///< what becomes of the packet
  std::uint8_t priority;   ///< 1 is the highest
  FlowDirection direction;
  SignatureScope scope;
  char app[kEventAppBytes];  ///< what the flow carries, as EVE's app_proto; zeros: not known
  std::uint8_t padding[27];
  std::uint8_t texts;
};

enum class EventApp : std::uint8_t { kHttp = 0, kDns = 1, kTls = 2, kSsh = 3, kSmtp = 4, kCount };
/// The record's addresses and ports are those of the client's packets.
struct AppEvent {
  EventCount transaction;   ///< its number in its flow
  FlowDirection direction;  ///< of what is told: DNS is told of by message; of others: unknown
  EventApp app;
  std::uint8_t padding[57];
  std::uint8_t texts;
};

/// Why `ids` has dropped a packet.
enum class EventDropReason : std::uint8_t {
  kRule = 0,        ///< the signature
  kFlow = 1,        ///< a rule has dropped its flow before
  kStream = 2,      ///< its data cannot be read as its receiver would
  kStreamFull = 3,  ///< there is no room for its data
  kHidden = 4,      ///< no rule can see what it carries: a fragment, headers that break off
  kCount
};
struct DropEvent {
  std::uint32_t rule, sid, gid, revision;  ///< as in SignatureEvent, of kRule; gid 0: not known
  std::uint16_t bytes;                     ///< of the packet, from the IP header on
  EventDropReason reason;
  std::uint8_t priority;
  FlowDirection direction;
  std::uint8_t padding[47];
};

/// What a record of kStream tells of a connection.
enum class StreamStep : std::uint8_t {
  kData = 0,  ///< bytes of one direction: the text
  kEnd = 1,   ///< nothing follows of it
};
/// The record's addresses and ports are those of the connection's direction 0. `begun_tsc` and
/// `connection` tell connections with the same ones apart.
struct StreamEvent {
  EventCount position;       ///< of the first byte of kData in its direction
  EventCount begun_tsc;      ///< when the first packet of the connection was seen
  EventCount bytes[2];       ///< of kEnd: by direction, behind the last byte that was seen
  EventCount lost[2];        ///< of kEnd: bytes that found no room in the ring, or in the lane
  std::uint32_t connection;  ///< number among those of the function and lane
  StreamStep step;
  std::uint8_t direction;        ///< of kData: 0, 1
  std::uint8_t is_picked_up[2];  ///< 1: its beginning was not seen; byte kStreamOrigin came first
  std::uint8_t padding[11];
  std::uint8_t texts;
};
/// Position of the first byte that was seen of a direction whose beginning was not seen: bytes
/// before it may still come.
inline constexpr std::uint64_t kStreamOrigin = std::uint64_t{1} << 31;

enum class AnomalyType : std::uint8_t {
  kAddressConflict = 0,  ///< another host claims an address of ours, or of a permanent neighbour:
                         ///< the record's source
  kAppUnreadable = 1,    ///< a parser of `ids` has given up one direction of a flow
  kCount
};
struct AnomalyEvent {
  AnomalyType type;
  std::array<std::uint8_t, 6> mac;  ///< of kAddressConflict: of the host that it is about
  char app[kEventAppBytes];         ///< of kAppUnreadable: as EVE's app_proto
  FlowDirection direction;          ///< of kAppUnreadable
  std::uint8_t padding[48];
};

/// How far a flow had come. Closed: TCP says that both sides are done, or one has reset it.
enum class FlowPhase : std::uint8_t { kNew = 0, kEstablished = 1, kClosed = 2 };
/// Why the flow is no longer in the table.
enum class FlowEndReason : std::uint8_t {
  kTimeout = 0,   ///< no packet came for as long as its state allows
  kClosed = 1,    ///< it was done
  kForced = 2,    ///< a user ended it, or a function did
  kShutdown = 3,  ///< the function has left
  kEvicted = 4,   ///< a new flow needed its place
};
/// States with the numbers of nf_conntrack (enum tcp_conntrack).
enum class FlowTcpState : std::uint8_t {
  kNone = 0,  ///< not TCP, or not known
  kSynSent = 1,
  kSynReceived = 2,
  kEstablished = 3,
  kFinWait = 4,
  kCloseWait = 5,
  kLastAck = 6,
  kTimeWait = 7,
  kClose = 8,
  kSynSent2 = 9,  ///< both have sent SYN
  kCount
};
/// The record's addresses and ports are those of the flow's first packet. [0] counts packets in its
/// direction, [1] answers. For ICMP the source port is the identifier, the destination port the
/// type of the question.
struct FlowEvent {
  EventCount packets[2], bytes[2];  ///< bytes: from the IP header on
  EventCount lasted_ms;             ///< from its first packet to its last one
  EventCount idle_ms;               ///< from its last packet to the record's time
  FlowPhase phase;
  FlowEndReason reason;
  FlowTcpState tcp;
  std::uint8_t tcp_flags[2];   ///< all that packets had (FIN 1, SYN 2, ... CWR 128); 0: not known
  std::uint8_t is_translated;  ///< 1: it was
  std::uint8_t is_alerted;     ///< 1: an alert was about a packet of it
  std::uint8_t padding[13];
};

enum class TranslationAction : std::uint8_t { kCreated = 0, kRemoved = 1 };
/// Session: of one flow. Mapping: of an inside address and port, with any peer (a BIB entry
/// in RFC 8158): destinations mean nothing then.
/// Block: ports of the outside that are an inside address's; no protocol, no ports inside; outside
/// source_port is the first of them, destination_port the last.
enum class TranslationScope : std::uint8_t { kSession = 0, kMapping = 1, kBlock = 2 };
/// The record's addresses and ports are those of packets that come from inside; these are what
/// such packets have behind the translation. Ports of ICMP as in FlowEvent.
struct TranslationEvent {
  std::array<std::uint8_t, 16> source, destination;
  std::uint16_t source_port, destination_port;
  std::uint8_t ip_version;  ///< of these addresses: 4, 6
  TranslationAction action;
  TranslationScope scope;
  std::uint8_t padding[29];
};

inline constexpr std::size_t kEventPayloadBytes = 68;

/// Addresses and ports are those of the packet when it was told of; numbers are the host's, not
/// the wire's. An IPv4 address has the first 4 bytes. About a packet of ICMP, destination_port is
/// its type and, times 256, its code; source_port is the identifier of a question or answer.
struct alignas(kCacheLine) EventRecord {
  std::uint64_t time_tsc;  ///< arrival of the first packet of its batch, or of the batch in which
                           ///< it was seen that a flow or translation begins or ends
  std::uint64_t sequence;  ///< of the batch, in its stream and lane
  std::array<std::uint8_t, 16> source, destination;
  std::uint16_t source_port, destination_port;  ///< 0: not known, or its protocol has none
  std::uint16_t lane;
  std::uint8_t packet;      ///< index in the batch; 0 where it is about none
  std::uint8_t stream;      ///< it says which port the packet, or the batch, came in by
  EventKind kind;           ///< which payload
  std::uint8_t function;    ///< number in the plan
  std::uint8_t ip_version;  ///< 4, 6: addresses are known; 0: they are not
  std::uint8_t protocol;    ///< of IP; 0 where ip_version is 0
  union {
    AlertEvent alert;
    AnomalyEvent anomaly;
    FlowEvent flow;
    TranslationEvent translation;
    SignatureEvent signature;
    AppEvent app;
    DropEvent drop;
    StreamEvent tcp_stream;
    std::byte payload[kEventPayloadBytes];
  };
};
static_assert(sizeof(AlertEvent) == 68 && offsetof(AlertEvent, action) == 4);
static_assert(offsetof(AlertEvent, name) == 5);
static_assert(sizeof(AnomalyEvent) == 68 && offsetof(AnomalyEvent, mac) == 1);
static_assert(offsetof(AnomalyEvent, app) == 7 && offsetof(AnomalyEvent, direction) == 19);
static_assert(sizeof(FlowEvent) == 68 && offsetof(FlowEvent, packets) == 0);
static_assert(offsetof(FlowEvent, bytes) == 16 && offsetof(FlowEvent, lasted_ms) == 32);
static_assert(offsetof(FlowEvent, idle_ms) == 40 && offsetof(FlowEvent, phase) == 48);
static_assert(offsetof(FlowEvent, reason) == 49 && offsetof(FlowEvent, tcp) == 50);
static_assert(offsetof(FlowEvent, tcp_flags) == 51 && offsetof(FlowEvent, is_translated) == 53);
static_assert(offsetof(FlowEvent, is_alerted) == 54);
static_assert(sizeof(TranslationEvent) == 68 && offsetof(TranslationEvent, destination) == 16);
static_assert(offsetof(TranslationEvent, source_port) == 32);
static_assert(offsetof(TranslationEvent, destination_port) == 34);
static_assert(offsetof(TranslationEvent, ip_version) == 36);
static_assert(offsetof(TranslationEvent, action) == 37 && offsetof(TranslationEvent, scope) == 38);
static_assert(sizeof(SignatureEvent) == 68 && offsetof(SignatureEvent, sid) == 4);
static_assert(offsetof(SignatureEvent, gid) == 8 && offsetof(SignatureEvent, revision) == 12);
static_assert(offsetof(SignatureEvent, transaction) == 16);
static_assert(offsetof(SignatureEvent, action) == 24 && offsetof(SignatureEvent, priority) == 25);
static_assert(offsetof(SignatureEvent, direction) == 26 && offsetof(SignatureEvent, scope) == 27);
static_assert(offsetof(SignatureEvent, app) == 28 && offsetof(SignatureEvent, texts) == 67);
static_assert(sizeof(AppEvent) == 68 && offsetof(AppEvent, direction) == 8);
static_assert(offsetof(AppEvent, app) == 9 && offsetof(AppEvent, texts) == 67);
static_assert(sizeof(DropEvent) == 68 && offsetof(DropEvent, sid) == 4);
static_assert(offsetof(DropEvent, gid) == 8 && offsetof(DropEvent, revision) == 12);
static_assert(offsetof(DropEvent, bytes) == 16 && offsetof(DropEvent, reason) == 18);
static_assert(offsetof(DropEvent, priority) == 19 && offsetof(DropEvent, direction) == 20);
static_assert(sizeof(StreamEvent) == 68 && offsetof(StreamEvent, begun_tsc) == 8);
static_assert(offsetof(StreamEvent, bytes) == 16 && offsetof(StreamEvent, lost) == 32);
static_assert(offsetof(StreamEvent, connection) == 48 && offsetof(StreamEvent, step) == 52);
static_assert(offsetof(StreamEvent, direction) == 53 && offsetof(StreamEvent, is_picked_up) == 54);
static_assert(offsetof(StreamEvent, texts) == 67);
static_assert(sizeof(EventRecord) == 128 && std::is_trivially_copyable_v<EventRecord>);
static_assert(offsetof(EventRecord, time_tsc) == 0 && offsetof(EventRecord, sequence) == 8);
static_assert(offsetof(EventRecord, source) == 16 && offsetof(EventRecord, destination) == 32);
static_assert(offsetof(EventRecord, source_port) == 48);
static_assert(offsetof(EventRecord, destination_port) == 50 && offsetof(EventRecord, lane) == 52);
static_assert(offsetof(EventRecord, packet) == 54 && offsetof(EventRecord, stream) == 55);
static_assert(offsetof(EventRecord, kind) == 56 && offsetof(EventRecord, function) == 57);
static_assert(offsetof(EventRecord, ip_version) == 58 && offsetof(EventRecord, protocol) == 59);
static_assert(offsetof(EventRecord, payload) == 60);
static_assert(kBatchCapacityMax <= 256 && kStreamCountMax <= 256 && kFunctionPlaceMax <= 256);

}  // namespace millrace
