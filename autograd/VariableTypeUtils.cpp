#include <autograd/VariableTypeUtils.h>

#include <aten/Functions.h>
#include <aten/core/ivalue.h>
#include <autograd/view_func.h>
#include <c10/util/Exception.h>

namespace torch::autograd {

namespace {

// Whether a view reads the memory as its base does, so that as_strided can repeat it.
bool reads_alike(const at::Tensor& base, const at::Tensor& tensor) {
  constexpr c10::DispatchKeySet lazy({c10::DispatchKey::Conjugate, c10::DispatchKey::Negative});
  return base.dtype() == tensor.dtype() && ((base.key_set() ^ tensor.key_set()) & lazy).empty();
}

// How to repeat a view that as_strided cannot repeat.
C10_NOINLINE std::unique_ptr<ViewFunc> reinterpretation(const at::Tensor& base, const at::Tensor& tensor) {
  const at::ScalarType from = base.scalar_type();
  const at::ScalarType to = tensor.scalar_type();
  if (from == to) {
    return base.is_conj() != tensor.is_conj() ? make_view_func([](const at::Tensor& t) { return at::_conj(t); })
                                              : make_view_func([](const at::Tensor& t) { return at::_neg_view(t); });
  }
  if (c10::isComplexType(from) && c10::toRealValueType(from) == to && tensor.dim() == base.dim() + 1) {
    return make_view_func([](const at::Tensor& t) { return at::view_as_real(t); });
  }
  if (c10::isComplexType(to) && c10::toRealValueType(to) == from && tensor.dim() + 1 == base.dim()) {
    return make_view_func([](const at::Tensor& t) { return at::view_as_complex(t); });
  }
  return make_view_func([to](const at::Tensor& t) { return t.view(to); });
}

} // namespace

__attribute__((flatten)) at::Tensor as_view(
    const at::Tensor& base,
    const at::Tensor& tensor,
    bool is_bw_differentiable,
    bool /*is_fw_differentiable*/,
    std::unique_ptr<ViewFunc> view_func,
    CreationMeta creation_meta,
    bool allow_tensor_metadata_change) {
  // A view of an inference tensor is one itself and has no version.
  if (base.is_inference()) {
    return tensor;
  }
  if (!is_bw_differentiable) {
    return make_variable_non_differentiable_view(
        base, tensor, allow_tensor_metadata_change, /*is_fresh_tensor=*/tensor.use_count() == 1);
  }
  TORCH_CHECK(
      base.unsafeGetTensorImpl() != tensor.unsafeGetTensorImpl(),
      "View operation returned a tensor that is the same as the input base tensor. This is no longer allowed; you "
      "must ",
      "explicitly create a new tensor (e.g., using .detach()).");
  if (!view_func && C10_UNLIKELY(!reads_alike(base, tensor))) {
    view_func = reinterpretation(base, tensor);
  }
  if (const DifferentiableViewMeta* base_meta = impl::get_view_autograd_meta(base)) {
    return make_variable_differentiable_view(
        tensor, base_meta->get_backward_view().chain(base, tensor, std::move(view_func)),
        propagate_creation_meta(base_meta->get_creation_meta(), creation_meta), allow_tensor_metadata_change);
  }
  return make_variable_differentiable_view(
      tensor, ViewInfo(base, std::move(view_func)), creation_meta, allow_tensor_metadata_change);
}

std::vector<at::Tensor> as_view(
    const at::Tensor& base,
    std::vector<at::Tensor> tensors,
    bool is_bw_differentiable,
    bool is_fw_differentiable,
    CreationMeta creation_meta) {
  for (at::Tensor& tensor : tensors) {
    tensor = as_view(base, tensor, is_bw_differentiable, is_fw_differentiable, nullptr, creation_meta);
  }
  return tensors;
}

void throw_error_out_requires_grad(const char* name) {
  TORCH_CHECK(
      false, name,
      "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires "
      "grad.");
}

void throw_error_for_complex_autograd(const at::Tensor& tensor, const char* name) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !(tensor.requires_grad() && tensor.is_complex()), name,
      " does not support automatic differentiation for outputs with complex dtype.");
}

void check_no_requires_grad(const at::Tensor& tensor, const char* name, const char* fn_name) {
  TORCH_CHECK(
      !(GradMode::is_enabled() && tensor.defined() && tensor.requires_grad()), "The function '", fn_name,
      "' is not differentiable with respect to argument '", name, "'. This input cannot have requires_grad True.");
}

std::vector<SavedVariable> make_saved_variable_list(at::ArrayRef<at::Tensor> tensors, bool is_output) {
  std::vector<SavedVariable> saved;
  saved.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    saved.emplace_back(tensor, is_output);
  }
  return saved;
}

std::vector<SavedVariable> make_saved_variable_list(
    const c10::List<std::optional<at::Tensor>>& tensors, bool is_output) {
  std::vector<SavedVariable> saved;
  saved.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    saved.emplace_back(static_cast<std::optional<at::Tensor>>(tensors.get(i)), is_output);
  }
  return saved;
}

std::vector<at::Tensor> unpack_list(const std::vector<SavedVariable>& saved, const std::shared_ptr<Node>& saved_for) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(saved.size());
  for (const SavedVariable& variable : saved) {
    tensors.push_back(variable.unpack(saved_for));
  }
  return tensors;
}

c10::List<std::optional<at::Tensor>> unpack_opt_list(
    const std::vector<SavedVariable>& saved, const std::shared_ptr<Node>& saved_for) {
  c10::List<std::optional<at::Tensor>> tensors;
  tensors.reserve(saved.size());
  for (const SavedVariable& variable : saved) {
    at::Tensor tensor = variable.unpack(saved_for);
    tensors.push_back(tensor.defined() ? std::optional<at::Tensor>(std::move(tensor)) : std::nullopt);
  }
  return tensors;
}

std::vector<std::vector<int64_t>> to_args_sizes(at::ArrayRef<at::Tensor> tensors) {
  std::vector<std::vector<int64_t>> sizes;
  sizes.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    sizes.push_back(tensor.sizes().vec());
  }
  return sizes;
}

std::vector<at::ScalarType> to_args_scalartypes(at::ArrayRef<at::Tensor> tensors) {
  std::vector<at::ScalarType> types;
  types.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    types.push_back(tensor.scalar_type());
  }
  return types;
}

} // namespace torch::autograd
