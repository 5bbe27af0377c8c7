// Tensors from tensors: conversions, views, copies and selections that only TorchScript has as operators.
#include <csrc/jit/runtime/ops/rows.h>

#include <aten/Functions.h>
#include <aten/iterator/ExpandUtils.h>

namespace torch::jit::ops {

namespace {

Tensor as_tensor(Tensor data, std::optional<int64_t> dtype, std::optional<c10::Device> device) {
  const c10::ScalarType type = dtype ? static_cast<c10::ScalarType>(*dtype) : data.scalar_type();
  return data.to(device.value_or(data.device()), type, /*non_blocking=*/false, /*copy=*/false);
}

Tensor to_device(
    Tensor self, std::optional<c10::Device> device, std::optional<int64_t> dtype, bool non_blocking, bool copy) {
  const c10::ScalarType type = dtype ? static_cast<c10::ScalarType>(*dtype) : self.scalar_type();
  return self.to(device.value_or(self.device()), type, non_blocking, copy);
}
Tensor to_dtype(Tensor self, std::optional<int64_t> dtype, bool non_blocking, bool copy) {
  return to_device(std::move(self), std::nullopt, dtype, non_blocking, copy);
}

// Whether the tensor's sizes differ: null if not.
IValue size_if_not_equal(IValue& self_size, IValue& other_size) {
  return self_size.toIntVector() == other_size.toIntVector() ? IValue() : std::move(self_size);
}
Tensor sum_to_size(Tensor self, IValue& size) {
  return size.isNone() ? self : self.sum_to_size(size.toIntVector());
}
std::vector<int64_t> broadcast_sizes(IValue& a, IValue& b) {
  // In this order: an error names them so.
  return at::infer_size(b.toIntVector(), a.toIntVector());
}
c10::List<std::optional<Tensor>> optional_indices(const AnyList& indices) {
  c10::List<std::optional<Tensor>> out;
  out.reserve(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    out.push_back(indices.get(i).toTensor());
  }
  return out;
}
Tensor index(Tensor self, AnyList indices) {
  return at::index(self, optional_indices(indices));
}
Tensor index_put(Tensor self, AnyList indices, Tensor values, bool accumulate) {
  return at::index_put(self, optional_indices(indices), values, accumulate);
}
Tensor index_put_in_place(Tensor self, AnyList indices, Tensor values, bool accumulate) {
  return self.index_put_(optional_indices(indices), values, accumulate);
}

Tensor list_to_tensor(AnyList self) {
  Tensor out = at::empty({static_cast<int64_t>(self.size())}, at::TensorOptions().dtype(at::kLong));
  int64_t* const data = out.mutable_data_ptr<int64_t>();
  for (size_t i = 0; i < self.size(); ++i) {
    data[i] = self.get(i).toInt();
  }
  return out;
}
std::vector<int64_t> tensor_to_list(const Tensor& self) {
  const Tensor flat = self.to(at::kCPU, at::kLong).contiguous();
  const int64_t* const data = flat.const_data_ptr<int64_t>();
  return std::vector<int64_t>(data, data + flat.numel());
}

constexpr OperatorRow kRows[] = {
    {"aten::as_tensor(Tensor(a) data, *, ScalarType? dtype=None, Device? device=None) -> Tensor(b|a)", call<as_tensor>},
    {"aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, bool non_blocking=False, bool copy=False) "
     "-> "
     "Tensor(b|a)",
     call<to_device>},
    {"aten::to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
     call<to_dtype>},
    {"aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
     call<[](Tensor self, bool non_blocking, bool copy) { return to_dtype(self, std::nullopt, non_blocking, copy); }>},
    {"aten::cpu(Tensor(a) self) -> Tensor(b|a)", call<[](const Tensor& self) { return self.cpu(); }>},
    {"aten::cuda(Tensor(a) self) -> Tensor(b|a)", call<[](const Tensor& self) { return self.cuda(); }>},
    {"aten::_size_if_not_equal(int[] self_size, int[] other_size) -> int[]?", call<size_if_not_equal>},
    {"aten::_grad_sum_to_size(Tensor(a) self, int[]? size) -> Tensor(a)", call<sum_to_size>},
    {"aten::_infer_size(int[] a, int[] b) -> int[]", call<broadcast_sizes>},
    {"aten::broadcast_shapes(int[] a, int[] b) -> int[]", call<broadcast_sizes>},
    {"aten::copy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
     call<[](Tensor self, Tensor other) { return self.copy_(other); }>},
    {"aten::copy_.int(Tensor(a!) self, int other) -> Tensor(a!)",
     call<[](Tensor self, int64_t other) { return self.fill_(other); }>},
    {"aten::copy_.float(Tensor(a!) self, float other) -> Tensor(a!)",
     call<[](Tensor self, double other) { return self.fill_(other); }>},
    {"aten::split(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
     call<[](Tensor self, IValue& sizes, int64_t dim) { return self.split_with_sizes(sizes.toIntVector(), dim); }>},
    {"aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", call<index>},
    {"aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
     call<index_put>},
    {"aten::index_put_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, bool accumulate=False) -> "
     "Tensor(a!)",
     call<index_put_in_place>},
    {"aten::_list_to_tensor(int[] self) -> Tensor", call<list_to_tensor>},
    {"aten::_tensor_to_list(Tensor self) -> int[]", call<tensor_to_list>},
    {"aten::mT.a(Tensor(a) self) -> Tensor(a)", call<[](const Tensor& self) { return self.mT(); }>},
    {"aten::mH.a(Tensor(a) self) -> Tensor(a)", call<[](const Tensor& self) { return self.mH(); }>},
    {"aten::matrix_H.a(Tensor(a) self) -> Tensor(a)", call<[](const Tensor& self) { return self.matrix_H(); }>},
    {"aten::numpy_T.a(Tensor(a) self) -> Tensor(a)", call<[](const Tensor& self) { return self.numpy_T(); }>},
    {"aten::is_non_overlapping_and_dense(Tensor self) -> bool",
     call<[](const Tensor& self) { return self.is_non_overlapping_and_dense(); }>},
};

} // namespace

at::ArrayRef<OperatorRow> tensor_change_rows() {
  return kRows;
}

} // namespace torch::jit::ops
