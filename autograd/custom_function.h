#pragma once

#include <c10/util/DimVector.h>
#include <aten/core/ivalue.h>
#include <autograd/function.h>
#include <autograd/functions/utils.h>
#include <autograd/saved_variable.h>
#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <c10/macros/Export.h>
#include <c10/util/Indirect.h>
#include <c10/util/OwnedPtr.h>
#include <c10/util/flat_hash_map.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace at::functorch {
enum class RandomnessType : uint8_t;
} // namespace at::functorch

namespace torch::autograd {

/// What a gradient of zeros for a forward output must look like.
struct TORCH_API VariableInfo {
  explicit VariableInfo(const Variable& var);

  Variable zeros() const;

  at::TensorOptions options;
  std::vector<int64_t> size;
  bool requires_grad;
};

} // namespace torch::autograd

extern template class TORCH_API c10::Indirect<std::vector<std::optional<torch::autograd::VariableInfo>>>;

namespace torch::autograd {

/// For each argument of a custom function 1 where it is an input that gradients flow to, else 0.
using VariableFlags = c10::DimVector;

template <class T>
struct CppNode;
class FunctionBatch;

/// What the forward of a custom function hands to its backward.
struct TORCH_API AutogradContext {
  AutogradContext();
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;
  ~AutogradContext();

  /// Anything but tensors. Tensors belong into save_for_backward, which sees in-place changes and avoids cycles.
  ska::flat_hash_map<std::string, at::IValue> saved_data;

  /// Keeps inputs and outputs of the forward; undefined tensors are fine. At most one call, in forward.
  void save_for_backward(variable_list to_save);
  /// Says that these inputs were changed in place. They must also be returned.
  void mark_dirty(const variable_list& inputs);
  /// Says that no gradient flows through these outputs.
  void mark_non_differentiable(const variable_list& outputs);
  /// Whether undefined gradients are turned into zeros before backward sees them; they are by default.
  void set_materialize_grads(bool value);

  /// What save_for_backward kept. Throws when it was freed, or changed in place since.
  variable_list get_saved_variables() const;

  /// For use in backward: whether the gradient of tensor input number `output_edge_index` is wanted.
  bool needs_input_grad(size_t output_edge_index) const;
  /// Whether any in the ranges is.
  bool needs_input_grad(std::initializer_list<IndexRange> idxs) const;

  // For the implementation.
  const std::unordered_set<c10::TensorImpl*>& get_and_bump_dirty() const;
  const std::unordered_set<c10::TensorImpl*>& get_non_differentiable() const;

 private:
  template <class T>
  friend struct CppNode;
  friend struct CustomNode;

  using Values = std::unordered_map<c10::TensorImpl*, Variable>;

  void save_variables();
  const std::unordered_set<c10::TensorImpl*>& dirty_inputs() const;
  /// Values of batched tensors take the place of the tensors that were marked or are to be saved.
  void take_values(const Values& value_of, const variable_list& inputs);

  /// Which tensors were marked; null unless some were.
  struct Marks;
  Marks& marks();

  c10::OwnedPtr<Marks> marks_;
  c10::OwnedPtr<FunctionBatch> batch_; // null unless a tensor is batched
  c10::Indirect<std::vector<SavedVariable>> saved_variables_;
  variable_list to_save_;
  std::weak_ptr<Node> grad_fn_; // weak, because that node holds this
  bool materialize_grads_ = true;
  bool has_freed_buffers_ = false;
};

/// The part of a custom function's node that does not depend on the function.
struct TORCH_API CustomNode : public Node {
  variable_list apply(variable_list&& inputs) final;
  void release_variables() final;

  /// Notes the inputs and sets the edges if the call is recorded, which is returned.
  bool begin(const variable_list& inputs, VariableFlags&& is_variable_input);
  /// Gives the outputs their history and saves what was asked for.
  variable_list finish(const variable_list& inputs, variable_list&& outputs, bool recorded);

  AutogradContext ctx_;
  VariableFlags is_variable_input_;
  c10::Indirect<std::vector<std::optional<VariableInfo>>> output_info_;

