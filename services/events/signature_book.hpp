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
/// That the record names. Nothing: it names none.
std::optional<NamedSignature> named_signature(const EventRecord& record) noexcept;

/// Names of signatures of all functions of a topology: of the images in use, and of each function
/// the image before, whose records may still be under way. One thread.
class SignatureBook {
 public:
  /// Reads what is new: of the functions as they compute, and of the editions beside them. Returns
  /// what cannot be read; that is tried again with the next plan.
  std::vector<std::string> use(const Plan& plan);
  /// Of a record that names a signature (kSignature, kDrop): that of its revision, else of the
  /// newest one. Null: nothing is known. Good until use().
  const SignatureName* find(const EventRecord& record) const noexcept;
  /// How many signatures each function has that has any, by number in the plan.
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
