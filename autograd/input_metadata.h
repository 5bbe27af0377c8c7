#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/DimVector.h>

#include <optional>
#include <string>

namespace torch::autograd {

/// What a node expects of one of its inputs, that is, of the gradient of one of its forward outputs: dtype, layout,
/// device, stream and shape. Default-constructed: the input is not used and its gradient may be anything.
struct TORCH_API InputMetadata {
  InputMetadata() = default;
  InputMetadata(const at::TensorOptions& options, c10::IntArrayRef shape, bool is_tensor_subclass = false);
  explicit InputMetadata(const at::Tensor& t);

  at::TensorOptions options() const {
    return at::TensorOptions(dtype_).layout(layout_).device(device_);
  }
  caffe2::TypeMeta dtype() const {
    return c10::scalarTypeToTypeMeta(dtype_);
  }
  at::ScalarType scalar_type() const {
    return dtype_;
  }
  at::Device device() const {
    return device_;
  }
  at::Layout layout() const {
    return layout_;
  }
  /// The stream the forward operator ran on.
  c10::Stream stream() const {
    return c10::Stream(c10::Stream::UNSAFE, device_, stream_id_);
  }
  c10::IntArrayRef sizes() const {
    return shape_;
  }
  c10::SymIntArrayRef shape_as_dim_vector() const {
    return c10::fromIntArrayRefSlow(c10::IntArrayRef(shape_));
  }
  bool is_tensor_subclass() const {
    return false;
  }
  bool is_nested_tensor() const {
    return false;
  }
  bool was_default_constructed() const {
    return was_default_constructed_;
  }
  std::optional<at::ScalarType> grad_dtype() const {
    return dtype_;
  }

  /// A gradient of zeros that fits.
  at::Tensor zeros_like() const;

  bool is_same_shape(const at::Tensor& grad) const {
    return grad.sizes() == c10::IntArrayRef(shape_);
  }
  /// Whether `grad` has the shape of a broadcast of this shape, so that summing brings it back.
  bool is_expandable_to_shape(const at::Tensor& grad) const;
  /// Sums `grad` over the dimensions that were broadcast.
  at::Tensor reduce_grad(const at::Tensor& grad) const;
  std::string incompatible_shape_error_message(size_t index, const at::Tensor& grad) const;

 private:
  void set_unusual(const at::Tensor& t);

  c10::DimVector shape_;
  c10::StreamId stream_id_ = 0;
  at::Device device_ = at::Device(at::kCPU);
  at::ScalarType dtype_ = at::ScalarType::Float;
  at::Layout layout_ = at::kStrided;
  bool was_default_constructed_ = true;
};

} // namespace torch::autograd
