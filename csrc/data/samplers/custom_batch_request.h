#pragma once

#include <c10/macros/Export.h>

#include <cstddef>

namespace torch::data::samplers {

/// A base for batch requests other than a list of indices.
struct TORCH_API CustomBatchRequest {
  CustomBatchRequest() = default;
  CustomBatchRequest(const CustomBatchRequest&) = default;
  CustomBatchRequest(CustomBatchRequest&&) noexcept = default;
  CustomBatchRequest& operator=(const CustomBatchRequest&) = default;
  CustomBatchRequest& operator=(CustomBatchRequest&&) noexcept = default;
  virtual ~CustomBatchRequest();

  /// Examples asked for.
  virtual size_t size() const = 0;
};

} // namespace torch::data::samplers
