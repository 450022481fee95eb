// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "shared/base/limits.hpp"
#include "shared/config/field.hpp"
#include "shared/config/observers.hpp"
#include "shared/control/messages.hpp"

/// The fields of control messages (messages.hpp), of which their codec is made. A new field is a
/// member there, a row here, and a line of control.capnp. A row that is missing does not compile; a
/// line that is missing fails the unit tests of shared/control.

namespace millrace {

inline constexpr std::size_t kEventCountMax = 1024;  ///< of a status reply
inline constexpr std::size_t kNamedCountMax = 256;   ///< of one list
inline constexpr std::size_t kProcessCountMax = kActorCountMax + kObserverCount;  ///< of a plan

template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Severity> = {"info", "warning",
                                                                         "error"};

template <>
inline constexpr auto kFields<ErrorReply> = std::tuple{field_row("text", &ErrorReply::text)};

template <>
inline constexpr auto kFields<Ready> = std::tuple{field_row("actor", &Ready::actor)};

template <>
inline constexpr auto kFields<Event> = std::tuple{
    field_row("severity", &Event::severity), field_row("kind", &Event::kind),
    field_row("actor", &Event::actor),       field_row("text", &Event::text),
    field_row("number", &Event::number),     field_row("time_ns", &Event::time_ns),
};

template <>
inline constexpr auto kFields<Drain> = std::tuple{
    field_row("actor", &Drain::actor),
    field_row("on", &Drain::on),
};

template <>
inline constexpr auto kFields<FollowPlan> =
    std::tuple{field_row("revision", &FollowPlan::revision)};

template <>
inline constexpr auto kFields<ActorStatus> = std::tuple{
    field_row("actor", &ActorStatus::actor),
    field_row("name", &ActorStatus::name),
    field_row("state", &ActorStatus::state),
    field_row("pid", &ActorStatus::pid),
    field_row("incarnation", &ActorStatus::incarnation),
    field_row("restarts", &ActorStatus::restarts),
    field_row("packets", &ActorStatus::packets),
    field_row("batches", &ActorStatus::batches),
    field_row("heartbeat_age_ms", &ActorStatus::heartbeat_age_ms),
    field_row("note", &ActorStatus::note),
};

template <>
inline constexpr auto kFields<NamedCount> = std::tuple{
    field_row("name", &NamedCount::name),
    field_row("count", &NamedCount::count),
};

template <>
inline constexpr auto kFields<StatusReply> = std::tuple{
    field_row("topology", &StatusReply::topology),
    field_row("phase", &StatusReply::phase),
    field_row("run_dir", &StatusReply::run_dir),
    field_row("up_ns", &StatusReply::up_ns),
    field_row("actors", &StatusReply::actors).list(kProcessCountMax),
    field_row("events", &StatusReply::events).list(kEventCountMax),
    field_row("skipped", &StatusReply::skipped).list(kNamedCountMax),
    field_row("refused", &StatusReply::refused).list(kNamedCountMax),
    field_row("out", &StatusReply::out).list(kFunctionPlaceMax),
    field_row("generation", &StatusReply::generation),
    field_row("hash", &StatusReply::hash),
    field_row("differs", &StatusReply::differs),
    field_row("confirm_seconds", &StatusReply::confirm_seconds),
    field_row("taking_back", &StatusReply::taking_back),
    field_row("drained", &StatusReply::drained),
    field_row("offload", &StatusReply::offload).list(kNamedCountMax),
};

template <>
inline constexpr auto kFields<AuditLane> = std::tuple{
    field_row("stream", &AuditLane::stream),     field_row("lane", &AuditLane::lane),
    field_row("received", &AuditLane::received), field_row("transmitted", &AuditLane::transmitted),
    field_row("dropped", &AuditLane::dropped),   field_row("in_flight", &AuditLane::in_flight),
};

template <>
inline constexpr auto kFields<AuditReply> = std::tuple{
    field_row("by", &AuditReply::by),
    field_row("exact", &AuditReply::exact),
    field_row("quiet", &AuditReply::quiet),
    field_row("received", &AuditReply::received),
    field_row("transmitted", &AuditReply::transmitted),
    field_row("in_flight", &AuditReply::in_flight),
    field_row("unaccounted", &AuditReply::unaccounted),
    field_row("loops", &AuditReply::loops).list(kNamedCountMax),
    field_row("dropped", &AuditReply::dropped).list(kNamedCountMax),
    field_row("generated", &AuditReply::generated).list(kNamedCountMax),
    field_row("consumed", &AuditReply::consumed).list(kNamedCountMax),
    field_row("slots", &AuditReply::slots).list(kNamedCountMax),
    field_row("buffers", &AuditReply::buffers).list(kNamedCountMax),
    field_row("lanes", &AuditReply::lanes).list(kStreamCountMax* kLaneCountMax),
    field_row("problems", &AuditReply::problems).list(kReplyLinesMax),
};

template <>
inline constexpr auto kFields<GroupCount> = std::tuple{
    field_row("group", &GroupCount::group),
    field_row("count", &GroupCount::count),
};

template <>
inline constexpr auto kFields<ChangeRequest> = std::tuple{
    field_row("reload", &ChangeRequest::reload).list(kFunctionCountMax),
    field_row("scale", &ChangeRequest::scale).list(kGroupCountMax),
    field_row("plan", &ChangeRequest::plan),
    field_row("confirm_seconds", &ChangeRequest::confirm_seconds),
    field_row("what", &ChangeRequest::what),
    field_row("accept_refused", &ChangeRequest::accept_refused),
    field_row("rollback", &ChangeRequest::rollback),
    field_row("upgrade", &ChangeRequest::upgrade),
    field_row("accept_shrunk", &ChangeRequest::accept_shrunk),
};

template <>
inline constexpr auto kFields<ChangeReply> = std::tuple{
    field_row("generation", &ChangeReply::generation),
    field_row("lines", &ChangeReply::lines).list(kReplyLinesMax),
};

template <>
inline constexpr auto kFields<SetService> = std::tuple{
    field_row("function", &SetService::function),
    field_row("out", &SetService::out),
};

static_assert(have_all_rows<ErrorReply, Ready, Event, Drain, FollowPlan, ActorStatus>());
static_assert(have_all_rows<NamedCount, StatusReply, AuditLane, AuditReply, GroupCount>());
static_assert(have_all_rows<ChangeRequest, ChangeReply, SetService>());

}  // namespace millrace
