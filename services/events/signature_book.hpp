// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/functions/ids/signature_names.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/event_record.hpp"

namespace millrace {

struct NamedSignature {
  std::uint32_t gid, sid, revision;
};
/// The signature that the record names; nothing if it names none.
std::optional<NamedSignature> named_signature(const EventRecord& record) noexcept;

/// Names of the signatures of all functions of a topology: of the images in use, and of the image
/// before, as its records may still be in a ring. One thread.
class SignatureBook {
 public:
  /// Reads the new images: those in use, and editions beside them. Returns what cannot be read; it
  /// is tried again with the next plan.
  std::vector<std::string> use(const Plan& plan);
  /// The name of a record's signature (kSignature, kDrop): of its revision, else of the newest one.
  /// Null: unknown. Valid until use().
  const SignatureName* find(const EventRecord& record) const noexcept;
  /// The number of signatures of each function, by the function's number in the plan.
  std::vector<std::uint64_t> counts() const;

 private:
  struct Edition {
    std::string image;
    std::shared_ptr<const SignatureNames> names;
  };
  using Editions = std::vector<Edition>;  ///< the newest one first

  static void read(const std::string& image, Editions& editions,
                   std::vector<std::string>& problems);

  std::vector<Editions> functions_;  ///< by number in the plan
};

}  // namespace millrace
