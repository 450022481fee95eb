// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <capnp/dynamic.h>

#include "shared/control/control.capnp.h"
#include "shared/control/plan_file.hpp"
#include "shared/control/plan_wire.hpp"
#include "shared/control/wire.hpp"

namespace millrace {
namespace {

using Reader = capnp::DynamicStruct::Reader;
using Field = capnp::StructSchema::Field;

template <PlanStruct Item>
void read_item(Item& item, Reader in);

void read_value(std::string& value, capnp::DynamicValue::Reader in) {
  value = wire::text(in.as<capnp::Text>());
}
void read_value(Settings::value_type& setting, capnp::DynamicValue::Reader in) {
  const auto pair = in.as<capnp::DynamicStruct>();
  read_value(setting.first, pair.get("key"));
  read_value(setting.second, pair.get("value"));
}
template <typename Value>
void read_value(Value& value, capnp::DynamicValue::Reader in) {
  if constexpr (PlanStruct<Value>) {
    read_item(value, in.template as<capnp::DynamicStruct>());
  } else {
    value = in.template as<Value>();
  }
}

template <typename Enum>
Enum read_enum(capnp::DynamicValue::Reader in, std::string_view name) {
  const std::uint16_t number = in.getType() == capnp::DynamicValue::ENUM
                                   ? in.as<capnp::DynamicEnum>().getRaw()
                                   : in.as<std::uint16_t>();
  if (number >= kEnumNames<Enum>.size()) {
    throw Error(std::string(name) + " " + std::to_string(number) + " is unknown");
  }
  return static_cast<Enum>(number);
}

template <typename Item, typename Value>
void read_field(const PlanField<Item, Value>& row, Value& value, Reader in, Field field) {
  if constexpr (std::is_enum_v<Value>) {
    value = read_enum<Value>(in.get(field), row.name);
  } else {
    read_value(value, in.get(field));
  }
}
template <typename Item, typename Value>
void read_field(const PlanField<Item, std::optional<Value>>& /*row*/, std::optional<Value>& value,
                Reader in, Field field) {
  if (in.has(field)) read_value(value.emplace(), in.get(field));
}
/// There is one when it names a collector.
void read_field(const PlanField<PlanEvents, std::optional<PlanIpfix>>& /*row*/,
                std::optional<PlanIpfix>& value, Reader in, Field /*field*/) {
  PlanIpfix ipfix;
  read_item(ipfix, in);
  if (!ipfix.collector.empty()) value = ipfix;
}
template <typename Item, typename Element>
void read_field(const PlanField<Item, std::vector<Element>>& row, std::vector<Element>& elements,
                Reader in, Field field) {
  const auto list = in.get(field).as<capnp::DynamicList>();
  if (list.size() > row.count_max) {
    throw Error(std::to_string(list.size()) + " " + std::string(row.name) + ", at most " +
                std::to_string(row.count_max));
  }
  elements.resize(list.size());
  for (unsigned i = 0; i < list.size(); ++i) read_value(elements[i], list[i]);
}

template <PlanStruct Item>
void read_item(Item& item, Reader in) {
  wire::each_schema_field<Item>(in.getSchema(), [&](const auto& row, Field field) {
    read_field(row, item.*row.member, in, field);
  });
}

Plan read_plan(wire::Plan::Reader in) {
  Plan plan;
  read_item(plan, in);
  return plan;
}

}  // namespace

Plan decode_plan(std::span<const std::byte> bytes) {
  if (bytes.size() > kPlanBytesMax) {
    throw Error("plan: " + std::to_string(bytes.size()) + " bytes, at most " +
                std::to_string(kPlanBytesMax));
  }
  return while_doing("plan", [&] {
    Plan plan = wire::read_message<wire::Plan>(bytes, "bytes", read_plan);
    check_plan(plan);
    return plan;
  });
}

}  // namespace millrace
