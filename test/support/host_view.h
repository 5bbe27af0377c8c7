// Reads any tensor as plain numbers, without operators of the library under test.
#pragma once

#include <ATen/core/Tensor.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "test/support/elements.h"

namespace test {

/// Strides of a contiguous tensor; a size of 0 counts as 1, as in libtorch.
std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes);

/// "[2, 3]"
std::string show(c10::IntArrayRef ints);

/// "[1, 2]": the index of a row-major position.
std::string show_position(int64_t position, c10::IntArrayRef sizes);

/// Elements of a tensor by row-major position, read from host memory (a copy when the tensor lives elsewhere).
class HostView {
 public:
  explicit HostView(const at::Tensor& tensor);

  /// The stored element at a row-major position.
  const std::byte* at(int64_t position) const;
  /// Value with the lazy conj and neg bits resolved; zero for a tensor without memory.
  std::complex<double> number(int64_t position) const;
  int64_t integer(int64_t position) const;

 private:
  at::Tensor host_;
  c10::ScalarType type_;
  const std::byte* base_ = nullptr;
  int64_t item_size_;
  bool dense_;
};

} // namespace test
