// Shape functions of softmax, normalizations, embedding and losses over class indices.
#include <aten/shape/norm_checks.h>

#include <aten/core/Reduction.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/shape/iterated_out.h>
#include <aten/shape/operand_checks.h>
#include <aten/shape/out_dtypes.h>

#include <c10/core/Scalar.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/safe_numerics.h>

#include <array>
#include <optional>

namespace at::shape {
namespace {

const TensorBase* given(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined() ? &*t : nullptr;
}

} // namespace

// ---- softmax -------------------------------------------------------------------------------------------------------

TensorSpec softmax(const char* op, const TensorBase& self, int64_t dim, bool half_to_float) {
  c10::maybe_wrap_dim(dim, self.dim());
  if (!half_to_float) {
    return TensorSpec::like(self, self.sizes());
  }
  TORCH_CHECK(
      !self.is_cpu(), "softmax with half to float conversion is not supported on CPU; ", op,
      " got half_to_float = true");
  TORCH_CHECK(
      self.scalar_type() == kHalf || self.scalar_type() == kBFloat16, "conversion is supported for Half type only; ",
      op, " got ", self.scalar_type());
  return TensorSpec::like(self, self.sizes(), kFloat);
}

TensorSpec softmax_backward(
    const char* op, const TensorBase& grad_output, const TensorBase& output, int64_t dim, c10::ScalarType input_dtype) {
  const bool log = std::string_view(op).starts_with("_log");
  if (log) {
    c10::maybe_wrap_dim(dim, grad_output.dim());
  }
  TORCH_CHECK(
      grad_output.sizes() == output.sizes(),
      "Expected tensor for argument #1 'grad' to have same size as tensor for argument #2 'output'; but ",
      grad_output.sizes(), " does not equal ", output.sizes(), " (while checking arguments for ",
      log ? "log_softmax_backward)" : "softmax_backward)");
  c10::maybe_wrap_dim(dim, grad_output.dim());
  TORCH_CHECK(
      grad_output.scalar_type() == output.scalar_type(), "expected scalar type ", grad_output.scalar_type(),
      " but found ", output.scalar_type(), " for the output given to ", op);
  // Only a GPU's softmax reads half and gives float; elsewhere input_dtype says nothing that grad does not say.
  const bool from_half = input_dtype == kHalf && grad_output.scalar_type() == kFloat;
  TORCH_CHECK(
      grad_output.is_cuda() ? from_half || grad_output.scalar_type() == input_dtype : !from_half,
      "expected scalar type ", grad_output.scalar_type(), " but found ", input_dtype, " as input_dtype of ", op);
  check_same_device(op, {&grad_output, &output});
  return TensorSpec::like(grad_output, grad_output.sizes(), from_half ? kHalf : grad_output.scalar_type());
}

// ---- normalization -------------------------------------------------------------------------------------------------

int64_t check_layer_norm(
    const TensorBase& input,
    IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias) {
  const int64_t trailing = static_cast<int64_t>(normalized_shape.size());
  TORCH_CHECK(
      trailing >= 1,
      "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
      "normalized_shape = ",
      normalized_shape);
  const TensorBase *w = given(weight), *b = given(bias);
  TORCH_CHECK(
      w == nullptr || w->sizes() == normalized_shape,
      "Expected weight to be of same shape as normalized_shape, but got weight of shape ",
      w == nullptr ? IntArrayRef() : w->sizes(), " and normalized_shape = ", normalized_shape);
  TORCH_CHECK(
      b == nullptr || b->sizes() == normalized_shape,
      "Expected bias to be of same shape as normalized_shape, but got bias of shape ",
      b == nullptr ? IntArrayRef() : b->sizes(), " and normalized_shape = ", normalized_shape);
  const int64_t leading = input.dim() - trailing;
  if (leading < 0 || input.sizes().slice(leading) != normalized_shape) {
    std::string sizes;
    for (const int64_t size : normalized_shape) {
      sizes += c10::str(", ", size);
    }
    TORCH_CHECK(
        false, "Given normalized_shape=", normalized_shape, ", expected input with shape [*", sizes,
        "], but got input of size", input.sizes());
  }
  return leading;
}

c10::ScalarType check_norm_dtypes(
    const TensorBase& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias) {
  const TensorBase *w = given(weight), *b = given(bias);
  const TensorBase* first = w != nullptr ? w : b;
  if (first == nullptr) {
    return input.scalar_type();
  }
  const c10::ScalarType dtype = first->scalar_type();
  const bool narrow = input.scalar_type() == kHalf || input.scalar_type() == kBFloat16;
  TORCH_CHECK(
      dtype == input.scalar_type() || (narrow && dtype == kFloat),
      "mixed dtype (CPU): expect parameter to have scalar type of Float; got ", dtype, " beside an input of ",
      input.scalar_type());
  TORCH_CHECK(
      b == nullptr || b->scalar_type() == dtype, "expected scalar type ", dtype, " but found ",
      b == nullptr ? dtype : b->scalar_type(), ": weight and bias must have one dtype");
  return dtype;
}

std::array<TensorSpec, 3> native_layer_norm(
    const char*,
    const TensorBase& input,
    IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    double) {
  const int64_t leading = check_layer_norm(input, normalized_shape, weight, bias);
  const c10::ScalarType dtype = check_norm_dtypes(input, weight, bias);
  c10::DimVector stats(input.sizes().begin(), input.sizes().end());
  for (int64_t d = leading; d < input.dim(); ++d) {
    stats[d] = 1;
  }
  return {
      TensorSpec::like(input, input.sizes()), TensorSpec::like(input, stats, dtype),
      TensorSpec::like(input, stats, dtype)};
}

std::array<TensorSpec, 3> native_group_norm(
    const char* op,
    const TensorBase& input,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    double) {
  TORCH_CHECK(group > 0, "Expected num groups to be greater than 0, got ", group);
  TORCH_CHECK(
      C % group == 0, "Expected number of channels in input to be divisible by num_groups, but got input of shape ",
      input.sizes(), " and num_groups=", group);
  int64_t elements = 0;
  TORCH_CHECK(
      N >= 0 && C >= 0 && HxW >= 0 && !c10::mul_overflows(N, C, &elements) &&
          !c10::mul_overflows(elements, HxW, &elements) && input.numel() == elements,
      "Expected X.numel() == N * C * HxW to be true, but got false.  (Could this error message be improved?  If so, "
      "please report an enhancement request to PyTorch.) ",
      op, " got an input of ", input.sizes(), " that does not have N * C * HxW = ", N, " * ", C, " * ", HxW,
      " elements");
  for (const TensorBase* t : {given(weight), given(bias)}) {
    TORCH_CHECK(
        t == nullptr || (t->dim() == 1 && t->numel() == C), "Expected ",
        t != nullptr && t == given(weight) ? "weight" : "bias",
        " to be a vector of size equal to the number of channels in input, but got ",
        t != nullptr && t == given(weight) ? "weight" : "bias", " of shape ", t == nullptr ? IntArrayRef() : t->sizes(),
        " and input of shape ", input.sizes());
  }
  const c10::ScalarType dtype = check_norm_dtypes(input, weight, bias);
  return {
      TensorSpec::like(input, input.sizes()), TensorSpec::like(input, {N, group}, dtype),
      TensorSpec::like(input, {N, group}, dtype)};
}

// ---- embedding -----------------------------------------------------------------------------------------------------

namespace {

void check_index_dtype(const char* op, const TensorBase& indices) {
  TORCH_CHECK(
      indices.scalar_type() == kLong || indices.scalar_type() == kInt,
      "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got ",
      indices.toString(), " instead (while checking arguments for ", op, ")");
}

} // namespace

TensorSpec embedding(const char* op, const TensorBase& weight, const TensorBase& indices, int64_t, bool, bool) {
  TORCH_CHECK(weight.dim() == 2, "'weight' must be 2-D, got ", weight.sizes());
  check_index_dtype(op, indices);
  check_same_device(op, {&weight, &indices});
  c10::DimVector sizes(indices.sizes().begin(), indices.sizes().end());
  sizes.push_back(weight.size(1));
  return TensorSpec::like(weight, sizes);
}

TensorSpec embedding_dense_backward(
    const char* op, const TensorBase& grad_output, const TensorBase& indices, int64_t num_weights, int64_t, bool) {
  check_index_dtype(op, indices);
  TORCH_CHECK(num_weights >= 0, op, ": num_weights must not be negative, got ", num_weights);
  const int64_t lead = indices.dim();
  TORCH_CHECK(
      grad_output.dim() == lead + 1 && grad_output.sizes().slice(0, lead) == indices.sizes(), op,
      ": grad_output must have the sizes of indices and one more dimension; got ", grad_output.sizes(),
      " for indices of ", indices.sizes());
  check_same_device(op, {&grad_output, &indices});
  return TensorSpec::like(grad_output, {num_weights, grad_output.size(lead)});
}

// ---- negative log likelihood ---------------------------------------------------------------------------------------

namespace {

void check_target_dtype(const TensorBase& target) {
  TORCH_CHECK(
      target.scalar_type() == kLong || target.scalar_type() == kByte, "expected scalar type Long but found ",
      target.scalar_type());
}

void check_class_weight(
    const TensorBase& self, int64_t classes, const std::optional<Tensor>& weight, const char* phrase) {
  const TensorBase* w = given(weight);
  if (w == nullptr) {
    return;
  }
  TORCH_CHECK(w->dim() == 1 && w->numel() == classes, phrase, " but got weight tensor of shape: ", w->sizes());
  TORCH_CHECK(
      w->scalar_type() == self.scalar_type(), "expected scalar type ", self.scalar_type(), " but found ",
      w->scalar_type(), " for the weight of nll_loss");
}

void check_nll(const char* op, const TensorBase& self, const TensorBase& target, const std::optional<Tensor>& weight) {
  TORCH_CHECK(self.dim() > 0 && self.dim() <= 2, "input tensor should be 1D or 2D, got ", self.dim(), "D");
  TORCH_CHECK(
      target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported, got ", target.dim(), "D");
  const bool no_batch = self.dim() == 1 && target.dim() == 0;
  TORCH_CHECK(
      no_batch || (self.dim() == 2 ? target.dim() == 1 && self.size(0) == target.size(0) : target.numel() == 1),
      "size mismatch (got input: ", self.sizes(), ", target: ", target.sizes(), ")");
  check_target_dtype(target);
  const int64_t classes = self.size(self.dim() - 1);
  check_class_weight(
      self, classes, weight,
      c10::str("weight tensor should be defined either for all ", classes, " classes or no classes").c_str());
  check_same_device(op, {&self, &target});
}

void check_nll2d(
    const char* op, const TensorBase& self, const TensorBase& target, const std::optional<Tensor>& weight) {
  TORCH_CHECK(
      target.dim() == 3,
      "only batches of spatial targets supported (3D tensors) but got targets of dimension: ", target.dim());
  TORCH_CHECK(
      self.dim() == 4,
      "only batches of spatial inputs supported (4D tensors), but got input of dimension: ", self.dim());
  TORCH_CHECK(
      self.size(0) == target.size(0) && self.size(2) == target.size(1) && self.size(3) == target.size(2),
      "size mismatch (got input: ", self.sizes(), " , target: ", target.sizes(), ")");
  check_target_dtype(target);
  check_class_weight(self, self.size(1), weight, "weight tensor should be defined either for all or no classes");
  check_same_device(op, {&self, &target});
}

void check_reduced_grad(
    const char* op,
    const TensorBase& grad,
    IntArrayRef unreduced,
    int64_t reduction,
    const TensorBase& total_weight,
    const TensorBase& self) {
  if (reduction == Reduction::None) {
    TORCH_CHECK(
        grad.sizes() == unreduced, "Expected a tensor of sizes ", unreduced, " as grad_output of ", op, ", but got ",
        grad.sizes());
  } else {
    TORCH_CHECK(
        grad.dim() <= 1 && grad.numel() == 1, "Expected a single element grad_output tensor, but got: ", grad.sizes());
  }
  TORCH_CHECK(
      total_weight.numel() == 1, "expected total_weight to be a single element tensor, got: ", total_weight.sizes(),
      " (", total_weight.numel(), " elements)");
  TORCH_CHECK(
      grad.scalar_type() == self.scalar_type() && total_weight.scalar_type() == self.scalar_type(),
      "expected scalar type ", self.scalar_type(), " but found ", grad.scalar_type(), " and ",
      total_weight.scalar_type(), " for grad_output and total_weight of ", op);
}

} // namespace

std::array<TensorSpec, 2> nll_loss_forward(
    const char* op,
    const TensorBase& self,
    const TensorBase& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t) {
  check_nll(op, self, target, weight);
  const bool each = reduction == Reduction::None && self.dim() == 2;
  return {TensorSpec::like(self, each ? self.sizes().slice(0, 1) : IntArrayRef()), TensorSpec::like(self, {})};
}

TensorSpec nll_loss_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& self,
    const TensorBase& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t,
    const TensorBase& total_weight) {
  check_nll(op, self, target, weight);
  const bool each = reduction == Reduction::None && self.dim() == 2;
  check_reduced_grad(op, grad_output, self.sizes().slice(0, 1), each ? reduction : Reduction::Sum, total_weight, self);
  return TensorSpec::like(self, self.sizes());
}

std::array<TensorSpec, 2> nll_loss2d_forward(
    const char* op,
    const TensorBase& self,
    const TensorBase& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t) {
  check_nll2d(op, self, target, weight);
  return {
      TensorSpec::like(self, reduction == Reduction::None ? target.sizes() : IntArrayRef()),
      TensorSpec::like(self, {})};
}

TensorSpec nll_loss2d_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& self,
    const TensorBase& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t,
    const TensorBase& total_weight) {
  check_nll2d(op, self, target, weight);
  check_reduced_grad(op, grad_output, target.sizes(), reduction, total_weight, self);
  return TensorSpec::like(self, self.sizes());
}