 protected:
  virtual variable_list call_backward(variable_list inputs) = 0;
  /// Puts the outputs' tangents in place of the inputs' ones; false where the function has no rule for them.
  virtual bool call_jvp(variable_list& /*tangents*/) {
    return false;
  }

 private:
  variable_list finish_batched(const variable_list& inputs, const variable_list& outputs, bool recorded);
  variable_list finish_values(const variable_list& inputs, variable_list&& outputs, bool recorded);
  void set_tangents(const variable_list& inputs, const variable_list& outputs, bool recorded);
  bool call_batched_jvp(variable_list& tangents);
};

namespace detail {

template <class T, class = void>
struct has_jvp : std::false_type {};
template <class T>
struct has_jvp<T, std::void_t<decltype(T::jvp(std::declval<AutogradContext*>(), std::declval<variable_list>()))>>
    : std::true_type {};

} // namespace detail

/// The node of custom function `T`.
template <class T>
struct CppNode final : public CustomNode {
 protected:
  variable_list call_backward(variable_list inputs) override {
    return T::backward(&ctx_, inputs);
  }
  bool call_jvp(variable_list& tangents) override {
    if constexpr (detail::has_jvp<T>::value) {
      tangents = T::jvp(&ctx_, std::move(tangents));
    }
    return detail::has_jvp<T>::value;
  }
};

namespace detail {

TORCH_API void extract_variables(VariableFlags& is_variable, variable_list& list, const at::Tensor& x);
TORCH_API void extract_variables(VariableFlags& is_variable, variable_list& list, const std::optional<at::Tensor>& x);
TORCH_API void extract_variables(VariableFlags& is_variable, variable_list& list, at::ArrayRef<at::Tensor> xs);

// Which arguments are inputs is told by their own type, as in libtorch: a vector of tensors is passed through like a
// number.
template <typename T>
void extract_argument(VariableFlags& is_variable, variable_list& list, const T& x) {
  if constexpr (
      std::is_same_v<T, at::Tensor> || std::is_same_v<T, std::optional<at::Tensor>> ||
      std::is_same_v<T, at::ArrayRef<at::Tensor>>) {
    extract_variables(is_variable, list, x);
  } else {
    is_variable.push_back(0);
  }
}

inline variable_list to_list(variable_list&& outputs) {
  return std::move(outputs);
}
TORCH_API variable_list to_list(Variable&& output);

template <typename Result>
Result from_list(variable_list&& list) {
  static_assert(
      std::is_same_v<Result, Variable> || std::is_same_v<Result, variable_list>,
      "forward must return a Variable or a variable_list");
  if constexpr (std::is_same_v<Result, Variable>) {
    return std::move(list[0]);
  } else {
    return std::move(list);
  }
}

} // namespace detail

/// The type that `X::forward` returns for these arguments.
template <typename X, typename... Args>
using forward_t = decltype(X::forward(nullptr, std::declval<Args>()...));

/// What the member `vmap` of a custom function is told of the vmap it is called in.
struct VmapInfo {
  int64_t batch_size;
  at::functorch::RandomnessType randomness;
};
/// For each argument (each tensor of a `TensorList`), or each output, which dimension counts samples, if any does.
using VmapDims = std::vector<std::optional<int64_t>>;

namespace detail {

template <class T, class = void>
struct has_vmap : std::false_type {};
template <class T>
struct has_vmap<T, std::void_t<decltype(&T::vmap)>> : std::true_type {};

/// A call of a function with a rule of its own for vmap: the level of its arguments, and what they are outside of it.
class TORCH_API VmapCall {
 public:
  VmapCall();
  VmapCall(const VmapCall&) = delete;
  VmapCall& operator=(const VmapCall&) = delete;
  ~VmapCall();

  /// Makes the level of a tensor that of the call, if it is batched at a higher one.
  void look_at(const at::Tensor& x);
  void look_at(const std::optional<at::Tensor>& x);
  void look_at(at::ArrayRef<at::Tensor> xs);
  template <class T>
  void look_at(const T&) {}
  bool is_batched() const;

  /// An argument outside of the level; notes where its batch stands.
  at::Tensor below(const at::Tensor& x);
  std::optional<at::Tensor> below(const std::optional<at::Tensor>& x);
  variable_list below(at::ArrayRef<at::Tensor> xs);
  template <class T>
  const T& below(const T& x) {
    in_dims_.emplace_back();
    return x;
  }

