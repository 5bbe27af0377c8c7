// Outputs of operators whose kernels take the dtype of their first argument for granted, and say so in words of their
// own.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/shape/iterated_out.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <initializer_list>
#include <tuple>
#include <utility>

namespace at::shape {

/// Throws unless all of them have the dtype of `input`.
inline void check_scalar_types(const TensorBase& input, std::initializer_list<const TensorBase*> outs) {
  for (const TensorBase* out : outs) {
    TORCH_CHECK(
        !out->defined() || out->scalar_type() == input.scalar_type(), "expected scalar type ", input.scalar_type(),
        " but found ", out->scalar_type());
  }
}

/// The arguments behind the first, of which the last are the outputs.
template <std::size_t Outs, class... MoreAndOuts>
void check_last_scalar_types(const TensorBase& input, const MoreAndOuts&... more_and_outs) {
  const auto all = std::tie(more_and_outs...);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    check_scalar_types(input, {&std::get<sizeof...(MoreAndOuts) - Outs + I>(all)...});
  }(std::make_index_sequence<Outs>());
}

template <class... MoreAndOuts>
void out_of_input_dtype(const char*, const TensorBase& input, const MoreAndOuts&... more_and_outs) {
  check_last_scalar_types<1>(input, more_and_outs...);
}

/// The same for kernels that do not look at the output where there is nothing to compute.
template <class... MoreAndOuts>
void out_of_input_dtype_if_any(const char* op, const TensorBase& input, const MoreAndOuts&... more_and_outs) {
  if (input.numel() != 0) {
    out_of_input_dtype(op, input, more_and_outs...);
  }
}

/// The same for gradients by `self` that are contiguous, unless they are resized.
template <class... MoreAndOut>
void contiguous_out_of_input_dtype(
    const char* op, const TensorBase& grad_output, const TensorBase& self, const MoreAndOut&... more_and_out) {
  out_of_input_dtype(op, grad_output, more_and_out...);
  const TensorBase& out = std::get<sizeof...(MoreAndOut) - 1>(std::tie(more_and_out...));
  TORCH_CHECK(
      out.sizes() != self.sizes() || out.is_contiguous(), "grad_input must be contiguous (in ", op, "; got strides ",
      out.strides(), " for ", out.sizes(), ")");
}

template <class... MoreAndOuts>
void two_outs_of_input_dtype(const char*, const TensorBase& input, const MoreAndOuts&... more_and_outs) {
  check_last_scalar_types<2>(input, more_and_outs...);
}

/// Of batch_norm's operands the last three are outputs: one of the input's dtype, and statistics, which have that of
/// the parameters where these are float beside an input of half or bfloat16.
void check_batch_norm_outs(const Operands& operands);

template <class... ArgumentsAndOuts>
void batch_norm_outs(const char*, const ArgumentsAndOuts&... arguments_and_outs) {
  check_batch_norm_outs(operands_of(arguments_and_outs...));
}

} // namespace at::shape