/// Throw unless the output has the dtype of self.
void multi_margin_loss_out(
    const char* op,
    const TensorBase& self,
    const TensorBase&,
    const c10::Scalar&,
    const c10::Scalar&,
    const std::optional<Tensor>&,
    int64_t,
    const TensorBase& out) {
  check_out_dtype(op, self, out);
}

void check_batch_norm_outs(const Operands& operands) {
  const TensorBase& input = *operands.front();
  const size_t outs = operands.size() - 3;
  const bool reduced = input.scalar_type() == kHalf || input.scalar_type() == kBFloat16;
  bool mixed = false;
  for (size_t i = 1; i < outs; ++i) {
    mixed = mixed || (reduced && operands[i]->defined() && operands[i]->scalar_type() == kFloat);
  }
  check_scalar_types(input, {operands[outs]});
  const auto dtype = mixed ? kFloat : input.scalar_type();
  for (size_t i = outs + 1; i < operands.size(); ++i) {
    TORCH_CHECK(
        !operands[i]->defined() || operands[i]->scalar_type() == dtype, "expected scalar type ", dtype, " but found ",
        operands[i]->scalar_type(), " for the statistics of batch_norm");
  }
}

/// The place where the targets are marked is contiguous, unless it is resized.
void multilabel_margin_loss_forward_out(
    const char* op,
    const TensorBase& self,
    const TensorBase& target,
    int64_t,
    const TensorBase& output,
    const TensorBase& is_target) {
  check_scalar_types(self, {&output, &is_target});
  TORCH_CHECK(
      is_target.sizes() != target.sizes() || is_target.is_contiguous(), "is_target must be contiguous (in ", op,
      "; got strides ", is_target.strides(), " for ", is_target.sizes(), ")");
}

void soft_margin_loss_backward_out(
    const char*,
    const TensorBase& grad_output,
    const TensorBase&,
    const TensorBase& target,
    int64_t,
    const TensorBase& grad_input) {
  check_iterated({&grad_output, &target, &grad_input});
}

void multilabel_margin_loss_out(
    const char* op, const TensorBase& self, const TensorBase&, int64_t, const TensorBase& out) {
  check_out_dtype(op, self, out);
}

} // namespace at::shape
