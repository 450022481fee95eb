# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# What a supervisor knows of a run (run_state.hpp says what each field means); only run_state.cpp
# sees this file.
#
# New fields go to the end of their struct with the next number: older processes ignore them.
@0xb3f5c07d2a9164e8;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("millrace::wire");

struct PostState {
  name @0 :Text;
  wanted @1 :Bool;
  restarts @2 :UInt32;
  end @3 :Text;
}

struct WantedWorkers {
  group @0 :Text;
  count @1 :UInt32;
}

struct TableFileFacts {
  path @0 :Text;
  accepted @1 :UInt64;
}

struct TableFacts {
  function @0 :Text;
  generation @1 :UInt64;
  accepted @2 :UInt64;
  refused @3 :UInt64;
  files @4 :List(TableFileFacts);
}

struct ConfigFacts {
  generation @0 :UInt64;
  hash @1 :Text;
  differs @2 :Bool;
  reloadsDone @3 :UInt64;
  reloadsRefused @4 :UInt64;
  controlRefused @5 :UInt64;
  hasBypass @6 :Bool;
  bypass @7 :Bool;
  changedNs @8 :UInt64;
  failedNs @9 :UInt64;
}

struct ConfirmDeadline {
  timeNs @0 :UInt64;
  generation @1 :UInt64;
  boot @2 :Text;
}

struct RemoteControl {
  address @0 :Text;
  key @1 :Text;
  clients @2 :List(Text);
}

struct RunState {
  mark @0 :UInt32;
  stopping @1 :Bool;
  posts @2 :List(PostState);
  wanted @3 :List(WantedWorkers);
  tables @4 :List(TableFacts);
  config @5 :ConfigFacts;
  deadline @6 :ConfirmDeadline;
  control @7 :RemoteControl;
}