  /// Hides the level from this thread for as long as this lives.
  VmapInfo enter();
  const VmapDims& in_dims() const {
    return in_dims_;
  }
  /// What the rule returned, as outputs that stand for samples. Throws unless there is an entry of `dims` for each.
  variable_list outputs(variable_list&& outputs, const VmapDims& dims) const;

 private:
  struct Level;
  c10::OwnedPtr<Level> level_;
  VmapDims in_dims_;
};

template <class T, class Result, class... Args>
Result call_vmap(VmapCall& call, const Args&... args) {
  const std::tuple<decltype(call.below(args))...> values{call.below(args)...};
  const VmapInfo info = call.enter();
  auto [outputs, out_dims] =
      std::apply([&](const auto&... value) { return T::vmap(info, call.in_dims(), value...); }, values);
  return from_list<Result>(call.outputs(to_list(Result(std::move(outputs))), out_dims));
}

} // namespace detail

/// An operator with a hand-written derivative:
///
///     struct Square : torch::autograd::Function<Square> {
///       static Variable forward(AutogradContext* ctx, const Variable& x) { ctx->save_for_backward({x}); return x * x;
///       } static variable_list backward(AutogradContext* ctx, variable_list grads) {
///         return {grads[0] * 2 * ctx->get_saved_variables()[0]};
///       }
///     };
///     Variable y = Square::apply(x);
///
/// `forward` takes any arguments and returns a Variable or a variable_list; it is not recorded. `backward` gets one
/// gradient for each output and returns one for each argument (one for each tensor of a `TensorList`), undefined for
/// those that are no tensors; a `std::vector<Tensor>` counts as one that is none, so no gradient flows to its elements;
/// it is recorded if the caller asks for that, so higher derivatives work.
///
/// A rule for forward mode is `static variable_list jvp(AutogradContext* ctx, variable_list tangents)`: it gets the
/// tangents of the tensors among the arguments (zeros where there are none, or undefined ones without
/// `set_materialize_grads`), may ask for what was saved, and returns one for each output. Without it `apply` throws
/// where an argument has a tangent.
///
/// Inside of vmap `forward`, `backward` and `jvp` run with tensors that look like one sample, and so do those that
/// `save_for_backward` or `saved_data` kept. A rule of one's own is
///
///     static std::pair<Result, VmapDims> vmap(const VmapInfo& info, const VmapDims& in_dims, args...)
///
/// It gets the arguments with all samples, and where the samples are in each of them, and returns the outputs and where
/// they are in those. Gradients are those of what it calls (`apply`, with other arguments, or other operators).
template <class T>
struct Function {
  static constexpr bool is_traceable = false;

  /// Calls `T::forward(ctx, args...)`. Throws what it throws, or when what it returns contradicts its marks.
  template <typename X = T, typename... Args>
  static auto apply(Args&&... args) -> std::enable_if_t<std::is_same_v<X, T>, forward_t<X, Args...>> {
    using Result = forward_t<X, Args...>;
    if constexpr (detail::has_vmap<X>::value) {
      detail::VmapCall call;
      (call.look_at(std::as_const(args)), ...);
      if (call.is_batched()) {
        return detail::call_vmap<X, Result>(call, args...);
      }
    }
    const auto node = make_node<CppNode<T>>();
    VariableFlags is_variable_input;
    variable_list inputs;
    is_variable_input.reserve(sizeof...(Args));
    inputs.reserve(sizeof...(Args));
    (detail::extract_argument(is_variable_input, inputs, std::as_const(args)), ...);
    const bool recorded = node->begin(inputs, std::move(is_variable_input));

    std::optional<Result> outputs;
    {
      const AutoGradMode no_grad(false);
      const c10::AutoFwGradMode no_tangents(false);
      outputs.emplace(T::forward(&node->ctx_, std::forward<Args>(args)...));
    }
    return detail::from_list<Result>(node->finish(inputs, detail::to_list(*std::move(outputs)), recorded));
  }
};

} // namespace torch::autograd
