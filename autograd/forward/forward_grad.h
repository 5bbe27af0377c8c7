// The tangents of one tensor, by level.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace torch::autograd {

namespace forward_ad {
class Level;
} // namespace forward_ad

/// Stands for the highest level at which there is a tangent.
constexpr uint64_t kAnyLevel = ~uint64_t{0};

/// Belongs to a tensor, and is shared by nodes that have saved its value: they see tangents that the tensor gets later.
/// All members may be called by several threads.
class TORCH_API ForwardGrad {
 public:
  /// Of `owner`, whose dispatch key ForwardAD goes with its last tangent.
  explicit ForwardGrad(c10::TensorImpl* owner);
  ForwardGrad(const ForwardGrad&) = delete;
  ForwardGrad& operator=(const ForwardGrad&) = delete;
  ~ForwardGrad();

  /// The tangent at a level, undefined where there is none. The reference holds until it is set or reset.
  const at::Tensor& value(uint64_t level) const;
  struct Highest {
    uint64_t level;
    bool visible_besides; // whether there is a tangent at another level that HiddenLevel does not hide
  };
  /// The highest level with a tangent of one of several tensors that HiddenLevel does not hide; their tangents there go
  /// to `tangents`.
  static std::optional<Highest> read_highest(
      c10::ArrayRef<const ForwardGrad*> grads, c10::ArrayRef<at::Tensor*> tangents);
  /// The highest level with a tangent that HiddenLevel does not hide.
  std::optional<uint64_t> highest_visible() const;
  std::vector<uint64_t> all_levels() const;
  bool empty() const;

  /// Throws for a level that nobody is in.
  void set(uint64_t level, at::Tensor tangent);
  void reset(uint64_t level);
  /// The tensor is gone.
  void forget_owner();

 private:
  friend class forward_ad::Level;
  struct Tangent;

  std::unique_ptr<Tangent> take(uint64_t level);

  c10::TensorImpl* owner_;
  // A list, by falling level.
  std::unique_ptr<Tangent> highest_;
};

namespace forward_ad {
/// Whether it has a tangent that HiddenLevel does not hide.
TORCH_API bool has_tangent(const at::TensorBase& self);
} // namespace forward_ad

namespace impl {

/// The tangents of a tensor, null where it has had none.
TORCH_API const std::shared_ptr<ForwardGrad>& forward_grad(const at::TensorBase& self);
/// The same, made where there is none.
TORCH_API const std::shared_ptr<ForwardGrad>& materialize_forward_grad(const at::TensorBase& self);
/// Lets `self`, over the same memory, have the tangents of another tensor as long as that has them.
TORCH_API void share_forward_grad(const at::TensorBase& self, std::shared_ptr<ForwardGrad> forward_grad);
/// Gives a view that has had no tangents those of its base, see watch_all_tensors().
TORCH_API void adopt_tangents_of_base(const at::TensorBase& self);

} // namespace impl

} // namespace torch::autograd
