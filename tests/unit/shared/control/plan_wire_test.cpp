// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/plan_wire.hpp"

#include <capnp/schema.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "shared/control/control.capnp.h"

namespace millrace {
namespace {

using capnp::Schema;

TEST(PlanWire, NamesOfTheSchemaHaveUpperCaseLettersForUnderscores) {
  EXPECT_EQ(wire::camel_case("name"), "name");
  EXPECT_EQ(wire::camel_case("stand_in_slot_count"), "standInSlotCount");
}

/// Structs of which each field stands in the schema by itself.
template <typename Item, typename Wire>
void expect_same_fields() {
  const auto schema = Schema::from<Wire>();
  EXPECT_EQ(schema.getFields().size(), std::tuple_size_v<decltype(kPlanFields<Item>)>)
      << schema.getProto().getDisplayName().cStr();
  wire::each_schema_field<Item>(schema, [](const auto& row, capnp::StructSchema::Field field) {
    EXPECT_EQ(wire::camel_case(row.name), field.getProto().getName().cStr());
  });
}

TEST(PlanWire, EveryFieldOfTheSchemaHasARowAndEveryRowAField) {
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

TEST(PlanWire, TheCollectorOfFlowsStandsInTheStructOfEvents) {
  const capnp::StructSchema schema = Schema::from<wire::Events>();
  EXPECT_EQ(wire::schema_fields<PlanIpfix>(schema)[0].getProto().getName(), "collector");
  const std::size_t rows = std::tuple_size_v<decltype(kPlanFields<PlanEvents>)> - 1 +
                           std::tuple_size_v<decltype(kPlanFields<PlanIpfix>)>;
  EXPECT_EQ(schema.getFields().size(), rows);
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

TEST(PlanWire, EnumeratorsAreCalledAlike) {
  expect_same_names<Fallback, wire::Fallback>();
  expect_same_names<GroupKind, wire::GroupKind>();
  expect_same_names<Dispatch, wire::Dispatch>();
  expect_same_names<LanesBy, wire::LanesBy>();
  expect_same_names<ActorKind, wire::ActorKind>();
}

}  // namespace
}  // namespace millrace
