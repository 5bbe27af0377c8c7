// Tensors that are the same to the last bit.
#pragma once

#include <torch/torch.h>

#include <limits>
#include <string>
#include <vector>

namespace test {

/// How `a` differs from `b` in dtype, sizes, strides or the bits of an element; empty where they are the same.
/// Undefined tensors are the same as one another, and so are all NaN: the sign of one depends on the order in which an
/// instruction takes its operands.
inline std::string bit_difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.defined() != b.defined()) {
    return "only one is defined";
  }
  if (!a.defined()) {
    return {};
  }
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) {
    return "another dtype or other sizes: " + a.toString() + " of " + std::to_string(a.dim()) + " dims";
  }
  for (int64_t dim = 0; dim < a.dim(); ++dim) {
    if (a.size(dim) > 1 && a.stride(dim) != b.stride(dim)) {
      return "another stride in dim " + std::to_string(dim);
    }
  }
  const auto bytes = [](const at::Tensor& t) {
    const at::Tensor plain = at::empty({t.numel()}, t.options());
    plain.copy_(t.detach().reshape({-1}));
    const at::Tensor numbers = t.is_complex() ? at::view_as_real(plain) : plain;
    if (numbers.is_floating_point() && numbers.itemsize() > 1) {
      numbers.masked_fill_(numbers.isnan(), std::numeric_limits<double>::quiet_NaN());
    }
    return plain.view(at::kByte);
  };
  if (a.numel() == 0 || bytes(a).equal(bytes(b))) {
    return {};
  }
  const at::Tensor differ = (bytes(a) != bytes(b)).sum();
  return std::to_string(differ.item<int64_t>()) + " bytes differ";
}

/// For each tensor the number of the first in `tensors` that has its memory.
inline std::vector<size_t> memory_of(const std::vector<at::Tensor>& tensors) {
  std::vector<size_t> first;
  for (size_t i = 0; i < tensors.size(); ++i) {
    size_t j = 0;
    while (j < i &&
           !(tensors[j].defined() && tensors[i].defined() &&
             tensors[j].storage().unsafeGetStorageImpl() == tensors[i].storage().unsafeGetStorageImpl())) {
      ++j;
    }
    first.push_back(j);
  }
  return first;
}

} // namespace test
