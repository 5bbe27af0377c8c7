// Argument checks of samplers and their derivatives.
#include <aten/core/Generator.h>
#include <aten/core/TensorBase.h>

#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <optional>

namespace at::shape {

/// The output is of dtype Long.
void multinomial_out(
    const char* op, const TensorBase& self, int64_t, bool, std::optional<Generator>, const TensorBase& out) {
  TORCH_CHECK(
      c10::isFloatingType(self.scalar_type()),
      "multinomial only supports floating-point dtypes for input, got: ", self.scalar_type());
  TORCH_CHECK(out.scalar_type() == c10::kLong, op, " expects Long tensor out, got: ", out.scalar_type());
}

/// Zeros and ones go to any real dtype.
void bernoulli_out(const char*, const TensorBase& self, std::optional<Generator>, const TensorBase& out) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      self.numel() == 0 || !out.is_complex(), "\"bernoulli_tensor_cpu_self_\" not implemented for '", out.scalar_type(),
      "'; it takes outputs of all dtypes but complex ones");
}

void normal_out(const char*, const TensorBase&, const TensorBase&, std::optional<Generator>, const TensorBase& out) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      out.is_floating_point() || out.is_complex(), "\"normal_kernel_cpu\" not implemented for '", out.scalar_type(),
      "'; it takes floating point and complex outputs");
}
void normal_out(
    const char* op, double, const TensorBase& std, std::optional<Generator> generator, const TensorBase& out) {
  normal_out(op, std, std, std::move(generator), out);
}

void dirichlet_grad_check(const char* op, const TensorBase& x, const TensorBase& alpha, const TensorBase& total) {
  for (const TensorBase* t : {&alpha, &total}) {
    TORCH_CHECK(
        t->scalar_type() == x.scalar_type(), "Found dtype ", t->scalar_type(), " but expected ", x.scalar_type(), ": ",
        op, " takes x, alpha and total of one dtype");
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      x.scalar_type() == c10::kFloat || x.scalar_type() == c10::kDouble,
      "\"_dirichlet_grad_cpu\" not implemented for '", x.scalar_type(), "'; it takes Float and Double");
}

void standard_gamma_grad_check(const char* op, const TensorBase& self, const TensorBase& output) {
  TORCH_CHECK(
      output.scalar_type() == self.scalar_type(), "Found dtype ", output.scalar_type(), " but expected ",
      self.scalar_type(), ": ", op, " takes self and output of one dtype");
}

} // namespace at::shape
