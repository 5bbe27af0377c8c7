// What collectives check of their tensors.
#include <csrc/distributed/c10d/tensor_checks.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

namespace c10d::detail {

void check_tensor(const char* what, const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.defined(), what, ": a tensor is undefined");
  TORCH_CHECK_VALUE(
      tensor.layout() == c10::kStrided && !tensor.is_quantized(), what,
      ": only supports dense tensors, but got layout ", tensor.layout());
  TORCH_CHECK_VALUE(tensor.device().is_cpu(), what, ": only supports CPU tensors, but got ", tensor.device());
}

void check_list(const char* what, const std::vector<at::Tensor>& tensors) {
  TORCH_CHECK_VALUE(!tensors.empty(), what, ": requires non-empty tensor list");
  for (const auto& tensor : tensors) {
    check_tensor(what, tensor);
  }
}

void check_single(const char* what, const std::vector<at::Tensor>& tensors) {
  TORCH_CHECK_VALUE(
      tensors.size() == 1, what, ": requires a single-element tensor list, but got ", tensors.size(), " tensors");
  check_tensor(what, tensors[0]);
}

void check_like(const char* what, const at::Tensor& expected, const at::Tensor& tensor, int64_t numel) {
  check_tensor(what, tensor);
  TORCH_CHECK_VALUE(
      tensor.scalar_type() == expected.scalar_type(), what, ": invalid tensor type (expected ", expected.scalar_type(),
      ", got ", tensor.scalar_type(), ")");
  TORCH_CHECK_VALUE(
      tensor.numel() == numel, what, ": invalid tensor size (expected ", numel, " elements, got ", tensor.numel(), ")");
}

void check_same_width(const char* what, const at::Tensor& expected, const at::Tensor& tensor) {
  check_tensor(what, tensor);
  TORCH_CHECK_VALUE(
      tensor.element_size() == expected.element_size(), what, ": invalid tensor type (expected ",
      expected.scalar_type(), " or one of its size, got ", tensor.scalar_type(), ")");
}

void check_lists(
    const char* what, const at::Tensor& expected, const std::vector<std::vector<at::Tensor>>& lists, int size) {
  TORCH_CHECK_VALUE(
      lists.size() == 1 && lists[0].size() == static_cast<size_t>(size), what,
      ": requires a single-element list that contains a list with ", size, " tensors, one for each rank");
  for (const auto& tensor : lists[0]) {
    check_like(what, expected, tensor, expected.numel());
  }
}

void check_root(const char* what, int64_t root, int size) {
  TORCH_CHECK_VALUE(root >= 0 && root < size, what, ": invalid root rank: ", root, " of ", size);
}

void check_pairs(
    const char* what, const std::vector<at::Tensor>& smaller, const std::vector<at::Tensor>& larger, int times) {
  check_list(what, smaller);
  TORCH_CHECK_VALUE(
      smaller.size() == larger.size(), what, ": requires input/output tensor lists to have the same length, but got ",
      smaller.size(), " and ", larger.size());
  for (size_t i = 0; i < smaller.size(); ++i) {
    check_like(what, smaller[i], larger[i], smaller[i].numel() * times);
  }
}

std::vector<at::Tensor> check_list_each(
    const char* what,
    const std::vector<at::Tensor>& inputs,
    const std::vector<std::vector<at::Tensor>>& lists,
    int size) {
  check_list(what, inputs);
  TORCH_CHECK_VALUE(
      lists.size() == static_cast<size_t>(size), what, ": output lists should be equal to world size ", size,
      ", but got ", lists.size());
  std::vector<at::Tensor> all;
  for (const auto& list : lists) {
    TORCH_CHECK_VALUE(
        list.size() == inputs.size(), what, ": invalid output size: (expected length ", inputs.size(), ", got ",
        list.size(), ")");
    for (size_t i = 0; i < inputs.size(); ++i) {
      check_like(what, inputs[i], list[i], inputs[i].numel());
      all.push_back(list[i]);
    }
  }
  return all;
}

