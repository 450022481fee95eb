// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tuple>

#include "shared/base/limits.hpp"
#include "shared/config/plan.hpp"
#include "shared/config/plan_field.hpp"

/// The list of the plan's fields: each stands here once, with its name, its member (plan.hpp says
/// what it means) and what is to be known of it beside its type. From this list come
///
///     plan.bin               plan_file.cpp (shared/control)
///     its checks             plan_check.cpp (shared/control): numbers of other items, lengths
///     `millrace plan --json` plan_json.cpp, in the order of the list
///     `millrace apply`       plan_diff.cpp: which fields need a restart
///
/// A new field is a member in plan.hpp, a row here, and a line of control.capnp, where it has the
/// same name in camelCase. A row that is missing does not compile; a line that is missing fails the
/// unit tests of shared/control.

namespace millrace {

inline constexpr std::size_t kSettingCountMax = 4096;  ///< of one item
/// Each pair of actors may have a link each way, and GPU workers one an incarnation.
inline constexpr std::size_t kLinkCountMax = std::size_t{2} * kActorCountMax * kActorCountMax;

template <>
inline constexpr auto kFields<PlanPort> = std::tuple{
    plan_field("name", &PlanPort::name).live(),
    plan_field("device", &PlanPort::device),
    plan_field("settings", &PlanPort::settings).list(kSettingCountMax, "setting").live(),
    plan_field("mtu", &PlanPort::mtu),
    plan_field("mac", &PlanPort::mac),
    plan_field("addresses", &PlanPort::addresses).list(kPortAddressCountMax, "address"),
    plan_field("host", &PlanPort::host).of(PlanTable::kPorts).follows(),
    plan_field("node", &PlanPort::node).follows(),
};

template <>
inline constexpr auto kFields<PlanFunction> = std::tuple{
    plan_field("name", &PlanFunction::name).live(),
    plan_field("type", &PlanFunction::type),
    plan_field("group", &PlanFunction::group).of(PlanTable::kGroups).show_as("on").called("on"),
    plan_field("settings", &PlanFunction::settings).list(kSettingCountMax, "setting").live(),
    plan_field("image", &PlanFunction::image).follows(),
    plan_field("when_class", &PlanFunction::when_class)
        .of(PlanTable::kClasses)
        .show_as("when")
        .live(),
    plan_field("class_mask", &PlanFunction::class_mask)
        .of(PlanTable::kClasses)
        .show_as("classes")
        .live(),
    plan_field("unavailable", &PlanFunction::unavailable),
    plan_field("overload", &PlanFunction::overload),
    plan_field("stateful", &PlanFunction::stateful).follows(),
    plan_field("lane_state_bytes", &PlanFunction::lane_state_bytes).called("size of its state"),
    plan_field("lane_undo_lines", &PlanFunction::lane_undo_lines).called("size of its state"),
    plan_field("counter_count", &PlanFunction::counter_count).hide().follows(),
    plan_field("share", &PlanFunction::share).hide(),
    plan_field("edition", &PlanFunction::edition).hide().follows(),
    plan_field("gone", &PlanFunction::gone).hide().live(),
};

template <>
inline constexpr auto kFields<PlanAutoscale> = std::tuple{
    plan_field("min", &PlanAutoscale::min),
    plan_field("max", &PlanAutoscale::max),
    plan_field("up", &PlanAutoscale::up),
    plan_field("down", &PlanAutoscale::down),
};

constexpr bool is_gpu(const PlanGroup& group) { return group.kind == GroupKind::kGpu; }
constexpr bool scales_itself(const PlanGroup& group) { return group.autoscale.min != 0; }

template <>
inline constexpr auto kFields<PlanGroup> = std::tuple{
    plan_field("name", &PlanGroup::name).live(),
    plan_field("kind", &PlanGroup::kind),
    plan_field("count", &PlanGroup::count).live(),
    plan_field("max", &PlanGroup::max),
    plan_field("dispatch", &PlanGroup::dispatch),
    plan_field("settings", &PlanGroup::settings).list(kSettingCountMax, "setting").live(),
    plan_field("stand_in", &PlanGroup::stand_in)
        .of(PlanTable::kGroups)
        .where(is_gpu)
        .called("the group beside it (on)"),
    plan_field("offload", &PlanGroup::offload).where(splits),
    plan_field("spill", &PlanGroup::spill).where(splits),
    plan_field("autoscale", &PlanGroup::autoscale).where(scales_itself).live(),
};

template <>
inline constexpr auto kFields<PlanStage> = std::tuple{
    plan_field("path", &PlanStage::path).of(PlanTable::kPaths).hide(),
    plan_field("group", &PlanStage::group).of(PlanTable::kGroups),
    plan_field("functions", &PlanStage::functions)
        .of(PlanTable::kFunctions)
        .list(kStageFunctionCountMax, "function")
        .live(),
    plan_field("next", &PlanStage::next).of(PlanTable::kStages).hide(),
    plan_field("stateful", &PlanStage::stateful).follows(),
    plan_field("share", &PlanStage::share),
    plan_field("lane_share", &PlanStage::lane_share),
    plan_field("edition", &PlanStage::edition).hide().follows(),
};

template <>
inline constexpr auto kFields<PlanTranslation::Range> = std::tuple{
    plan_field("first", &PlanTranslation::Range::first),
    plan_field("last", &PlanTranslation::Range::last),
};

template <>
inline constexpr auto kFields<PlanFixedAddress> = std::tuple{
    plan_field("outside", &PlanFixedAddress::outside),
    plan_field("inside", &PlanFixedAddress::inside),
    plan_field("count", &PlanFixedAddress::count),
    plan_field("protocol", &PlanFixedAddress::protocol),
    plan_field("port", &PlanFixedAddress::port),
};

template <>
inline constexpr auto kFields<PlanTranslation> = std::tuple{
    plan_field("inside", &PlanTranslation::inside)
        .of(PlanTable::kPorts)
        .list(kPortCountMax, "inside"),
    plan_field("pool", &PlanTranslation::pool).list(kTranslationEntryMax, "range of a pool"),
    plan_field("block", &PlanTranslation::block),
    plan_field("fixed", &PlanTranslation::fixed).list(kTranslationEntryMax, "fixed address"),
};

template <>
inline constexpr auto kFields<PlanPath> = std::tuple{
    plan_field("name", &PlanPath::name).live(),
    plan_field("first_stage", &PlanPath::first_stage)
        .of(PlanTable::kStages)
        .show_as("stages")
        .called("run"),
    plan_field("lane_first", &PlanPath::lane_first).called("lanes"),
    plan_field("lane_count", &PlanPath::lane_count).called("lanes"),
    plan_field("lanes_by", &PlanPath::lanes_by).called("lanes by what is translated"),
    plan_field("ordered", &PlanPath::ordered).called("order"),
    plan_field("has_keys", &PlanPath::has_keys).show_as("keys").live(),
    plan_field("match", &PlanPath::match),
    plan_field("filter", &PlanPath::filter)
        .list(kFilterInstructionMax, "instruction")
        .hide()
        .follows(),
    plan_field("translation", &PlanPath::translation).hide().called("what is translated"),
};

template <>
inline constexpr auto kFields<PlanStreamPath> = std::tuple{
    plan_field("path", &PlanStreamPath::path).of(PlanTable::kPaths),
    plan_field("output", &PlanStreamPath::output).of(PlanTable::kPorts),
    plan_field("slots_max", &PlanStreamPath::slots_max),
};

template <>
inline constexpr auto kFields<PlanStream> = std::tuple{
    plan_field("port", &PlanStream::port).of(PlanTable::kPorts),
    plan_field("queue", &PlanStream::queue),
    plan_field("paths", &PlanStream::paths).list(kPathCountMax, "path"),
    plan_field("ingress", &PlanStream::ingress).of(PlanTable::kActors).follows(),
    plan_field("egress", &PlanStream::egress).of(PlanTable::kActors),
    plan_field("slot_first", &PlanStream::slot_first).follows(),
    plan_field("slot_count", &PlanStream::slot_count),
    plan_field("buffer_first", &PlanStream::buffer_first).follows(),
    plan_field("buffer_count", &PlanStream::buffer_count),
};

constexpr bool plays_in_group(const PlanActor& actor) { return is_of_group(actor.kind); }
constexpr bool has_twin(const PlanActor& actor) { return actor.kind == ActorKind::kGpu; }

template <>
inline constexpr auto kFields<PlanActor> = std::tuple{
    plan_field("name", &PlanActor::name).follows(),
    plan_field("kind", &PlanActor::kind).follows(),
    plan_field("at_start", &PlanActor::at_start).follows(),
    plan_field("core", &PlanActor::core).live(),
    plan_field("node", &PlanActor::node).follows(),
    plan_field("twin", &PlanActor::twin).of(PlanTable::kActors).where(has_twin).follows(),
    plan_field("group", &PlanActor::group)
        .of(PlanTable::kGroups)
        .where(plays_in_group)
        .hide()
        .follows(),
    plan_field("index", &PlanActor::index).hide().follows(),
    plan_field("core_named", &PlanActor::core_named).hide().live(),
    plan_field("home", &PlanActor::home).hide().follows(),
};

template <>
inline constexpr auto kFields<PlanNode> = std::tuple{
    plan_field("number", &PlanNode::number),
    plan_field("cores", &PlanNode::cores).list(kCoreCountMax, "core"),
};

template <>
inline constexpr auto kFields<PlanEdition> = std::tuple{
    plan_field("number", &PlanEdition::number).of(PlanTable::kFunctions),
    plan_field("function", &PlanEdition::function),
};

template <>
inline constexpr auto kFields<PlanStageEdition> = std::tuple{
    plan_field("number", &PlanStageEdition::number).of(PlanTable::kStages),
    plan_field("functions", &PlanStageEdition::functions)
        .of(PlanTable::kFunctions)
        .list(kStageFunctionCountMax, "function"),
    plan_field("edition", &PlanStageEdition::edition),
};

template <>
inline constexpr auto kFields<PlanLink> = std::tuple{
    plan_field("producer", &PlanLink::producer).of(PlanTable::kActors),
    plan_field("consumer", &PlanLink::consumer).of(PlanTable::kActors),
    plan_field("depth", &PlanLink::depth),
};

template <>
inline constexpr auto kFields<PlanReason> = std::tuple{
    plan_field("name", &PlanReason::name),
    plan_field("cause", &PlanReason::cause),
    plan_field("summary", &PlanReason::summary),
};

template <>
inline constexpr auto kFields<PlanIpfix> = std::tuple{
    plan_field("collector", &PlanIpfix::collector),
    plan_field("domain", &PlanIpfix::domain),
};

template <>
inline constexpr bool kIsInlined<PlanIpfix> = true;

template <>
inline constexpr auto kFields<PlanEvents> = std::tuple{
    plan_field("file", &PlanEvents::file),   plan_field("rotate_bytes", &PlanEvents::rotate_bytes),
    plan_field("keep", &PlanEvents::keep),   plan_field("socket", &PlanEvents::socket),
    plan_field("ipfix", &PlanEvents::ipfix), plan_field("stats", &PlanEvents::stats_s),
};

template <>
inline constexpr auto kFields<Plan> = std::tuple{
    plan_field("name", &Plan::name),
    plan_field("batch_capacity", &Plan::batch_capacity).called("batch: capacity"),
    plan_field("heartbeat_limit_ms", &Plan::heartbeat_limit_ms).called("heartbeat_limit"),
    plan_field("crash_limit", &Plan::crash_limit),
    plan_field("fused", &Plan::fused).hide().called("placement"),
    plan_field("shared_cores", &Plan::shared_cores).follows(),
    plan_field("telemetry_listen", &Plan::telemetry_listen).called("telemetry: listen"),
    plan_field("events", &Plan::events),
    plan_field("ports", &Plan::ports).list(kPortCountMax, "port").live(),
    plan_field("groups", &Plan::groups).list(kGroupCountMax, "group").live(),
    plan_field("functions", &Plan::functions).list(kFunctionPlaceMax, "function").live(),
    plan_field("reasons", &Plan::reasons).list(kDeclaredReasonCountMax, "reason").live(),
    plan_field("paths", &Plan::paths).list(kPathCountMax, "path").live(),
    plan_field("streams", &Plan::streams).list(kStreamCountMax, "stream").live(),
    plan_field("actors", &Plan::actors).list(kActorCountMax, "actor").live(),
    plan_field("links", &Plan::links).list(kLinkCountMax, "link").follows(),
    plan_field("nodes", &Plan::nodes).list(kNodeCountMax, "node").follows(),
    plan_field("memory_node", &Plan::memory_node).follows(),
    plan_field("classes", &Plan::classes).list(kClassCountMax, "class").hide().live(),
    plan_field("stages", &Plan::stages).list(kStageCountMax, "stage").hide().live(),
    plan_field("buffer_stride", &Plan::buffer_stride).hide().live(),
    plan_field("slot_count", &Plan::slot_count).hide().follows(),
    plan_field("stand_in_slot_count", &Plan::stand_in_slot_count).hide().follows(),
    plan_field("buffer_count", &Plan::buffer_count).hide().follows(),
    plan_field("side_first", &Plan::side_first).hide().follows(),
    plan_field("side_count", &Plan::side_count).hide().follows(),
    plan_field("neighbour_count", &Plan::neighbour_count).called("neighbour_limit"),
    plan_field("secrets", &Plan::secrets).list(kSettingCountMax, "secret").hide().follows(),
    plan_field("sources", &Plan::sources).list(kSettingCountMax, "source").hide().follows(),
    plan_field("hash", &Plan::hash).hide().follows(),
    plan_field("generation", &Plan::generation).hide().follows(),
    plan_field("revision", &Plan::revision).hide().follows(),
    plan_field("others", &Plan::others).list(kFunctionPlaceMax, "other edition").hide().follows(),
    plan_field("other_stages", &Plan::other_stages)
        .list(kStageCountMax, "other list")
        .hide()
        .follows(),
    plan_field("spare_counters", &Plan::spare_counters).hide().follows(),
};

static_assert(have_all_rows<PlanPort, PlanFunction, PlanAutoscale, PlanGroup, PlanStage>());
static_assert(have_all_rows<PlanTranslation::Range, PlanFixedAddress, PlanTranslation, PlanPath>());
static_assert(have_all_rows<PlanStreamPath, PlanStream, PlanActor, PlanNode, PlanLink>());
static_assert(have_all_rows<PlanEdition, PlanStageEdition, PlanReason, PlanIpfix, PlanEvents>());
static_assert(have_all_rows<Plan>());

}  // namespace millrace
