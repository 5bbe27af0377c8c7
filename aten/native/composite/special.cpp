// Special functions, and complex numbers from their parts, made of other operators.
#include <aten/Functions.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/support/OutArgument.h>
#include <c10/core/DefaultDtype.h>

#include <cmath>

namespace at::native {

// ---- gamma functions ---------------------------------------------------------------------------------------------

// log of pi^(p (p - 1) / 4) times the product of gamma(self - k / 2) for k below p.
Tensor mvlgamma(const Tensor& self, int64_t p) {
  TORCH_CHECK(self.scalar_type() != ScalarType::Bool, "The input tensor may not be a boolean tensor. (in mvlgamma)");
  TORCH_CHECK(p >= 1, "p has to be greater than or equal to 1; mvlgamma got p = ", p);
  const Tensor x = c10::isIntegralType(self.scalar_type(), /*includeBool=*/false)
      ? self.to(c10::get_default_dtype_as_scalartype())
      : self;
  const double constant = static_cast<double>(p) * static_cast<double>(p - 1) * std::log(M_PI) / 4;
  const Tensor halves = at::arange((1 - static_cast<double>(p)) / 2, 0.25, 0.5, x.options());
  return at::lgamma(x.unsqueeze(-1) + halves).sum(-1) + constant;
}

Tensor& mvlgamma_out(const Tensor& self, int64_t p, Tensor& out) {
  check_out_without_grad("mvlgamma", out);
  check_out_without_grad("mvlgamma", self);
  const Tensor result = at::mvlgamma(self, p);
  TORCH_CHECK(
      c10::canCast(result.scalar_type(), out.scalar_type()), "mvlgamma: result type ", self.scalar_type(),
      " can't be cast to the desired output type ", result.scalar_type(), "; got an output of ", out.scalar_type());
  copy_into_out("mvlgamma", out, result);
  return out;
}

Tensor& polygamma_inplace(Tensor& self, int64_t n) {
  copy_into_self("polygamma_", self, at::polygamma(n, self));
  return self;
}

// ---- complex numbers ---------------------------------------------------------------------------------------------

namespace {

void check_parts(const char* op, const Tensor& first, const Tensor& second) {
  const auto fits = [](const Tensor& t) {
    return t.scalar_type() == ScalarType::Float || t.scalar_type() == ScalarType::Double ||
        t.scalar_type() == ScalarType::Half;
  };
  TORCH_CHECK_NOT_IMPLEMENTED(
      fits(first) && fits(second), "Expected both inputs to be Half, Float or Double tensors but got ",
      first.scalar_type(), " and ", second.scalar_type(), " (in ", op, ")");
  TORCH_CHECK(
      first.scalar_type() == second.scalar_type(), "Expected object of scalar type ", first.scalar_type(),
      " but got scalar type ", second.scalar_type(), " for second argument (in ", op, ")");
}

Tensor join_parts(const Tensor& real, const Tensor& imag) {
  // The iterator finds the sizes and, for permuted inputs, the strides.
  const ScalarType dtype = c10::toComplexType(real.scalar_type());
  const TensorBase none;
  TensorIterator layout = TensorIteratorConfig()
                              .add_output(none)
                              .add_const_input(real)
                              .add_const_input(imag)
                              .check_all_same_dtype(false)
                              .declare_static_dtype_and_device(dtype, real.device())
                              .build();
  const Tensor result = layout.output();
  const Tensor parts = at::view_as_real(result);
  parts.select(-1, 0).copy_(real);
  parts.select(-1, 1).copy_(imag);
  return result;
}

Tensor& exact_complex_out(const char* op, const Tensor& result, Tensor& out) {
  TORCH_CHECK(
      out.scalar_type() == result.scalar_type(), "Expected object of scalar type ", result.scalar_type(),
      " but got scalar type ", out.scalar_type(), " for argument 'out' (in ", op, ")");
  copy_into_out(op, out, result);
  return out;
}

} // namespace

Tensor complex_from_parts(const Tensor& real, const Tensor& imag) {
  check_parts("complex", real, imag);
  return join_parts(real, imag);
}
Tensor& complex_from_parts_out(const Tensor& real, const Tensor& imag, Tensor& out) {
  return exact_complex_out("complex", native::complex_from_parts(real, imag), out);
}

Tensor polar(const Tensor& abs, const Tensor& angle) {
  check_parts("polar", abs, angle);
  return join_parts(abs * angle.cos(), abs * angle.sin());
}
Tensor& polar_out(const Tensor& abs, const Tensor& angle, Tensor& out) {
  return exact_complex_out("polar", native::polar(abs, angle), out);
}

} // namespace at::native
