# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# What the processes of a topology say to each other, and the plan that they all read. The C++ side
# is messages.hpp and shared/config/plan.hpp; only the codecs in this folder see this file.
#
# New fields go to the end of their struct with the next number: older processes ignore them.
@0xd1e2a4b86c9f7035;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("millrace::wire");

# ---- The plan (shared/config/plan.hpp says what each field means) ----

struct Setting {
  key @0 :Text;
  value @1 :Text;
}

struct Port {
  name @0 :Text;
  device @1 :Text;
  settings @2 :List(Setting);
  mtu @3 :UInt32;
  mac @4 :Text;
  addresses @5 :List(Text);
  node @6 :Int32;
  host @7 :Int32 = -1;
}

enum Fallback { drop @0; pass @1; wait @2; }

struct Function {
  name @0 :Text;
  type @1 :Text;
  settings @2 :List(Setting);
  image @3 :Text;
  group @4 :UInt32;
  whenClass @5 :UInt32;
  classMask @6 :UInt32;
  unavailable @7 :Fallback;
  overload @8 :Fallback;
  stateful @9 :Bool;
  laneStateBytes @10 :UInt64;
  counterCount @11 :UInt32;
  share @12 :UInt32;
  edition @13 :UInt32;
  gone @14 :Bool;
  laneUndoLines @15 :UInt32;
}

struct Edition {
  number @0 :UInt32;
  function @1 :Function;
}

struct StageEdition {
  number @0 :UInt32;
  functions @1 :List(UInt32);
  edition @2 :UInt32;
}

enum GroupKind { classifier @0; gpu @1; }
enum Dispatch { any @0; flow @1; }

struct Group {
  name @0 :Text;
  kind @1 :GroupKind;
  count @2 :UInt32;
  max @3 :UInt32;
  dispatch @4 :Dispatch;
  standIn @5 :UInt32;
  settings @6 :List(Setting);
  offload @7 :UInt32 = 100;
  spill @8 :UInt32;
  autoscale @9 :Autoscale;
}

struct Autoscale {
  min @0 :UInt32;
  max @1 :UInt32;
  up @2 :UInt32;
  down @3 :UInt32;
}

struct Stage {
  path @0 :UInt32;
  group @1 :UInt32;
  functions @2 :List(UInt32);
  next @3 :UInt8;
  stateful @4 :Bool;
  share @5 :UInt32;
  laneShare @6 :UInt32;
  edition @7 :UInt32;
}

struct Path {
  name @0 :Text;
  firstStage @1 :UInt8;
  laneFirst @2 :UInt32;
  laneCount @3 :UInt32;
  match @4 :Text;
  filter @5 :List(UInt64);
  hasKeys @6 :Bool;
  lanesBy @7 :LanesBy;
  translation @8 :Translation;
  ordered @9 :Bool;
}

enum LanesBy { flow @0; addresses @1; inside @2; }

struct FixedAddress {
  outside @0 :UInt32;
  inside @1 :UInt32;
  count @2 :UInt32;
  protocol @3 :UInt8;
  port @4 :UInt16;
}

struct AddressRange {
  first @0 :UInt32;
  last @1 :UInt32;
}

struct Translation {
  inside @0 :List(UInt32);
  pool @1 :List(AddressRange);
  block @2 :UInt32 = 64;
  fixed @3 :List(FixedAddress);
}

struct StreamPath {
  path @0 :UInt32;
  output @1 :UInt32;
  slotsMax @2 :UInt32;
}

struct Stream {
  port @0 :UInt32;
  queue @1 :UInt32;
  paths @2 :List(StreamPath);
  ingress @3 :UInt32;
  egress @4 :UInt32;
  slotFirst @5 :UInt32;
  slotCount @6 :UInt32;
  bufferFirst @7 :UInt32;
  bufferCount @8 :UInt32;
}

enum ActorKind { hub @0; standby @1; ingress @2; classifier @3; gpu @4; egress @5; }

struct Actor {
  name @0 :Text;
  kind @1 :ActorKind;
  group @2 :UInt32;
  index @3 :UInt32;
  twin @4 :UInt32;
  atStart @5 :Bool;
  core @6 :Int32;
  node @7 :Int32;
  home @8 :Int32;
  coreNamed @9 :Bool;
}

struct Node {
  number @0 :UInt32;
  cores @1 :List(UInt32);
}

struct Link {
  producer @0 :UInt32;
  consumer @1 :UInt32;
  depth @2 :UInt32;
}

struct Events {
  file @0 :Text;
  rotateBytes @1 :UInt64;
  keep @2 :UInt32;
  socket @3 :Text;
  collector @4 :Text;  # of IPFIX; empty: none
  domain @5 :UInt32;
  stats @6 :UInt32;  # seconds; 0: none
}

struct Reason {
  name @0 :Text;
  cause @1 :UInt8;
  summary @2 :Text;
}

