#include "test/support/guarded.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cstring>

#include "test/support/compare.h"
#include "test/support/host_view.h"

namespace test {

namespace {

constexpr std::byte kGuard{0x01}; // also a valid bool
constexpr int64_t kMargin = 256; // bytes, more than the widest vector store, and keeps the tensor aligned

int64_t extent(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) {
      return 0;
    }
    last += (sizes[d] - 1) * strides[d];
  }
  return last + 1;
}

} // namespace

GuardedTensor::GuardedTensor(c10::ScalarType dtype, const std::vector<int64_t>& sizes)
    : GuardedTensor(dtype, sizes, contiguous_strides(sizes)) {}

GuardedTensor::GuardedTensor(
    c10::ScalarType dtype, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  const auto margin = kMargin / static_cast<int64_t>(dtype_info(dtype).item_size);
  memory_ = at::empty({2 * margin + extent(sizes, strides)}, at::TensorOptions().dtype(dtype));
  std::memset(memory_.data_ptr(), static_cast<int>(kGuard), memory_bytes());
  tensor_ = memory_.as_strided(sizes, strides, margin);
}

size_t GuardedTensor::memory_bytes() const {
  return static_cast<size_t>(memory_.numel()) * static_cast<size_t>(memory_.element_size());
}

std::string GuardedTensor::find_damage() const {
  std::vector<bool> is_element(memory_bytes(), false);
  const auto* memory = static_cast<const std::byte*>(memory_.data_ptr());
  const HostView view(tensor_);
  for (int64_t i = 0; i < tensor_.numel(); ++i) {
    std::fill_n(is_element.begin() + (view.at(i) - memory), tensor_.element_size(), true);
  }
  for (size_t byte = 0; byte < is_element.size(); ++byte) {
    if (!is_element[byte] && memory[byte] != kGuard) {
      return "wrote outside its tensor, " + std::to_string(static_cast<int64_t>(byte) - kMargin) +
          " bytes from the start of " + describe(tensor_);
    }
  }
  return {};
}

} // namespace test
