// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/signature_book.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "services/functions/image_file.hpp"
#include "shared/base/error.hpp"

namespace millrace {

std::optional<NamedSignature> named_signature(const EventRecord& record) noexcept {
  if (record.kind == EventKind::kSignature) {
    const SignatureEvent& event = record.signature;
    return NamedSignature{.gid = event.gid, .sid = event.sid, .revision = event.revision};
  }
  if (record.kind != EventKind::kDrop || record.drop.gid == 0) return std::nullopt;
  const DropEvent& event = record.drop;
  return NamedSignature{.gid = event.gid, .sid = event.sid, .revision = event.revision};
}

void SignatureBook::read(const std::string& image, Editions& editions,
                         std::vector<std::string>& problems) {
  if (std::ranges::count(editions, image, &Edition::image) != 0) return;
  const std::string path = names_beside_image(image);
  if (::access(path.c_str(), F_OK) != 0) return;
  try {
    editions.insert(editions.begin(), {image, std::make_shared<const SignatureNames>(path)});
  } catch (const Error& error) {
    problems.emplace_back(error.what());
  }
}

std::vector<std::string> SignatureBook::use(const Plan& plan) {
  std::vector<std::string> problems;
  functions_.resize(std::max(functions_.size(), plan.functions.size()));
  for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
    std::vector<std::string> images = {plan.functions[i].image};
    for (const PlanEdition& other : plan.others) {
      if (other.number == i) images.push_back(other.function.image);
    }
    Editions& editions = functions_[i];
    for (const std::string& image : images) {
      if (!image.empty()) read(image, editions, problems);
    }
    bool has_last = false;
    std::erase_if(editions, [&](const Edition& edition) {
      return std::ranges::count(images, edition.image) == 0 && std::exchange(has_last, true);
    });
  }
  return problems;
}

std::vector<std::uint64_t> SignatureBook::counts() const {
  std::vector<std::uint64_t> all;
  for (const Editions& editions : functions_) {
    if (!editions.empty()) all.push_back(editions.front().names->all().size());
  }
  return all;
}

const SignatureName* SignatureBook::find(const EventRecord& record) const noexcept {
  if (record.function >= functions_.size()) return nullptr;
  const auto asked = named_signature(record);
  if (!asked) return nullptr;
  const SignatureName* newest = nullptr;
  for (const Edition& edition : functions_[record.function]) {
    const SignatureName* const found = edition.names->find(asked->gid, asked->sid);
    if (found == nullptr) continue;
    if (found->revision == asked->revision) return found;
    if (newest == nullptr) newest = found;
  }
  return newest;
}

}  // namespace millrace
