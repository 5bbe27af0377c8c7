// What generated wrappers do with tensors that the caller gave to be written to.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <cstdint>
#include <initializer_list>
#include <tuple>

namespace at::native {

/// Which dtypes a caller's output may have.
enum class OutDtype : uint8_t {
  Exact, // that of the result
  Cast, // those that the result can be cast to
  Any, // all: values are converted as copy_ does
};

/// A caller's output: checked against the shape function's answer, resized, and replaced by a
/// temporary while the kernel runs when writing to it directly would be wrong (other dtype,
/// memory shared with an input or with itself, layout the kernel cannot write).
class TORCH_API OutArgument {
 public:
  enum class Form : uint8_t { Out, Inplace };
  struct Policy {
    Form form;
    bool contiguous; // the kernel needs a contiguous output
    OutDtype dtype;
    bool restride = false; // one of the right sizes gets the strides of a new result
  };

  /// For operators with several outputs: throws when one of them cannot be written as its spec says, or two of them
  /// share memory, before any of them is resized.
  static void check(
      const char* op, std::initializer_list<const Tensor*> outs, c10::ArrayRef<TensorSpec> specs, Policy policy);

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
  const Tensor& tensor() const {
    return temporary_.defined() ? temporary_ : out_;
  }
  /// Copies the temporary, if there is one, into the caller's tensor.
  void commit();

 private:
  Tensor& out_;
  Tensor temporary_;
  bool restrides_ = false;
};

/// Resizes `out` to `sizes` with PyTorch's warning when it held elements; keeps it when it fits.
/// Returns whether it was resized. Throws when the storage cannot grow.
TORCH_API bool resize_output(const Tensor& out, IntArrayRef sizes);
/// Whether resize_output would resize; warns as it does.
TORCH_API bool resize_output_check(const Tensor& out, IntArrayRef sizes);

/// Gives an output of the right sizes the strides of `result`, as PyTorch's resize_ with a memory format does.
TORCH_API void restride_output(const Tensor& out, const Tensor& result);

/// Writes `result` to the caller's output: dtype checked, resized, copied.
TORCH_API void copy_into_out(const char* op, Tensor& out, const Tensor& result, OutDtype dtype = OutDtype::Cast);
/// Writes `result` over `self`; throws when shapes differ or the dtype cannot be cast.
TORCH_API void copy_into_self(const char* op, Tensor& self, const Tensor& result);

/// Throws when an out= argument would have to be recorded by autograd.
TORCH_API void check_out_without_grad(const char* op, const Tensor& out);

/// What a call without data gives: throws if a result is on another device, where nobody would fill it. That happens
/// when only some of the arguments are without data.
TORCH_API void expect_meta(const char* op, std::initializer_list<Tensor> results);
template <class... Tensors>
std::tuple<Tensors...> on_meta(const char* op, std::tuple<Tensors...> results) {
  std::apply([op](const auto&... result) { (expect_meta(op, {result}), ...); }, results);
  return results;
}
inline Tensor on_meta(const char* op, Tensor result) {
  expect_meta(op, {result});
  return result;
}

/// The device of a tensor argument, to guard a call with.
inline std::optional<c10::Device> device_of_arguments(const Tensor& t) {
  return t.defined() ? std::optional<c10::Device>(t.device()) : std::nullopt;
}

} // namespace at::native
