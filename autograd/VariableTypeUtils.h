// What the generated autograd kernels are made of.
#pragma once

#include <aten/core/List.h>
#include <aten/core/Tensor.h>
#include <aten/core/Variadic.h>
#include <autograd/function.h>
#include <autograd/functions/basic_ops.h>
#include <autograd/functions/tensor.h>
#include <autograd/functions/utils.h>
#include <autograd/saved_variable.h>
#include <autograd/variable.h>
#include <c10/macros/Export.h>
#include <c10/util/OptionalArrayRef.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torch::autograd {

// ---- in-place operators --------------------------------------------------------------------------------------------

/// Why a tensor may not be changed in place while gradients are recorded.
enum class can_mutate_inplace_result {
  success,
  non_default_backward_view,
  view_of_leaf,
  is_leaf,
};

inline can_mutate_inplace_result can_mutate_inplace(const at::Tensor& tensor, bool requires_grad) {
  if (!requires_grad || !GradMode::is_enabled()) {
    return can_mutate_inplace_result::success;
  }
  if (const DifferentiableViewMeta* view = impl::get_view_autograd_meta(tensor)) {
    if (view->get_creation_meta() != CreationMeta::DEFAULT) {
      return can_mutate_inplace_result::non_default_backward_view;
    }
    if (tensor.requires_grad() && tensor._base().is_leaf()) {
      return can_mutate_inplace_result::view_of_leaf;
    }
  }
  return tensor.requires_grad() && tensor.is_leaf() ? can_mutate_inplace_result::is_leaf
                                                    : can_mutate_inplace_result::success;
}

/// Throws when `tensor` may not be changed in place by an operator that is recorded if `requires_grad`.
inline void check_inplace(const at::Tensor& tensor, bool requires_grad) {
  switch (can_mutate_inplace(tensor, requires_grad)) {
    case can_mutate_inplace_result::success:
      return;
    case can_mutate_inplace_result::non_default_backward_view:
      handle_view_on_rebase(impl::get_view_autograd_meta(tensor));
      return;
    case can_mutate_inplace_result::view_of_leaf:
      TORCH_CHECK(
          false, "a view of a leaf Variable that requires grad is being used in an in-place operation. Use ",
          "torch::NoGradGuard, or change a copy");
    case can_mutate_inplace_result::is_leaf:
      TORCH_CHECK(
          false, "a leaf Variable that requires grad is being used in an in-place operation. Use torch::NoGradGuard, ",
          "or change a copy");
  }
}
inline void check_inplace(at::ArrayRef<at::Tensor> tensors, bool requires_grad) {
  for (const at::Tensor& tensor : tensors) {
    check_inplace(tensor, requires_grad);
  }
}

/// Gives an argument that was changed in place its new history.
inline void rebase_history(const at::Tensor& variable, std::shared_ptr<Node> grad_fn) {
  if (grad_fn && variable.defined()) {
    grad_fn->add_input_metadata(variable);
    impl::rebase_history(variable, {std::move(grad_fn), 0});
  }
}
inline void rebase_history(at::ArrayRef<at::Tensor> variables, const std::shared_ptr<Node>& grad_fn) {
  if (!grad_fn) {
    return;
  }
  for (const at::Tensor& variable : variables) {
    if (variable.defined()) {
      const uint32_t output_nr = grad_fn->add_input_metadata(variable);
      impl::rebase_history(variable, {grad_fn, output_nr});
    } else {
      grad_fn->add_input_metadata(Node::undefined_input());
    }
  }
}
inline void rebase_history(const std::vector<at::Tensor>& variables, const std::shared_ptr<Node>& grad_fn) {
  rebase_history(at::ArrayRef<at::Tensor>(variables), grad_fn);
}

/// All tensors among the arguments, in their order; optional ones where they are there, lists one by one.
template <typename... Args>
variable_list flatten_tensor_args(Args&&... args) {
  struct Flatten : at::IterArgs<Flatten> {
    explicit Flatten(variable_list& list) : list(list) {}
    void operator()(const at::Tensor& tensor) {
      list.push_back(tensor);
    }
    void operator()(const std::optional<at::Tensor>& tensor) {
      if (tensor) {
        list.push_back(*tensor);
      }
    }
    void operator()(at::ArrayRef<at::Tensor> tensors) {
      list.insert(list.end(), tensors.begin(), tensors.end());
    }
    variable_list& list;
  };
  variable_list list;
  Flatten(list).apply(std::forward<Args>(args)...);
  return list;
}

inline void increment_version(const at::Tensor& t) {
  impl::bump_version(t);
}
inline void increment_version(at::ArrayRef<at::Tensor> list) {
  for (const at::Tensor& t : list) {
    impl::bump_version(t);
  }
}

// ---- views ---------------------------------------------------------------------------------------------------------