std::vector<at::Tensor> check_list_of_root(
    const char* what,
    const at::Tensor& expected,
    const std::vector<std::vector<at::Tensor>>& lists,
    int size,
    bool is_root) {
  if (!is_root) {
    TORCH_CHECK_VALUE(
        lists.empty(), what, ": requires empty ", std::string(what).ends_with("gather") ? "output" : "input",
        " on non-root");
    return {};
  }
  check_lists(what, expected, lists, size);
  return lists[0];
}

void check_exchange(
    const char* what, const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs, int size) {
  check_list(what, inputs);
  TORCH_CHECK_VALUE(
      inputs.size() == static_cast<size_t>(size) && outputs.size() == inputs.size(), what,
      ": input and output tensor lists must have one tensor for each of ", size, " ranks, but got ", inputs.size(),
      " and ", outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_like(what, inputs[0], inputs[i], inputs[i].numel());
    check_like(what, inputs[0], outputs[i], outputs[i].numel());
  }
}

void check_message(
    const char* what, const std::vector<at::Tensor>& tensors, int peer, int rank, int size, int tag, bool from_any) {
  check_single(what, tensors);
  TORCH_CHECK_VALUE(
      peer < size && peer >= (from_any ? -1 : 0) && peer != rank, what, ": invalid rank ", peer,
      " of the other side: ", "it must be one of ", size, " ranks, and not this one, which is ", rank);
  TORCH_CHECK_VALUE(tag >= 0, "Tag must be nonnegative, but got ", tag);
}

Dense::Dense(const at::Tensor& tensor, bool read) : tensor_(tensor), dense_(tensor) {
  if (!tensor.is_contiguous() || tensor.is_conj() || tensor.is_neg()) {
    const c10::NoGradGuard no_grad;
    dense_ =
        read ? at::empty(tensor.sizes(), tensor.options()).copy_(tensor) : at::empty(tensor.sizes(), tensor.options());
  }
}

void Dense::write_back() const {
  if (!dense_.is_same(tensor_)) {
    const c10::NoGradGuard no_grad;
    tensor_.copy_(dense_);
  }
}

Reduction::Reduction(const ReduceOp& reduce_op) : op(reduce_op.op_) {
  if (op == ReduceOp::PREMUL_SUM) {
    const auto* supplement = dynamic_cast<PreMulSumSupplement*>(reduce_op.supplement_.get());
    TORCH_CHECK_VALUE(supplement != nullptr, "ReduceOp PREMUL_SUM has no factor; make it with makePreMulSum");
    factor = supplement->tensor_factor.defined() ? supplement->tensor_factor
                                                 : at::scalar_tensor(supplement->double_factor, at::kDouble);
    op = ReduceOp::SUM;
  }
}

void Reduction::prepare(const at::Tensor& tensor) const {
  if (factor.defined()) {
    const c10::NoGradGuard no_grad;
    tensor.mul_(factor.item());
  }
}

at::Tensor Reduction::prepared(const at::Tensor& tensor) const {
  if (!factor.defined()) {
    return tensor;
  }
  const c10::NoGradGuard no_grad;
  return tensor.mul(factor.item());
}

std::vector<size_t> split_bytes(
    const char* side, const std::vector<int64_t>& splits, const at::Tensor& tensor, int size) {
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  const size_t row = rows == 0 ? 0 : tensor.nbytes() / rows;
  if (splits.empty()) {
    TORCH_CHECK_VALUE(
        rows % size == 0, "Tensor's dim 0 does not divide equally across group size: ", rows, " rows of the ", side,
        " for ", size, " ranks");
    return std::vector<size_t>(size, rows / size * row);
  }
  TORCH_CHECK_VALUE(
      splits.size() == static_cast<size_t>(size), "Number of tensor splits not equal to group size: ", splits.size(),
      " of the ", side, " for ", size, " ranks");
  std::vector<size_t> bytes;
  int64_t sum = 0;
  for (const int64_t n : splits) {
    TORCH_CHECK_VALUE(n >= 0 && n <= rows, "Split sizes must be non-negative and fit, but got ", n);
    sum += n;
    bytes.push_back(static_cast<size_t>(n) * row);
  }
  TORCH_CHECK_VALUE(sum == rows, "Split sizes doesn't match total dim 0 size: ", sum, " and ", rows, " of the ", side);
  return bytes;
}

} // namespace c10d::detail
