#include <aten/shape/operand_checks.h>

#include <c10/util/Exception.h>

namespace at::shape {

void check_same_device(const char* op, std::initializer_list<const TensorBase*> tensors) {
  const TensorBase& first = **tensors.begin();
  for (const TensorBase* t : tensors) {
    TORCH_CHECK(
        t->device() == first.device(),
        "Expected all tensors to be on the same device, but found at least two devices, ", first.device(), " and ",
        t->device(), "! (in ", op, "; move one of them with .to(device))");
  }
}

void check_expandable(const char* op, const TensorBase& self, IntArrayRef sizes) {
  const int64_t lead = static_cast<int64_t>(sizes.size()) - self.dim();
  TORCH_CHECK(
      lead >= 0, op, ": expand(", self.sizes(), ", size=", sizes, "): the number of sizes provided (", sizes.size(),
      ") must be greater or equal to the number of dimensions in the tensor (", self.dim(), ")");
  for (int64_t i = self.dim() - 1; i >= 0; --i) {
    const int64_t have = self.size(i), want = sizes[lead + i];
    TORCH_CHECK(
        have == want || have == 1, "The expanded size of the tensor (", want, ") must match the existing size (", have,
        ") at non-singleton dimension ", lead + i, ".  Target sizes: ", sizes, ".  Tensor sizes: ", self.sizes(),
        " (in ", op, ")");
  }
}

void check_out_dtype(const char* op, const TensorBase& self, const TensorBase& out) {
  TORCH_CHECK(
      out.scalar_type() == self.scalar_type(), "expected scalar type ", self.scalar_type(), " but found ",
      out.scalar_type(), " (in ", op, "; the output must have the dtype of the input)");
}

void dtype_not_supported_on_device(const char* kernel, const TensorBase& self, std::uint64_t supported) {
  at::detail::dtype_not_supported(
      c10::str(kernel, self.is_cuda() ? "_cuda" : "_cpu").c_str(), self.scalar_type(), supported);
}

} // namespace at::shape
