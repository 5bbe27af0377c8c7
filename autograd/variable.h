#pragma once

#include <aten/core/Tensor.h>
#include <autograd/cpp_hook.h>
#include <autograd/edge.h>
#include <autograd/function.h>
#include <autograd/function_hook.h>
#include <c10/core/ScalarType.h>
#include <c10/core/SmallPool.h>
#include <c10/core/TensorImpl.h>
#include <c10/macros/Export.h>
#include <c10/util/Exception.h>
#include <c10/util/OwnedPtr.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::autograd {

/// A tensor. The name says that its history matters.
using Variable = at::Tensor;

struct AutogradMeta;
struct DifferentiableViewMeta;

/// Whether tensors of this dtype can have gradients.
inline bool isDifferentiableType(at::ScalarType t) {
  return c10::isFloatingType(t) || c10::isComplexType(t);
}

/// What the library does with a tensor's history. Not for users, who have the methods of Tensor.
namespace impl {

/// The tensor's history data, null when it has none.
inline AutogradMeta* get_autograd_meta(const at::TensorBase& self);
/// The same if the tensor is a view that autograd tracks, else null.
inline DifferentiableViewMeta* get_view_autograd_meta(const at::TensorBase& self);
/// The tensor's history data, made if needed. Throws for an undefined tensor.
TORCH_API AutogradMeta* materialize_autograd_meta(const at::TensorBase& self);

TORCH_API void set_grad_accumulator(const Variable& self, std::weak_ptr<Node> grad_accumulator);
TORCH_API std::shared_ptr<Node> try_get_grad_accumulator(const at::TensorBase& self);
/// The node that adds to `.grad()` of a leaf, null for a tensor that requires no gradient. Throws for a non-leaf.
TORCH_API std::shared_ptr<Node> grad_accumulator(const at::TensorBase& self);
/// Where the gradient of a tensor goes: into its grad_fn, or for a leaf into its accumulator.
TORCH_API Edge gradient_edge(const at::TensorBase& self);
/// Gives a tensor its history.
TORCH_API void set_gradient_edge(const Variable& self, Edge edge);
/// Gives a tensor that was changed in place its new history; for a view also to the base, and so to all other views.
TORCH_API void rebase_history(const Variable& self, Edge gradient_edge);
/// The grad_fn as it stands, without bringing a view up to date.
TORCH_API Node* grad_fn_unsafe(const Variable& self);

inline void bump_version(const at::TensorBase& self) {
  self.unsafeGetTensorImpl()->bump_version();
}
TORCH_API void set_version_counter(const Variable& self, const c10::VariableVersion& version_counter);
TORCH_API const c10::VariableVersion& version_counter(const Variable& self);

TORCH_API void set_name(const Variable& self, const std::string& name);
TORCH_API void add_hook(const at::TensorBase& self, std::unique_ptr<FunctionPreHook> hook);
TORCH_API std::vector<std::unique_ptr<FunctionPreHook>>& hooks(const at::TensorBase& self);
TORCH_API void clear_hooks(const at::TensorBase& self);
/// Makes the tensor's list of hooks and ties it to its grad_fn or accumulator.
TORCH_API void create_cpp_hook(const at::TensorBase& self);
/// Sets the hook that runs each time after a gradient was added to `.grad()` of a leaf. Throws for a non-leaf.
TORCH_API void set_post_acc_grad_hooks(const at::TensorBase& self, std::unique_ptr<PostAccumulateGradHook> hook);
TORCH_API std::unique_ptr<PostAccumulateGradHook>& post_acc_grad_hooks(const at::TensorBase& self);

} // namespace impl

/// The history data of a tensor.
struct TORCH_API AutogradMeta : public c10::AutogradMetaInterface, public c10::PoolAllocated {
  /// What few tensors have; defined in autograd/autograd_meta_extras.h.
  struct Extras;

  explicit AutogradMeta(c10::TensorImpl* self_impl = nullptr, bool requires_grad = false, Edge gradient_edge = Edge());
  /// Of output `output_nr` of `grad_fn`.
  AutogradMeta(std::shared_ptr<Node>&& grad_fn, uint32_t output_nr) noexcept;
  ~AutogradMeta() override;

  void set_requires_grad(bool requires_grad, c10::TensorImpl* self_impl) final;
  bool requires_grad() const override {
    return requires_grad_ || grad_fn_ != nullptr;
  }
  at::Tensor& mutable_grad() override {
    return grad_;
  }
  const at::Tensor& grad() const override {
    return grad_;
  }
  /// Forward mode lives elsewhere: no tensor has a tangent here.
  const at::Tensor& fw_grad(uint64_t level, const at::TensorBase& self) const override;
  /// Throws.
  void set_fw_grad(
      const at::TensorBase& new_grad, const at::TensorBase& self, uint64_t level, bool is_inplace_op) override;
  Extras& extras();

  Variable grad_;
  std::shared_ptr<Node> grad_fn_;
  /// Weak, because the accumulator holds the tensor.
  std::weak_ptr<Node> grad_accumulator_;
  c10::OwnedPtr<Extras> extras_;
  uint32_t output_nr_ = 0;
  bool requires_grad_ = false;
  bool retains_grad_ = false;
  bool is_view_ = false;
};

