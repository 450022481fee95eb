// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/plan_file.hpp"

#include "shared/base/error.hpp"
#include "shared/config/plan_fields.hpp"
#include "shared/control/control.capnp.h"
#include "shared/control/field_codec.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {

void save_plan(const Plan& plan, const std::string& path) {
  const std::vector<std::byte> bytes = encode_plan(plan);
  if (bytes.size() > kPlanBytesMax) {
    throw Error(path + ": a plan of " + std::to_string(bytes.size()) + " bytes, at most " +
                std::to_string(kPlanBytesMax));
  }
  write_whole_file(path, bytes);
}

Plan load_plan(const std::string& path) {
  return while_doing(path, [&] { return decode_plan(read_whole_file(path, kPlanBytesMax)); });
}

std::vector<std::byte> encode_plan(const Plan& plan) {
  capnp::MallocMessageBuilder message;
  wire::write_item<Plan>(message.initRoot<wire::Plan>(), plan);
  return wire::message_bytes(message);
}

Plan decode_plan(std::span<const std::byte> bytes) {
  if (bytes.size() > kPlanBytesMax) {
    throw Error("plan: " + std::to_string(bytes.size()) + " bytes, at most " +
                std::to_string(kPlanBytesMax));
  }
  return while_doing("plan", [&] {
    Plan plan;
    wire::read_message<wire::Plan>(bytes, "bytes",
                                   [&](wire::Plan::Reader in) { wire::read_item(plan, in); });
    check_plan(plan);
    return plan;
  });
}

}  // namespace millrace
