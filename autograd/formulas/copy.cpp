#include <autograd/formulas/copy.h>

#include <aten/Functions.h>

namespace torch::autograd::formulas {

at::Tensor copy_backward(const at::Tensor& grad, const at::TensorOptions& source) {
  const at::ScalarType dtype = c10::typeMetaToScalarType(source.dtype());
  const bool drops_imaginary = grad.is_complex() && !at::isComplexType(dtype);
  return (drops_imaginary ? at::real(grad) : grad).to(source);
}

} // namespace torch::autograd::formulas
