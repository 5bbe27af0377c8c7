// Sizes of cuBLAS workspaces as the environment gives them. Free of CUDA.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace at::cuda {

/// Bytes of ":SIZE:COUNT[:SIZE:COUNT...]", sizes in KiB (CUBLAS_WORKSPACE_CONFIG). Nothing if it is not of that form.
inline std::optional<size_t> parse_workspace_config(std::string_view text) {
  size_t bytes = 0;
  if (text.empty()) {
    return std::nullopt;
  }
  while (!text.empty()) {
    size_t pair[2];
    for (size_t& number : pair) {
      if (text.empty() || text.front() != ':') {
        return std::nullopt;
      }
      text.remove_prefix(1);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || number > size_t{1} << 20) {
        return std::nullopt;
      }
      text.remove_prefix(static_cast<size_t>(end - text.data()));
    }
    bytes += pair[0] * pair[1] * 1024;
  }
  return bytes;
}

} // namespace at::cuda
