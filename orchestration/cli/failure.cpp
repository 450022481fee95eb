// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/failure.hpp"

#include <nlohmann/json.hpp>

#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/sgr.hpp"
#include "orchestration/planner/problem.hpp"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

void print_text(const std::vector<Problem>& problems, std::size_t total, bool colour,
                std::ostream& out) {
  for (const Problem& problem : problems) {
    const std::string text = to_text(problem);
    const std::size_t place = text.find(": found ");
    if (colour) {
      out << sgr::kBold << text.substr(0, place) << sgr::kPlain << ": " << sgr::kRed
          << text.substr(place + 2) << sgr::kPlain << '\n';
    } else {
      out << text << '\n';
    }
  }
  if (total > problems.size()) out << "and " << total - problems.size() << " more\n";
}

void print_json(const Json& json, std::ostream& out) { out << json_text(json) << '\n'; }

Json problems_json(const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems) {
    list.push_back({{"file", problem.mark.file},
                    {"line", problem.mark.line},
                    {"column", problem.mark.column},
                    {"found", problem.found},
                    {"allowed", problem.allowed},
                    {"nearest", problem.nearest},
                    {"text", to_text(problem)}});
  }
  return list;
}

}  // namespace

void print_failure(const Error& error, Format format, bool colour, std::ostream& out) {
  const auto* refused = dynamic_cast<const TopologyError*>(&error);
  if (format == Format::kJson) {
    Json json = {{"ok", false}};
    if (refused != nullptr) {
      json["problems"] = problems_json(refused->problems());
      json["total"] = refused->total();
    } else {
      json["error"] = error.what();
    }
    print_json(json, out);
  } else if (refused != nullptr) {
    print_text(refused->problems(), refused->total(), colour, out);
  } else {
    out << (colour ? sgr::kRed : "") << "millrace: " << error.what() << (colour ? sgr::kPlain : "")
        << '\n';
  }
}

}  // namespace millrace