struct Plan {
  name @0 :Text;
  batchCapacity @1 :UInt32;
  bufferStride @2 :UInt32;
  slotCount @3 :UInt32;
  standInSlotCount @4 :UInt32;
  bufferCount @5 :UInt32;
  heartbeatLimitMs @6 :UInt32;
  sharedCores @7 :Bool;
  telemetryListen @8 :Text;
  ports @9 :List(Port);
  functions @10 :List(Function);
  classes @11 :List(Text);
  groups @12 :List(Group);
  stages @13 :List(Stage);
  paths @14 :List(Path);
  streams @15 :List(Stream);
  actors @16 :List(Actor);
  links @17 :List(Link);
  secrets @18 :List(Text);
  fused @19 :Bool;
  nodes @20 :List(Node);
  memoryNode @21 :Int32;
  crashLimit @22 :UInt32;
  revision @23 :UInt32;
  others @24 :List(Edition);
  sources @25 :List(Text);
  hash @26 :Text;
  generation @27 :UInt32;
  otherStages @28 :List(StageEdition);
  spareCounters @29 :UInt32;
  sideFirst @30 :UInt32;
  sideCount @31 :UInt32;
  neighbourCount @32 :UInt32 = 1024;
  events @33 :Events;
  reasons @34 :List(Reason);
}

# ---- Messages (messages.hpp says what each means) ----

enum Severity { info @0; warning @1; error @2; }

struct Event {
  severity @0 :Severity;
  kind @1 :Text;
  actor @2 :UInt32;
  text @3 :Text;
  number @4 :UInt64;
  timeNs @5 :UInt64;
}

struct Drain {
  actor @0 :UInt32;
  on @1 :Bool;
}

struct ActorStatus {
  actor @0 :UInt32;
  name @1 :Text;
  state @2 :Text;
  pid @3 :Int32;
  incarnation @4 :UInt32;
  restarts @5 :UInt32;
  packets @6 :UInt64;
  batches @7 :UInt64;
  heartbeatAgeMs @8 :UInt64;
  note @9 :Text;
}

struct StatusReply {
  topology @0 :Text;
  phase @1 :Text;
  runDir @2 :Text;
  upNs @3 :UInt64;
  actors @4 :List(ActorStatus);
  events @5 :List(Event);
  skipped @6 :List(NamedCount);
  refused @7 :List(NamedCount);
  out @8 :List(Text);
  generation @9 :UInt64;
  hash @10 :Text;
  differs @11 :Bool;
  confirmSeconds @12 :UInt32;
  takingBack @13 :Text;
  drained @14 :Bool;
  offload @15 :List(NamedCount);
}

struct NamedCount {
  name @0 :Text;
  count @1 :UInt64;
}

struct AuditLane {
  stream @0 :UInt32;
  lane @1 :UInt32;
  received @2 :UInt64;
  transmitted @3 :UInt64;
  dropped @4 :UInt64;
  inFlight @5 :UInt64;
}

struct AuditReply {
  by @0 :Text;
  exact @1 :Bool;
  quiet @2 :Bool;
  received @3 :UInt64;
  transmitted @4 :UInt64;
  inFlight @5 :UInt64;
  unaccounted @6 :UInt64;
  dropped @7 :List(NamedCount);
  generated @8 :List(NamedCount);
  consumed @9 :List(NamedCount);
  slots @10 :List(NamedCount);
  buffers @11 :List(NamedCount);
  lanes @12 :List(AuditLane);
  problems @13 :List(Text);
  loops @14 :List(NamedCount);
}

struct Scale {
  group @0 :Text;
  count @1 :UInt32;
}

struct Change {
  reload @0 :List(Text);
  scale @1 :List(Scale);
  plan @2 :Text;
  confirmSeconds @3 :UInt32;
  what @4 :Text;
  acceptRefused @5 :Bool;
  rollback @6 :Bool;
  upgrade @7 :Text;
  acceptShrunk @8 :Bool;
}

struct ChangeReply {
  generation @0 :UInt64;
  lines @1 :List(Text);
}

struct Service {
  function @0 :UInt32;
  out @1 :Bool;
}

struct Message {
  id @0 :UInt64;
  union {  # each is called as its kName: of one member that member, of none Void
    ok @1 :Void;
    error @2 :Text;
    obsoleteHello @3 :AnyPointer;  # an older build may still send the obsolete ones
    ready @4 :UInt32;
    obsoleteHeartbeat @5 :UInt32;
    event @6 :Event;
    drain @7 :Drain;
    obsoleteStop @8 :Void;
    followPlan @9 :UInt32;
    status @10 :Void;
    statusReply @11 :StatusReply;
    audit @12 :Void;
    auditReply @13 :AuditReply;
    change @14 :Change;
    changeReply @15 :ChangeReply;
    down @16 :Void;
    function @17 :Service;
    confirm @18 :Void;
  }
}
