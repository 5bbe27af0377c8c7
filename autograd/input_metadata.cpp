#include <autograd/input_metadata.h>

#include <aten/Functions.h>
#include <aten/iterator/ExpandUtils.h>
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