/// Repeats a view operator on another base. Needed for views that as_strided cannot repeat, as those that change dtype.
struct TORCH_API ViewFunc {
  virtual ~ViewFunc() = default;
  virtual at::Tensor operator()(const at::Tensor& base) const = 0;
  virtual std::unique_ptr<ViewFunc> clone_and_set() const = 0;
};

/// How a view came from its base.
struct TORCH_API ViewInfo {
  ViewInfo(Variable base, std::unique_ptr<ViewFunc> view_fn);

  bool has_view_fn() const {
    return view_fn_ != nullptr;
  }
  const ViewFunc& view_fn() const {
    TORCH_CHECK(has_view_fn(), "Can only access the view function if it exists.");
    return *view_fn_;
  }
  /// The info of `tensor`, which `view_func` (or as_strided when empty) makes of `base`, itself a view with this info.
  ViewInfo chain(const Variable& base, const Variable& tensor, std::unique_ptr<ViewFunc> view_func) const;

  /// Never itself a tracked view: views of views refer to the first base.
  Variable base_;
  c10::OwnedPtr<ViewFunc> view_fn_;
};

/// Where a view was made, which decides whether it may be changed in place while gradients are recorded.
enum class CreationMeta : uint8_t {
  DEFAULT,
  /// Returned by a custom function, or an input that it returned as it was.
  IN_CUSTOM_FUNCTION,
  /// One of several views from one operator.
  MULTI_OUTPUT_NODE,
  /// Made while gradients were not recorded.
  NO_GRAD_MODE,
  INFERENCE_MODE,
};

/// What holds for a view of a view.
inline CreationMeta propagate_creation_meta(CreationMeta of_base, CreationMeta of_new_view) {
  if (of_new_view == CreationMeta::DEFAULT || of_base == CreationMeta::INFERENCE_MODE) {
    return of_base;
  }
  return of_new_view;
}

/// Throws when a view with such a creation meta is changed in place: itself, or (`indirect`) through its base.
TORCH_API void handle_view_on_rebase(DifferentiableViewMeta* diff_view_meta, bool indirect = false);

/// History data of a view. Its grad_fn is brought up to date when the base or another view was changed in place since,
/// which the version counter tells: all views share their base's.
struct TORCH_API DifferentiableViewMeta : public AutogradMeta {
  DifferentiableViewMeta(
      c10::TensorImpl* self_impl, ViewInfo backward_info, CreationMeta creation_meta = CreationMeta::DEFAULT);
  ~DifferentiableViewMeta() override;

  bool requires_grad() const override {
    return requires_grad_ || grad_fn_ != nullptr || backward_info_.base_.requires_grad();
  }
  bool has_bw_view() const {
    return true;
  }
  const ViewInfo& get_backward_view() const {
    return backward_info_;
  }
  /// The version of the contents that grad_fn_ belongs to. Set after grad_fn_, so that a thread that sees the present
  /// version sees the grad_fn_ with it.
  uint32_t get_attr_version() const {
    return attr_version_.load(std::memory_order_acquire);
  }
  void set_attr_version(uint32_t new_attr_version) {
    attr_version_.store(new_attr_version, std::memory_order_release);
  }
  CreationMeta get_creation_meta() const {
    return creation_meta_;
  }
  void set_creation_meta(CreationMeta new_creation_meta) {
    creation_meta_ = new_creation_meta;
  }

 private:
  ViewInfo backward_info_;
  std::atomic<uint32_t> attr_version_;
  CreationMeta creation_meta_;
};

namespace impl {

inline AutogradMeta* get_autograd_meta(const at::TensorBase& self) {
  TORCH_CHECK(self.defined(), "cannot call get_autograd_meta() on undefined tensor");
  // This library alone makes these objects.
  return static_cast<AutogradMeta*>(self.unsafeGetTensorImpl()->autograd_meta());
}

inline DifferentiableViewMeta* get_view_autograd_meta(const at::TensorBase& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  return meta != nullptr && meta->is_view_ ? static_cast<DifferentiableViewMeta*>(meta) : nullptr;
}

/// Moves what must follow a tensor when its grad_fn changes (retain_grad), and leaves behind what belongs to its old
/// value (hooks).
void update_tensor_hooks_on_new_gradfn(const at::TensorBase& self, const Edge& old_edge, const Edge& new_edge);

} // namespace impl

/// Makes `data`, fresh from a view operator, a view that autograd tracks. Throws when it has history data already.
TORCH_API Variable make_variable_differentiable_view(
    const at::Tensor& data,
    ViewInfo backward_info,
    CreationMeta creation_meta,
    bool allow_tensor_metadata_change = true);

/// Makes a view that shares memory and version counter with `base`, but no history.
TORCH_API Variable make_variable_non_differentiable_view(
    const Variable& base,
    const at::Tensor& data,
    bool allow_tensor_metadata_change = true,
    bool is_fresh_tensor = false);

/// A tensor with the same data and no history; takes over the tensor itself when nobody else has it.
TORCH_API Variable make_variable(at::Tensor data, bool requires_grad = false, bool allow_tensor_metadata_change = true);

/// A tensor with the same data and the history `gradient_edge`.
TORCH_API Variable make_variable(const at::Tensor& data, Edge gradient_edge, bool allow_tensor_metadata_change = true);

namespace utils {
/// Whether two tensors agree in shape, strides, offset and size of the storage.
TORCH_API bool has_same_meta(const Variable& base, const Variable& other);
} // namespace utils

} // namespace torch::autograd
