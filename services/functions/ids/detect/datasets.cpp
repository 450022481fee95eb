// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/datasets.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace millrace {

bool is_in_dataset(const DatasetMatch& dataset, std::span<const std::byte> bytes) noexcept {
  std::string_view value(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  if (dataset.is_sha256) {
    unsigned length = 0;
    if (EVP_Digest(value.data(), value.size(), digest.data(), &length, EVP_sha256(), nullptr) !=
        1) {
      return false;
    }
    value = {reinterpret_cast<const char*>(digest.data()), length};
  }
  return std::binary_search(dataset.values.begin(), dataset.values.end(), value, std::less<>());
}

}  // namespace millrace