/// Makes `tensor`, which a view operator just made of `base`, a view of it. `view_func` repeats the operator on another
/// base; where it is empty, as_strided or a change of dtype is repeated. Views through which no gradient flows (detach)
/// keep no track.
TORCH_API at::Tensor as_view(
    const at::Tensor& base,
    const at::Tensor& tensor,
    bool is_bw_differentiable,
    bool is_fw_differentiable,
    std::unique_ptr<ViewFunc> view_func = nullptr,
    CreationMeta creation_meta = CreationMeta::DEFAULT,
    bool allow_tensor_metadata_change = true);

/// The same for an operator that makes several views. While gradients are recorded, those may not be changed in place.
TORCH_API std::vector<at::Tensor> as_view(
    const at::Tensor& base,
    std::vector<at::Tensor> tensors,
    bool is_bw_differentiable,
    bool is_fw_differentiable,
    CreationMeta creation_meta = CreationMeta::DEFAULT);

/// The creation meta for a view that an operator makes now.
inline CreationMeta view_creation_meta(bool multiple_outputs = false) {
  if (c10::InferenceMode::is_enabled()) {
    return CreationMeta::INFERENCE_MODE;
  }
  if (!GradMode::is_enabled()) {
    return CreationMeta::NO_GRAD_MODE;
  }
  return multiple_outputs ? CreationMeta::MULTI_OUTPUT_NODE : CreationMeta::DEFAULT;
}

// ---- checks --------------------------------------------------------------------------------------------------------

/// For out= forms that are recorded.
[[noreturn]] TORCH_API void throw_error_out_requires_grad(const char* name);

TORCH_API void throw_error_for_complex_autograd(const at::Tensor& tensor, const char* name);

/// Throws when an argument that operator `fn_name` has no gradient for requires one.
TORCH_API void check_no_requires_grad(const at::Tensor& tensor, const char* name, const char* fn_name = "");
inline void check_no_requires_grad(
    const std::optional<at::Tensor>& tensor, const char* name, const char* fn_name = "") {
  if (tensor.has_value()) {
    check_no_requires_grad(*tensor, name, fn_name);
  }
}
inline void check_no_requires_grad(at::ArrayRef<at::Tensor> tensors, const char* name, const char* fn_name = "") {
  for (const at::Tensor& tensor : tensors) {
    check_no_requires_grad(tensor, name, fn_name);
  }
}

// ---- what nodes keep -----------------------------------------------------------------------------------------------

TORCH_API std::vector<SavedVariable> make_saved_variable_list(at::ArrayRef<at::Tensor> tensors, bool is_output = false);
TORCH_API std::vector<SavedVariable> make_saved_variable_list(
    const c10::List<std::optional<at::Tensor>>& tensors, bool is_output = false);
inline std::vector<SavedVariable> make_saved_variable_list(
    const std::vector<at::Tensor>& tensors, bool is_output = false) {
  return make_saved_variable_list(at::ArrayRef<at::Tensor>(tensors), is_output);
}

/// The saved tensors; `saved_for` is needed for outputs.
TORCH_API std::vector<at::Tensor> unpack_list(
    const std::vector<SavedVariable>& saved, const std::shared_ptr<Node>& saved_for = nullptr);
/// The same as optional tensors, none where undefined.
TORCH_API c10::List<std::optional<at::Tensor>> unpack_opt_list(
    const std::vector<SavedVariable>& saved, const std::shared_ptr<Node>& saved_for = nullptr);

TORCH_API std::vector<std::vector<int64_t>> to_args_sizes(at::ArrayRef<at::Tensor> tensors);
TORCH_API std::vector<at::ScalarType> to_args_scalartypes(at::ArrayRef<at::Tensor> tensors);

inline std::optional<std::vector<int64_t>> optional_vector(at::OptionalIntArrayRef list) {
  return list.has_value() ? std::optional<std::vector<int64_t>>(list->vec()) : std::nullopt;
}
inline std::optional<std::vector<double>> optional_vector(std::optional<at::ArrayRef<double>> list) {
  return list.has_value() ? std::optional<std::vector<double>>(list->vec()) : std::nullopt;
}
inline at::OptionalIntArrayRef optional_ref(const std::optional<std::vector<int64_t>>& list) {
  return list.has_value() ? at::OptionalIntArrayRef(at::IntArrayRef(*list)) : at::OptionalIntArrayRef();
}
inline std::optional<std::string> optional_string(std::optional<std::string_view> text) {
  return text.has_value() ? std::optional<std::string>(*text) : std::nullopt;
}
/// Size number `dim`, counted from the end when negative.
inline int64_t size_of(at::IntArrayRef sizes, int64_t dim) {
  return sizes[static_cast<size_t>(c10::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size())))];
}
/// The tensor, or an undefined one.
inline const at::Tensor& defined_or_empty(const std::optional<at::Tensor>& tensor) {
  static const at::Tensor empty;
  return tensor.has_value() ? *tensor : empty;
}
inline const at::Tensor& defined_or_empty(const at::Tensor& tensor) {
  return tensor;
}

} // namespace torch::autograd
