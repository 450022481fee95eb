// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/live/kernel_rib.hpp"

#include <algorithm>

namespace millrace {

void KernelRib::clear() {
  first_.clear();
  others_.clear();
}

std::vector<KernelRib::Candidate> KernelRib::all_of(const PrefixKey& key) const {
  std::vector<Candidate> all;
  const auto first = first_.find(key);
  if (first == first_.end()) return all;
  all.push_back(first->second);
  const auto others = others_.find(key);
  if (others != others_.end()) all.insert(all.end(), others->second.begin(), others->second.end());
  return all;
}

void KernelRib::put(const PrefixKey& key, const std::vector<Candidate>& all) {
  if (all.empty()) {
    first_.erase(key);
  } else {
    first_[key] = all.front();
  }
  if (all.size() < 2) {
    others_.erase(key);
  } else {
    others_[key].assign(all.begin() + 1, all.end());
  }
}

bool KernelRib::add(const PrefixKey& key, Candidate candidate, Place place) {
  const auto [first, fresh] = first_.try_emplace(key, candidate);
  if (fresh || first->second == candidate) return fresh;
  std::vector<Candidate> all = all_of(key);
  if (std::ranges::find(all, candidate) != all.end()) return false;
  const auto from = std::ranges::lower_bound(all, candidate.metric, {}, &Candidate::metric);
  const auto to = std::ranges::upper_bound(all, candidate.metric, {}, &Candidate::metric);
  if (place == Place::kReplace && from != to) {
    *from = candidate;
  } else {
    all.insert(place == Place::kBefore ? from : to, candidate);
  }
  put(key, all);
  return true;
}

bool KernelRib::remove(const PrefixKey& key, Candidate candidate) {
  std::vector<Candidate> all = all_of(key);
  const auto at = std::ranges::find(all, candidate);
  if (at == all.end()) return false;
  all.erase(at);
  put(key, all);
  return true;
}

void KernelRib::remove_first(const PrefixKey& key, std::uint32_t metric) {
  std::vector<Candidate> all = all_of(key);
  const auto at = std::ranges::find(all, metric, &Candidate::metric);
  if (at == all.end()) return;
  all.erase(at);
  put(key, all);
}

bool KernelRib::has_metric(const PrefixKey& key, std::uint32_t metric) const {
  const std::vector<Candidate> all = all_of(key);
  return std::ranges::find(all, metric, &Candidate::metric) != all.end();
}

std::optional<std::uint32_t> KernelRib::best(const PrefixKey& key) const {
  const auto at = first_.find(key);
  if (at == first_.end()) return std::nullopt;
  return at->second.hop;
}

void KernelRib::for_each(const std::function<void(const PrefixKey&)>& visit) const {
  for (const auto& [key, candidate] : first_) visit(key);
}

}  // namespace millrace
