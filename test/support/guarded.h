// Memory with a known pattern on both sides, to see writes that miss their tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace test {

/// A CPU tensor in the middle of a block of guard values. Strides may leave gaps; those are guarded too.
class GuardedTensor {
 public:
  GuardedTensor(c10::ScalarType dtype, const std::vector<int64_t>& sizes);
  GuardedTensor(c10::ScalarType dtype, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides);

  /// The tensor to hand to an operator; its elements hold the guard pattern at first.
  const at::Tensor& tensor() const {
    return tensor_;
  }

  /// Empty, or the first byte outside the tensor's elements that was written to.
  std::string find_damage() const;

 private:
  size_t memory_bytes() const;

  at::Tensor memory_; // the elements with margins on both sides
  at::Tensor tensor_;
};

} // namespace test
