// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tuple>

#include "shared/config/field.hpp"
#include "shared/control/run_state.hpp"

/// The fields of a run's state (run_state.hpp), of which its file is made. A new field is a member
/// there, a row here, and a line of run_state.capnp. A row that is missing does not compile; a line
/// that is missing fails the unit tests of shared/control.

namespace millrace {

/// Posts, functions and files of a run are far fewer: the plan has limits of its own.
inline constexpr std::size_t kStateItemsMax = std::size_t{1} << 16;

template <>
inline constexpr auto kFields<PostState> = std::tuple{
    field_row("name", &PostState::name),
    field_row("wanted", &PostState::wanted),
    field_row("restarts", &PostState::restarts),
    field_row("end", &PostState::end),
};

template <>
inline constexpr auto kFields<WantedWorkers> = std::tuple{
    field_row("group", &WantedWorkers::group),
    field_row("count", &WantedWorkers::count),
};

template <>
inline constexpr auto kFields<TableFileFacts> = std::tuple{
    field_row("path", &TableFileFacts::path),
    field_row("accepted", &TableFileFacts::accepted),
};

template <>
inline constexpr auto kFields<TableFacts> = std::tuple{
    field_row("function", &TableFacts::function),
    field_row("generation", &TableFacts::generation),
    field_row("accepted", &TableFacts::accepted),
    field_row("refused", &TableFacts::refused),
    field_row("files", &TableFacts::files).list(kStateItemsMax),
};

template <>
inline constexpr auto kFields<ConfigFacts> = std::tuple{
    field_row("generation", &ConfigFacts::generation),
    field_row("hash", &ConfigFacts::hash),
    field_row("differs", &ConfigFacts::differs),
    field_row("reloads_done", &ConfigFacts::reloads_done),
    field_row("reloads_refused", &ConfigFacts::reloads_refused),
    field_row("control_refused", &ConfigFacts::control_refused),
    field_row("bypass", &ConfigFacts::bypass),
    field_row("changed_ns", &ConfigFacts::changed_ns),
    field_row("failed_ns", &ConfigFacts::failed_ns),
};

template <>
inline constexpr auto kFields<ConfirmDeadline> = std::tuple{
    field_row("time_ns", &ConfirmDeadline::time_ns),
    field_row("generation", &ConfirmDeadline::generation),
    field_row("boot", &ConfirmDeadline::boot),
};

template <>
inline constexpr auto kFields<RemoteControl> = std::tuple{
    field_row("address", &RemoteControl::address),
    field_row("key", &RemoteControl::key),
    field_row("clients", &RemoteControl::clients).list(kStateItemsMax),
};

template <>
inline constexpr auto kFields<RunState> = std::tuple{
    field_row("stopping", &RunState::stopping),
    field_row("posts", &RunState::posts).list(kStateItemsMax),
    field_row("wanted", &RunState::wanted).list(kStateItemsMax),
    field_row("tables", &RunState::tables).list(kStateItemsMax),
    field_row("config", &RunState::config),
    field_row("deadline", &RunState::deadline),
    field_row("control", &RunState::control),
};

static_assert(have_all_rows<PostState, WantedWorkers, TableFileFacts, TableFacts>());
static_assert(have_all_rows<ConfigFacts, ConfirmDeadline>());
static_assert(have_all_rows<RemoteControl, RunState>());

}  // namespace millrace
