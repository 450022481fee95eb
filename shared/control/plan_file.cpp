// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/plan_file.hpp"

#include "shared/base/error.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {

void save_plan(const Plan& plan, const std::string& path) {
  write_whole_file(path, encode_plan(plan));
}

Plan load_plan(const std::string& path) {
  return while_doing(path, [&] { return decode_plan(read_whole_file(path, kPlanBytesMax)); });
}

}  // namespace millrace
