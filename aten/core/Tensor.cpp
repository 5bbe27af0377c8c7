#include <aten/core/Tensor.h>

#include <aten/core/VariableHooksInterface.h>
#include <aten/core/op_types.h>
#include <aten/ops/add_ops.h>
#include <aten/ops/bitwise_and_ops.h>
#include <aten/ops/bitwise_not_ops.h>
#include <aten/ops/bitwise_or_ops.h>
#include <aten/ops/bitwise_xor_ops.h>
#include <aten/ops/copy__ops.h>
#include <aten/ops/div_ops.h>
#include <aten/ops/fill_ops.h>
#include <aten/ops/index_ops.h>
#include <aten/ops/mul_ops.h>
#include <aten/ops/neg_ops.h>
#include <aten/ops/select_ops.h>
#include <aten/ops/sub_ops.h>
#include <aten/ops/to_ops.h>

namespace at {

Tensor& Tensor::operator=(const Tensor& x) && {
  return copy_(x);
}
Tensor& Tensor::operator=(Tensor&& x) && {
  return copy_(x);
}
Tensor& Tensor::operator=(const Scalar& v) && {
  return fill_(v);
}

Tensor Tensor::operator~() const {
  return bitwise_not();
}
Tensor Tensor::operator-() const {
  return neg();
}
Tensor& Tensor::operator+=(const Tensor& other) {
  return add_(other);
}
Tensor& Tensor::operator+=(const Scalar& other) {
  return add_(other);
}
Tensor& Tensor::operator-=(const Tensor& other) {
  return sub_(other);
}
Tensor& Tensor::operator-=(const Scalar& other) {
  return sub_(other);
}
Tensor& Tensor::operator*=(const Tensor& other) {
  return mul_(other);
}
Tensor& Tensor::operator*=(const Scalar& other) {
  return mul_(other);
}
Tensor& Tensor::operator/=(const Tensor& other) {
  return div_(other);
}
Tensor& Tensor::operator/=(const Scalar& other) {
  return div_(other);
}
Tensor& Tensor::operator&=(const Tensor& other) {
  return bitwise_and_(other);
}
Tensor& Tensor::operator|=(const Tensor& other) {
  return bitwise_or_(other);
}
Tensor& Tensor::operator^=(const Tensor& other) {
  return bitwise_xor_(other);
}

Tensor Tensor::operator[](int64_t index) const {
  return select(0, index);
}
Tensor Tensor::operator[](const Scalar& index) const {
  TORCH_CHECK_INDEX(index.isIntegral(false), "Can only index tensors with integral scalars");
  return select(0, index.toLong());
}
Tensor Tensor::operator[](const Tensor& index) const {
  TORCH_CHECK_INDEX(index.defined(), "Can only index with tensors that are defined");
  TORCH_CHECK_INDEX(index.dim() == 0, "Can only index with tensors that are scalars (zero-dim)");
  return (*this)[index.item()];
}

Tensor Tensor::cpu() const {
  return Tensor(TensorBase::to(options().device(c10::DeviceType::CPU)));
}
Tensor Tensor::cuda() const {
  return Tensor(TensorBase::to(options().device(c10::DeviceType::CUDA)));
}
Tensor Tensor::hip() const {
  return Tensor(TensorBase::to(options().device(c10::DeviceType::HIP)));
}
Tensor Tensor::ve() const {
  return Tensor(TensorBase::to(options().device(c10::DeviceType::VE)));
}
Tensor Tensor::vulkan() const {
  return Tensor(TensorBase::to(options().device(c10::DeviceType::Vulkan)));
}
Tensor Tensor::metal() const {
  return Tensor(TensorBase::to(options().device(c10::DeviceType::Metal)));
}
Tensor Tensor::meta() const {
  return Tensor(TensorBase::to(options().device(c10::DeviceType::Meta)));
}
Tensor Tensor::toType(ScalarType t) const {
  return Tensor(TensorBase::to(options().dtype(t)));
}
Tensor Tensor::toBackend(c10::Backend b) const {
  return Tensor(TensorBase::to(options().device(c10::backendToDeviceType(b))));
}

const Tensor& Tensor::grad() const {
  const auto& grad = static_cast<const Tensor&>(impl_->grad());
  if (!grad.defined() && requires_grad() && !is_leaf() && !retains_grad()) {
    TORCH_WARN(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its gradient is not kept by "
        "backward(); call retain_grad() on it before, or ask the leaf for its gradient");
  }
  return grad;
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph) const {
  _backward({}, gradient.defined() ? std::optional<Tensor>(gradient) : std::nullopt, retain_graph, create_graph);
}

void Tensor::backward(
    const Tensor& gradient,
    std::optional<bool> retain_graph,
    bool create_graph,
    std::optional<TensorList> inputs) const {
  TORCH_CHECK(
      !inputs.has_value() || !inputs->empty(),
      "'inputs' argument to backward cannot be empty; leave it out to accumulate into all leaves");
  _backward(
      inputs.value_or(TensorList()), gradient.defined() ? std::optional<Tensor>(gradient) : std::nullopt, retain_graph,
      create_graph);
}
void Tensor::_backward(
    TensorList inputs, const std::optional<Tensor>& gradient, std::optional<bool> keep_graph, bool create_graph) const {
  impl::GetVariableHooks()->_backward(*this, inputs, gradient, keep_graph, create_graph);
}

} // namespace at
