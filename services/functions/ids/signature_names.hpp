// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "services/functions/ids/rules/signature.hpp"

/// What an alert of `ids` says for people and has no room for in a record: a file of names beside
/// the image, which the builder writes and which processes that show alerts read. It goes with the
/// image (remove_image()). Records name a signature by gid, sid and revision: a record of the image
/// before finds its name in the file of the next one, where that still has it.

namespace millrace {

/// The file is text: a line that says what it is, and then one line for each signature, by number
/// from 0: gid, sid, revision, priority, message, class, and each key of `metadata` with its value,
/// between tabs. Tab, line end and backslash are `\t`, `\n` and `\\` in a field.
inline constexpr std::string_view kSignatureNamesHead = "millrace signature names 1\n";
inline constexpr std::size_t kSignatureNamesBytesMax = std::size_t{256} << 20;

/// Writes the file under another name and renames it; its place is names_beside_image(). The
/// builder calls it before it publishes the image, so a record of the image has its names there.
/// Throws Error that names the path.
void write_signature_names(const std::string& path, std::span<const Signature> signatures);

struct SignatureName {
  std::uint32_t number = 0;  ///< of the signature in the function, from 0
  std::uint32_t gid = 0, sid = 0, revision = 0;
  std::uint8_t priority = 0;
  std::string message, classification;
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// The names of one image.
class SignatureNames {
 public:
  /// Throws Error with the path: the file cannot be read, or is none of these.
  explicit SignatureNames(const std::string& path);
  /// Null: there is none with these numbers.
  const SignatureName* find(std::uint32_t gid, std::uint32_t sid) const noexcept;
  /// By number.
  std::span<const SignatureName> all() const noexcept { return names_; }

 private:
  std::vector<SignatureName> names_;
  std::unordered_map<std::uint64_t, std::uint32_t> places_;  ///< gid and sid -> in names_
};

}  // namespace millrace
