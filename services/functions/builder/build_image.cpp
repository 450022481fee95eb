// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/builder/build_image.hpp"

#include <nlohmann/json.hpp>

#include "services/functions/table.hpp"
#include "shared/base/error.hpp"

namespace millrace {

BuildReport build_image(const FunctionContext& context) {
  const PlanFunction& function = context.function;
  const FunctionType& type = function_type(function.type);
  if (type.build == nullptr) throw Error("functions of type " + function.type + " have no table");
  if (function.image.empty()) throw Error("function " + function.name + ": no path for its image");
  while_doing("function " + function.name, [&] { type.check(function); });
  return type.build(context);
}

BuildReport build_image(const Plan& plan, std::uint32_t function, std::string_view run_dir) {
  if (function >= plan.functions.size()) {
    throw Error("function number " + std::to_string(function) + " of " +
                std::to_string(plan.functions.size()) + "; they are counted from 0");
  }
  const PlanFunction& wanted = plan.functions[function];
  const bool on_device =
      wanted.group < plan.groups.size() && plan.groups[wanted.group].kind == GroupKind::kGpu;
  return build_image({.function = wanted,
                      .ports = plan.ports,
                      .on_device = on_device,
                      .paths = plan.paths,
                      .run_dir = run_dir});
}

std::string report_json(const BuildReport& report) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const TableFile& file : report.files) {
    files.push_back({{"path", file.path}, {"accepted", file.accepted}});
  }
  const nlohmann::ordered_json json = {{"accepted", report.accepted},
                                       {"refused", report.refused},
                                       {"counter_count", report.counter_count},
                                       {"refusals", report.refusals},
                                       {"files", files}};
  // Paths and lines may hold any bytes.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace millrace
