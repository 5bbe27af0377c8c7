// What generated wrappers do with tensors that the caller gave to be written to.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <cstdint>
#include <initializer_list>

namespace at::native {

/// A caller's output: checked against the shape function's answer, resized, and replaced by a
/// temporary while the kernel runs when writing to it directly would be wrong (other dtype,
/// memory shared with an input or with itself, layout the kernel cannot write).
class TORCH_API OutArgument {
 public:
  enum class Form : uint8_t { Out, Inplace };
  struct Policy {
    Form form;
    bool contiguous; // the kernel needs a contiguous output
    bool cast;       // another dtype is allowed when the result can be cast to it
  };

  /// Throws when dtype or device do not fit, or an in-place result has another shape. Nothing is written.
  OutArgument(
      const char* op,
      Tensor& out,
      const TensorSpec& spec,
      Policy policy,
      std::initializer_list<const Tensor*> inputs,
      TensorList more_inputs = {});
  OutArgument(const OutArgument&) = delete;
  OutArgument& operator=(const OutArgument&) = delete;
  ~OutArgument() = default;

  /// The tensor to fill.
  const Tensor& tensor() const { return temporary_.defined() ? temporary_ : out_; }
  /// Copies the temporary, if there is one, into the caller's tensor.
  void commit();

 private:
  Tensor& out_;
  Tensor temporary_;
};

/// Resizes `out` to `sizes` with PyTorch's warning when it held elements; keeps it when it fits.
/// Returns whether it was resized. Throws when the storage cannot grow.
TORCH_API bool resize_output(const Tensor& out, IntArrayRef sizes);

/// Writes `result` to the caller's output: dtype checked, resized, copied.
TORCH_API void copy_into_out(const char* op, Tensor& out, const Tensor& result);
/// Writes `result` over `self`; throws when shapes differ or the dtype cannot be cast.
TORCH_API void copy_into_self(const char* op, Tensor& self, const Tensor& result);

/// Throws when an out= argument would have to be recorded by autograd.
TORCH_API void check_out_without_grad(const char* op, const Tensor& out);

/// The device of a tensor argument, to guard a call with.
inline std::optional<c10::Device> device_of_arguments(const Tensor& t) {
  return t.defined() ? std::optional<c10::Device>(t.device()) : std::nullopt;
}

} // namespace at::native
