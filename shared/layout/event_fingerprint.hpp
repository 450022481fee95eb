// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/base/fnv.hpp"
#include "shared/layout/event_rings.hpp"
#include "shared/layout/event_text.hpp"

/// A number that changes when a struct of the rings of events does, as fingerprint.hpp has one for
/// the segment. It is part of the status file's hash, and a test
/// (tests/unit/shared/layout/event_rings_test.cpp) knows it together with kStatusAbi: a change of
/// one is a change of the other.

namespace millrace {

inline constexpr std::uint64_t kEventFingerprint =
    fnv1a({sizeof(EventRecord),
           offsetof(EventRecord, time_tsc),
           offsetof(EventRecord, sequence),
           offsetof(EventRecord, source),
           offsetof(EventRecord, destination),
           offsetof(EventRecord, source_port),
           offsetof(EventRecord, destination_port),
           offsetof(EventRecord, lane),
           offsetof(EventRecord, packet),
           offsetof(EventRecord, stream),
           offsetof(EventRecord, kind),
           offsetof(EventRecord, function),
           offsetof(EventRecord, ip_version),
           offsetof(EventRecord, protocol),
           offsetof(EventRecord, payload),
           offsetof(AlertEvent, action),
           offsetof(AlertEvent, name),
           offsetof(AnomalyEvent, mac),
           offsetof(FlowEvent, bytes),
           offsetof(FlowEvent, lasted_ms),
           offsetof(FlowEvent, idle_ms),
           offsetof(FlowEvent, phase),
           offsetof(FlowEvent, reason),
           offsetof(FlowEvent, tcp),
           offsetof(FlowEvent, tcp_flags),
           offsetof(FlowEvent, is_translated),
           offsetof(FlowEvent, is_alerted),
           offsetof(TranslationEvent, destination),
           offsetof(TranslationEvent, source_port),
           offsetof(TranslationEvent, destination_port),
           offsetof(TranslationEvent, ip_version),
           offsetof(TranslationEvent, action),
           offsetof(TranslationEvent, scope),
           offsetof(SignatureEvent, sid),
           offsetof(SignatureEvent, gid),
           offsetof(SignatureEvent, revision),
           offsetof(SignatureEvent, transaction),
           offsetof(SignatureEvent, action),
           offsetof(SignatureEvent, priority),
           offsetof(SignatureEvent, direction),
           offsetof(SignatureEvent, scope),
           offsetof(SignatureEvent, app),
           offsetof(SignatureEvent, texts),
           offsetof(AnomalyEvent, app),
           offsetof(AnomalyEvent, direction),
           offsetof(AppEvent, direction),
           offsetof(AppEvent, app),
           offsetof(AppEvent, texts),
           offsetof(DropEvent, sid),
           offsetof(DropEvent, gid),
           offsetof(DropEvent, revision),
           offsetof(DropEvent, bytes),
           offsetof(DropEvent, reason),
           offsetof(DropEvent, priority),
           offsetof(DropEvent, direction),
           offsetof(EventText, kind),
           offsetof(EventText, place),
           offsetof(EventText, bytes),
           offsetof(EventText, back),
           sizeof(EventRing),
           offsetof(EventRing, tail),
           offsetof(EventRing, lost),
           offsetof(EventRing, lines),
           offsetof(EventRing, next_tail),
           offsetof(EventRing, next_lines),
           offsetof(EventRing, head),
           sizeof(EventSink),
           offsetof(EventSink, file_written),
           offsetof(EventSink, file_lost),
           offsetof(EventSink, client_written),
           offsetof(EventSink, client_lost),
           offsetof(EventSink, clients_cut),
           offsetof(EventSink, clients),
           offsetof(EventSink, ipfix_begun),
           offsetof(EventSink, ipfix_sent),
           offsetof(EventSink, ipfix_lost),
           offsetof(EventSink, intent_ring),
           offsetof(EventSink, intent_file),
           offsetof(EventSink, intent_offset),
           offsetof(EventSink, intent_head),
           offsetof(EventSink, intent_written),
           offsetof(EventSink, intent_lost),
           static_cast<std::uint64_t>(EventKind::kCount),
           static_cast<std::uint64_t>(AnomalyType::kCount),
           static_cast<std::uint64_t>(FlowTcpState::kCount),
           static_cast<std::uint64_t>(EventApp::kCount),
           static_cast<std::uint64_t>(EventDropReason::kCount),
           static_cast<std::uint64_t>(EventField::kCount),
           kEventTextsMax,
           kEventRingRecords});

}  // namespace millrace
