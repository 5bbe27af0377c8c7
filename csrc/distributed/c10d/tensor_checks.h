// What collectives check of their tensors, and tensors as dense memory.
#pragma once

#include <csrc/distributed/c10d/Types.h>

namespace c10d::detail {

/// These throw ValueError, which begins with `what`. A tensor of the CPU, strided and not quantized.
TORCH_API void check_tensor(const char* what, const at::Tensor& tensor);
/// At least one, and all such.
TORCH_API void check_list(const char* what, const std::vector<at::Tensor>& tensors);
/// Just one.
TORCH_API void check_single(const char* what, const std::vector<at::Tensor>& tensors);
/// Of the dtype of `expected`, with `numel` elements.
TORCH_API void check_like(const char* what, const at::Tensor& expected, const at::Tensor& tensor, int64_t numel);
/// With elements of as many bytes as those of `expected`: what is exchanged is not looked at.
TORCH_API void check_same_width(const char* what, const at::Tensor& expected, const at::Tensor& tensor);
/// One list, with a tensor like `expected` for each rank.
TORCH_API void check_lists(
    const char* what, const at::Tensor& expected, const std::vector<std::vector<at::Tensor>>& lists, int size);
TORCH_API void check_root(const char* what, int64_t root, int size);
/// As many larger tensors as smaller ones, each of which has `times` the elements of its smaller one.
TORCH_API void check_pairs(
    const char* what, const std::vector<at::Tensor>& smaller, const std::vector<at::Tensor>& larger, int times);
/// A list like `inputs` for each rank; returns all of their tensors.
TORCH_API std::vector<at::Tensor> check_list_each(
    const char* what,
    const std::vector<at::Tensor>& inputs,
    const std::vector<std::vector<at::Tensor>>& lists,
    int size);
/// The list that the root of gather or scatter has, with a tensor like `expected` for each rank; none on other ranks,
/// where `lists` must be empty.
TORCH_API std::vector<at::Tensor> check_list_of_root(
    const char* what,
    const at::Tensor& expected,
    const std::vector<std::vector<at::Tensor>>& lists,
    int size,
    bool is_root);
/// A tensor for each rank on both sides, all of one dtype.
TORCH_API void check_exchange(
    const char* what, const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs, int size);
/// A message of one tensor between `rank` and another one; `from_any` allows -1.
TORCH_API void check_message(
    const char* what, const std::vector<at::Tensor>& tensors, int peer, int rank, int size, int tag, bool from_any);

/// A tensor's elements without gaps: its own, or a copy that is written back.
class TORCH_API Dense {
 public:
  explicit Dense(const at::Tensor& tensor, bool read = true);
  char* data() const {
    return static_cast<char*>(dense_.data_ptr());
  }
  const at::Tensor& tensor() const {
    return dense_;
  }
  void write_back() const;

 private:
  at::Tensor tensor_;
  at::Tensor dense_;
};

/// The reduction that an engine does, and the factor before it.
struct TORCH_API Reduction {
  explicit Reduction(const ReduceOp& reduce_op);
  /// Multiplies by the factor, in place or in a copy.
  void prepare(const at::Tensor& tensor) const;
  at::Tensor prepared(const at::Tensor& tensor) const;

  ReduceOp::RedOpType op;
  at::Tensor factor;
};

/// What an operation's options say, or the group's own timeout.
inline std::chrono::milliseconds timeout_or(std::chrono::milliseconds timeout, std::chrono::milliseconds of_group) {
  return timeout == kUnsetTimeout ? of_group : timeout;
}

/// Bytes for each rank of a tensor that is split along dimension 0.
TORCH_API std::vector<size_t> split_bytes(
    const char* side, const std::vector<int64_t>& splits, const at::Tensor& tensor, int size);

} // namespace c10d::detail
