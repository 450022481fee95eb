// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/signature_counts.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "services/functions/image_file.hpp"
#include "shared/base/error.hpp"
#include "shared/base/say.hpp"

namespace millrace {
namespace {

/// The counters of a function by number, summed over all actors.
std::vector<std::uint64_t> sums_of(const StatusSource& source, std::uint32_t function) {
  const std::uint32_t first = function_counter_first(source.plan, function);
  std::vector<std::uint64_t> sums(source.plan.functions[function].counter_count);
  for (std::uint32_t actor = 0; actor < source.plan.actors.size(); ++actor) {
    for (std::uint32_t number = 0; number < sums.size(); ++number) {
      std::uint64_t& word = source.status.function_counters(actor, first + number, 1)[0];
      sums[number] += std::atomic_ref(word).load(std::memory_order_relaxed);
    }
  }
  return sums;
}

bool has_names(const std::string& image) {
  return ::access(names_beside_image(image).c_str(), F_OK) == 0;
}

/// The message as a label, whatever the rule holds: Prometheus refuses a scrape that is no UTF-8.
std::string label_text(std::string_view message) {
  std::string text(message);
  std::ranges::replace_if(
      text, [](char one) { return one < ' ' || one > '~'; }, '?');
  return text;
}

}  // namespace

/// Follows the function's image. A process that starts after the functions' first tables does not
/// know for which table earlier hits counted, and counts from its start on.
void SignatureCounts::follow(const PlanFunction& function, const std::vector<std::uint64_t>& sums,
                             Counted& counted) {
  if (counted.image == function.image || !has_names(function.image)) return;
  std::shared_ptr<const SignatureNames> names;
  try {
    names = std::make_shared<const SignatureNames>(names_beside_image(function.image));
  } catch (const Error& error) {
    say("telemetry", error.what());
    return;
  }
  if (counted.names) {
    for (const SignatureName& name : counted.names->all()) {
      if (name.number >= sums.size()) break;
      const std::uint64_t hits = sums[name.number] - counted.before[name.number];
      if (hits != 0) counted.earlier[{name.gid, name.sid}] += hits;
    }
  }
  const bool from_the_start = !counted.names && function.edition == 0;
  counted.before = from_the_start ? std::vector<std::uint64_t>(sums.size()) : sums;
  counted.names = std::move(names);
  counted.image = function.image;
}

void SignatureCounts::add(const PlanFunction& function, const std::vector<std::uint64_t>& sums,
                          Counted& counted, Families& families) {
  std::map<Key, std::uint64_t> hits = counted.earlier;
  for (const SignatureName& name : counted.names->all()) {
    if (name.number >= sums.size()) break;
    const std::uint64_t more = sums[name.number] - counted.before[name.number];
    if (more != 0) hits[{name.gid, name.sid}] += more;
  }
  std::uint64_t others = 0;
  for (const auto& [key, count] : hits) {
    const bool is_shown = std::ranges::count(counted.shown, key) != 0;
    if (!is_shown && counted.shown.size() >= kSeriesMax) {
      others += count;
      continue;
    }
    if (!is_shown) counted.shown.push_back(key);
    const SignatureName* const name = counted.names->find(key.first, key.second);
    families.add(Metric::kSignatureHits,
                 {function.name, std::to_string(key.first), std::to_string(key.second),
                  name == nullptr ? "" : std::to_string(name->priority),
                  name == nullptr ? "" : label_text(name->message)},
                 static_cast<double>(count));
  }
  if (others == 0) return;
  families.add(Metric::kSignatureHits, {function.name, "", "", "", "others"},
               static_cast<double>(others));
}

void SignatureCounts::add(const StatusSource& source, Families& families) {
  for (std::uint32_t id = 0; id < source.plan.functions.size(); ++id) {
    const PlanFunction& function = source.plan.functions[id];
    if (function.gone || function.image.empty()) continue;
    if (!functions_.contains(id) && !has_names(function.image)) continue;
    const std::vector<std::uint64_t> sums = sums_of(source, id);
    Counted& counted = functions_[id];
    follow(function, sums, counted);
    if (counted.names) add(function, sums, counted, families);
  }
}

}  // namespace millrace
