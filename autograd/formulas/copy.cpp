// Gradients of copies and conversions.
#include <aten/Functions.h>
#include <autograd/formulas/types.h>

namespace torch::autograd::formulas {

/// The gradient of a copy, brought back to where its source lives and to its dtype (a real source of a complex copy
/// keeps the real part).
at::Tensor copy_backward(const at::Tensor& grad, const at::TensorOptions& source) {
  const at::ScalarType dtype = c10::typeMetaToScalarType(source.dtype());
  const bool drops_imaginary = grad.is_complex() && !at::isComplexType(dtype);
  return (drops_imaginary ? at::real(grad) : grad).to(source);
}

} // namespace torch::autograd::formulas
