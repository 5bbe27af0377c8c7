// Outputs of operators whose kernels take the dtype of their first argument for granted, and say so in words of their
// own.
#pragma once

#include <aten/core/TensorBase.h>
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

template <class... MoreAndOuts>
void two_outs_of_input_dtype(const char*, const TensorBase& input, const MoreAndOuts&... more_and_outs) {
  check_last_scalar_types<2>(input, more_and_outs...);
}

template <class... MoreAndOuts>
void three_outs_of_input_dtype(const char*, const TensorBase& input, const MoreAndOuts&... more_and_outs) {
  check_last_scalar_types<3>(input, more_and_outs...);
}

} // namespace at::shape
