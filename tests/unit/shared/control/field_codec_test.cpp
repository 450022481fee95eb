// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/field_codec.hpp"

#include <capnp/schema.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "shared/config/plan_fields.hpp"
#include "shared/control/control.capnp.h"
#include "shared/control/message_fields.hpp"
#include "shared/control/run_state.capnp.h"
#include "shared/control/run_state_fields.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using capnp::Schema;

TEST(FieldCodec, NamesOfTheSchemaHaveUpperCaseLettersForUnderscores) {
  EXPECT_EQ(wire::camel_case("name"), "name");
  EXPECT_EQ(wire::camel_case("stand_in_slot_count"), "standInSlotCount");
  EXPECT_EQ(wire::camel_case("follow plan"), "followPlan");
}

/// Structs of which each field stands in the schema by itself; `others`: what the schema has
/// beside.
template <typename Item, typename Wire>
void expect_same_fields(std::size_t others = 0) {
  const auto schema = Schema::from<Wire>();
  EXPECT_EQ(schema.getFields().size(), kFieldRows<Item> + others)
      << schema.getProto().getDisplayName().cStr();
  wire::each_schema_field<Item>(schema, [](const auto& row, capnp::StructSchema::Field field) {
    EXPECT_EQ(wire::camel_case(row.name), field.getProto().getName().cStr());
  });
}

TEST(FieldCodec, EveryFieldOfTheSchemaHasARowAndEveryRowAField) {
  expect_same_fields<Plan, wire::Plan>();
  expect_same_fields<PlanPort, wire::Port>();
  expect_same_fields<PlanFunction, wire::Function>();
  expect_same_fields<PlanEdition, wire::Edition>();
  expect_same_fields<PlanStageEdition, wire::StageEdition>();
  expect_same_fields<PlanGroup, wire::Group>();
  expect_same_fields<PlanAutoscale, wire::Autoscale>();
  expect_same_fields<PlanStage, wire::Stage>();
  expect_same_fields<PlanPath, wire::Path>();
  expect_same_fields<PlanTranslation, wire::Translation>();
  expect_same_fields<PlanTranslation::Range, wire::AddressRange>();
  expect_same_fields<PlanFixedAddress, wire::FixedAddress>();
  expect_same_fields<PlanStream, wire::Stream>();
  expect_same_fields<PlanStreamPath, wire::StreamPath>();
  expect_same_fields<PlanActor, wire::Actor>();
  expect_same_fields<PlanNode, wire::Node>();
  expect_same_fields<PlanLink, wire::Link>();
  expect_same_fields<PlanReason, wire::Reason>();
}

TEST(FieldCodec, SoItIsOfMessages) {
  expect_same_fields<Event, wire::Event>();
  expect_same_fields<Drain, wire::Drain>();
  expect_same_fields<ActorStatus, wire::ActorStatus>();
  expect_same_fields<NamedCount, wire::NamedCount>();
  expect_same_fields<StatusReply, wire::StatusReply>();
  expect_same_fields<AuditLane, wire::AuditLane>();
  expect_same_fields<AuditReply, wire::AuditReply>();
  expect_same_fields<GroupCount, wire::Scale>();
  expect_same_fields<ChangeRequest, wire::Change>();
  expect_same_fields<ChangeReply, wire::ChangeReply>();
  expect_same_fields<SetService, wire::Service>();
}

TEST(FieldCodec, SoItIsOfTheStateOfARun) {
  expect_same_fields<PostState, wire::PostState>();
  expect_same_fields<WantedWorkers, wire::WantedWorkers>();
  expect_same_fields<TableFacts, wire::TableFacts>();
  expect_same_fields<TableFileFacts, wire::TableFileFacts>();
  expect_same_fields<ConfigFacts, wire::ConfigFacts>(1);  // hasBypass
  expect_same_fields<ConfirmDeadline, wire::ConfirmDeadline>();
  expect_same_fields<RemoteControl, wire::RemoteControl>();
  expect_same_fields<RunState, wire::RunState>(1);  // mark
}

TEST(FieldCodec, TheCollectorOfFlowsStandsInTheStructOfEvents) {
  const capnp::StructSchema schema = Schema::from<wire::Events>();
  EXPECT_EQ(wire::schema_fields<PlanIpfix>(schema)[0].getProto().getName(), "collector");
  EXPECT_EQ(schema.getFields().size(), kFieldRows<PlanEvents> - 1 + kFieldRows<PlanIpfix>);
}

template <typename Enum, typename Wire>
void expect_same_names() {
  const auto enumerants = Schema::from<Wire>().getEnumerants();
  ASSERT_EQ(enumerants.size(), kEnumNames<Enum>.size());
  for (const auto enumerant : enumerants) {
    EXPECT_EQ(enum_name(static_cast<Enum>(enumerant.getOrdinal())),
              enumerant.getProto().getName().cStr());
  }
}

TEST(FieldCodec, EnumeratorsAreCalledAlike) {
  expect_same_names<Fallback, wire::Fallback>();
  expect_same_names<GroupKind, wire::GroupKind>();
  expect_same_names<Dispatch, wire::Dispatch>();
  expect_same_names<LanesBy, wire::LanesBy>();
  expect_same_names<ActorKind, wire::ActorKind>();
  expect_same_names<Severity, wire::Severity>();
}

TEST(FieldCodec, AnEnumeratorThatTheReaderDoesNotKnowIsRefused) {
  capnp::MallocMessageBuilder message;
  auto event = message.initRoot<wire::Event>();
  event.setSeverity(static_cast<wire::Severity>(3));
  Event read;
  EXPECT_EQ(test::error_of([&] { wire::read_item(read, event.asReader()); }),
            "severity 3 is unknown");
  event.setSeverity(wire::Severity::ERROR);
  wire::read_item(read, event.asReader());
  EXPECT_EQ(read.severity, Severity::kError);
}

TEST(FieldCodec, AListAboveItsLimitIsRefused) {
  capnp::MallocMessageBuilder message;
  auto reply = message.initRoot<wire::ChangeReply>();
  reply.initLines(kReplyLinesMax);
  ChangeReply read;
  wire::read_item(read, reply.asReader());
  EXPECT_EQ(read.lines.size(), kReplyLinesMax);
  reply.initLines(kReplyLinesMax + 1);
  EXPECT_EQ(test::error_of([&] { wire::read_item(read, reply.asReader()); }),
            "257 lines, at most 256");
}

}  // namespace
}  // namespace millrace
