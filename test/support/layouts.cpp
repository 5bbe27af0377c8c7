#include "test/support/layouts.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cstring>

#include "test/support/host_view.h"

namespace test {

at::Tensor with_strides(const at::Tensor& tensor, const std::vector<int64_t>& strides, int64_t offset) {
  const std::vector<int64_t> sizes = tensor.sizes().vec();
  int64_t extent = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    extent += std::max<int64_t>(sizes[d] - 1, 0) * strides[d];
  }
  const c10::ScalarType dtype = tensor.scalar_type();
  const auto item_size = static_cast<int64_t>(dtype_info(dtype).item_size);
  at::Tensor memory = at::empty({offset + extent}, at::TensorOptions().dtype(dtype));
  auto* data = static_cast<std::byte*>(memory.data_ptr());
  // The gaps hold a pattern that no result may depend on.
  std::memset(data, 0x5A, static_cast<size_t>((offset + extent) * item_size));
  if (dtype == c10::ScalarType::Bool) {
    std::memset(data, 1, static_cast<size_t>(offset + extent));
  }

  const HostView elements(tensor);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t position = i;
    int64_t index = offset;
    for (size_t d = sizes.size(); d > 0; --d) {
      index += position % sizes[d - 1] * strides[d - 1];
      position /= sizes[d - 1];
    }
    std::memcpy(data + index * item_size, elements.at(i), static_cast<size_t>(item_size));
  }
  return memory.as_strided(sizes, strides, offset);
}

std::vector<Layout> layouts(const at::Tensor& tensor) {
  const std::vector<int64_t> sizes = tensor.sizes().vec();
  const std::vector<int64_t> plain = contiguous_strides(sizes);
  std::vector<Layout> all = {{"contiguous", with_strides(tensor, plain)}, {"offset", with_strides(tensor, plain, 3)}};
  if (sizes.empty()) {
    return all;
  }

  const std::vector<int64_t> reversed_sizes(sizes.rbegin(), sizes.rend());
  const std::vector<int64_t> reversed = contiguous_strides(reversed_sizes);
  all.push_back({"transposed", with_strides(tensor, {reversed.rbegin(), reversed.rend()})});

  std::vector<int64_t> stepped = plain;
  for (int64_t& stride : stepped) {
    stride *= 2;
  }
  all.push_back({"sliced with step 2", with_strides(tensor, stepped, 1)});

  if (sizes.size() > 1) {
    std::vector<int64_t> padded_sizes = sizes;
    padded_sizes.back() += 3;
    all.push_back({"padded rows", with_strides(tensor, contiguous_strides(padded_sizes))});
  }
  return all;
}

at::Tensor expanded(const at::Tensor& tensor, const std::vector<int64_t>& sizes) {
  const size_t fresh = sizes.size() - static_cast<size_t>(tensor.dim());
  std::vector<int64_t> strides(sizes.size(), 0);
  for (size_t d = fresh; d < sizes.size(); ++d) {
    if (tensor.size(static_cast<int64_t>(d - fresh)) == sizes[d]) {
      strides[d] = tensor.stride(static_cast<int64_t>(d - fresh));
    }
  }
  return tensor.as_strided(sizes, strides, tensor.storage_offset());
}

const std::vector<std::vector<int64_t>>& common_shapes() {
  static const std::vector<std::vector<int64_t>> shapes = {{},     {1},  {0},    {0, 3},    {2, 0, 3},
                                                           {3, 0}, {67}, {5, 7}, {2, 3, 4}, {2, 1, 3, 5}};
  return shapes;
}

} // namespace test
