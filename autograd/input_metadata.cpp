#include <autograd/input_metadata.h>

#include <aten/ExpandUtils.h>
#include <aten/Functions.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/StringUtil.h>

namespace torch::autograd {

namespace {

c10::StreamId current_stream(at::Device device) {
  return device.is_cpu() || device.is_meta() ? c10::StreamId{0}
                                             : c10::impl::VirtualGuardImpl(device.type()).getStream(device).id();
}

} // namespace

InputMetadata::InputMetadata(const at::TensorOptions& options, c10::IntArrayRef shape, bool /*is_tensor_subclass*/)
    : shape_(shape.begin(), shape.end()),
      device_(options.device()),
      dtype_(c10::typeMetaToScalarType(options.dtype())),
      layout_(options.layout()),
      was_default_constructed_(false) {
  stream_id_ = current_stream(device_);
}

InputMetadata::InputMetadata(const at::Tensor& t) : was_default_constructed_(false) {
  const c10::TensorImpl& tensor = *t.unsafeGetTensorImpl();
  const c10::impl::SizesAndStrides& shape = tensor.sizes_and_strides();
  if (C10_UNLIKELY(!tensor.is_plain_cpu() || !tensor.dtype().isScalarType() || shape.size() > shape_.capacity())) {
    set_unusual(t);
    return;
  }
  // A dense tensor on the CPU, which is what the members say to begin with.
  dtype_ = c10::typeMetaToScalarType(tensor.dtype());
  const size_t dim = shape.size();
  const int64_t* const sizes = shape.sizes_data();
  shape_.resize_for_overwrite(dim);
  for (size_t d = 0; d < dim; ++d) {
    shape_[d] = sizes[d];
  }
}

C10_NOINLINE void InputMetadata::set_unusual(const at::Tensor& t) {
  device_ = t.device();
  dtype_ = t.scalar_type();
  layout_ = t.layout();
  shape_.assign(t.sizes().begin(), t.sizes().end());
  if (!device_.is_cpu()) {
    stream_id_ = current_stream(device_);
  }
}

at::Tensor InputMetadata::zeros_like() const {
  return at::zeros(shape_, options());
}

bool InputMetadata::is_expandable_to_shape(const at::Tensor& grad) const {
  return at::is_expandable_to(c10::IntArrayRef(shape_), grad.sizes());
}

at::Tensor InputMetadata::reduce_grad(const at::Tensor& grad) const {
  return at::sum_to(grad, c10::IntArrayRef(shape_));
}

std::string InputMetadata::incompatible_shape_error_message(size_t index, const at::Tensor& grad) const {
  return c10::str(
      "invalid gradient at index ", index, " - got ", grad.sizes(), " but expected shape compatible with ",
      c10::IntArrayRef(shape_));
}

} // namespace torch::autograd
