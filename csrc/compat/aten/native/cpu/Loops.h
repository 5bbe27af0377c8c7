// Elementwise CPU kernels from a function of one element.
//
//   at::Tensor out;
//   auto iter = at::TensorIteratorConfig().add_output(out).add_const_input(a).add_const_input(b).build();
//   at::native::cpu_kernel(iter, [](float x, float y) { return x * y + 1; });
//   out = iter.output();
//
// The function's parameters and result must have the C++ types of the operands' dtypes: nothing is converted on the
// way, which is left to the iterator (promote_inputs_to_common_dtype, cast_common_dtype_to_outputs). It runs on several
// threads when there are more than `grain_size` elements; the cpu_serial_ forms run on one, over a range of elements.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <c10/util/Exception.h>
#include <csrc/compat/aten/cpu/vec/vec_base.h>
#include <csrc/compat/aten/detail/FunctionTraits.h>
#include <csrc/compat/aten/native/TensorIteratorDynamicCasting.h>
#include <csrc/compat/c10/util/Load.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace at::native {
inline namespace CPU_CAPABILITY {
inline namespace AT_VEC_ISA {

namespace loops {

template <class T>
struct outputs_of {
  using types = std::tuple<T>;
};
template <>
struct outputs_of<void> {
  using types = std::tuple<>;
};
template <class... T>
struct outputs_of<std::tuple<T...>> {
  using types = std::tuple<T...>;
};

/// Parameters and outputs of F, without references.
template <class F>
struct kernel_traits {
  using traits = function_traits<F>;
  using result = typename traits::result_type;
  using outputs = typename outputs_of<std::decay_t<result>>::types;
  static constexpr std::size_t arity = traits::arity;
  static constexpr std::size_t noutputs = std::tuple_size_v<outputs>;
  static constexpr std::size_t noperands = arity + noutputs;
  template <std::size_t i>
  using input = std::decay_t<typename traits::template arg<i>::type>;
  template <std::size_t i>
  using output = std::tuple_element_t<i, outputs>;
};

/// The element size of each operand of F.
template <class F, std::size_t... o, std::size_t... i>
std::array<int64_t, sizeof...(o) + sizeof...(i)> element_sizes(std::index_sequence<o...>, std::index_sequence<i...>) {
  using kernel = kernel_traits<F>;
  return {
      static_cast<int64_t>(sizeof(typename kernel::template output<o>))...,
      static_cast<int64_t>(sizeof(typename kernel::template input<i>))...};
}

template <class F, std::size_t... o, std::size_t... i>
C10_ALWAYS_INLINE void run_element(
    F& op, char* const* data, const int64_t* strides, int64_t k, std::index_sequence<o...>, std::index_sequence<i...>) {
  using kernel = kernel_traits<F>;
  constexpr std::size_t kOutputs = kernel::noutputs;
  auto call = [&]() -> decltype(auto) {
    return op(c10::load<typename kernel::template input<i>>(data[kOutputs + i] + k * strides[kOutputs + i])...);
  };
  if constexpr (kOutputs == 0) {
    call();
  } else if constexpr (std::is_same_v<std::decay_t<typename kernel::result>, typename kernel::outputs>) {
    const typename kernel::outputs results = call();
    ((*reinterpret_cast<typename kernel::template output<o>*>(data[o] + k * strides[o]) = std::get<o>(results)), ...);
  } else {
    *reinterpret_cast<typename kernel::template output<0>*>(data[0] + k * strides[0]) = call();
  }
}

/// Elements from `begin` to n of one row.
template <class F>
void run_row(F& op, char* const* data, const int64_t* row_strides, int64_t begin, int64_t n) {
  using kernel = kernel_traits<F>;
  constexpr std::make_index_sequence<kernel::noutputs> outputs{};
  constexpr std::make_index_sequence<kernel::arity> inputs{};
  const auto sizes = element_sizes<F>(outputs, inputs);
  bool dense = true;
  for (std::size_t arg = 0; arg < sizes.size(); ++arg) {
    dense &= row_strides[arg] == sizes[arg];
  }
  if (dense) {
    // Strides that the compiler knows let it use vectors.
    for (int64_t k = begin; k < n; ++k) {
      run_element(op, data, sizes.data(), k, outputs, inputs);
    }
  } else {
    for (int64_t k = begin; k < n; ++k) {
      run_element(op, data, row_strides, k, outputs, inputs);
    }
  }
}

/// A row with `vop` for whole vectors and `op` for what remains: all operands of type T and dense, but that input
/// `scalar` - 1, unless `scalar` is 0, is one value.
template <class T, class F, class VF, std::size_t... i>
void run_vectors(F& op, VF& vop, char* const* data, std::size_t scalar, int64_t n, std::index_sequence<i...>) {
  using Vec = at::vec::Vectorized<T>;
  const Vec repeated(scalar == 0 ? T(0) : c10::load<T>(data[scalar]));
  const auto input = [&](std::size_t arg, int64_t k) {
    return arg == scalar ? repeated : Vec::loadu(data[arg] + k * static_cast<int64_t>(sizeof(T)));
  };
  int64_t k = 0;
  for (; k + Vec::size() <= n; k += Vec::size()) {
    Vec(vop(input(i + 1, k)...)).store(data[0] + k * static_cast<int64_t>(sizeof(T)));
  }
  int64_t strides[sizeof...(i) + 1];
  for (std::size_t arg = 0; arg <= sizeof...(i); ++arg) {
    strides[arg] = arg == scalar && scalar != 0 ? 0 : static_cast<int64_t>(sizeof(T));
  }
  run_row(op, data, strides, k, n);
}

/// The loop of TensorIterator for a pair of functions, of elements and of vectors.
template <class F, class VF>
auto vector_loop(F& op, VF& vop) {
  using kernel = kernel_traits<F>;
  using T = typename kernel::template output<0>;
  return [&op, &vop](char** data, const int64_t* strides, int64_t n) {
    constexpr int64_t kSize = sizeof(T);
    std::size_t scalar = 0;
    bool vectors = strides[0] == kSize;
    for (std::size_t arg = 1; arg < kernel::noperands; ++arg) {
      if (strides[arg] == 0 && scalar == 0) {
        scalar = arg;
      } else {
        vectors &= strides[arg] == kSize;
      }
    }
    if (vectors) {
      run_vectors<T>(op, vop, data, scalar, n, std::make_index_sequence<kernel::arity>());
    } else {
      run_row(op, data, strides, 0, n);
    }
  };
}

template <class Types, std::size_t... i>
bool outputs_have_dtypes(const TensorIteratorBase& iter, std::index_sequence<i...>) {
  return (native::detail::has_dtype<std::tuple_element_t<i, Types>>(iter, static_cast<int64_t>(i)) && ...);
}

/// Throws unless the iterator has F's operands, in host memory, and of F's types where `check_dtypes`.
template <class F, bool check_dtypes = true>
void check_operands(const char* name, const TensorIteratorBase& iter) {
  using kernel = kernel_traits<F>;
  TORCH_CHECK(
      iter.ninputs() == static_cast<int>(kernel::arity) && iter.noutputs() == static_cast<int>(kernel::noutputs), name,
      ": the iterator has ", iter.ninputs(), " inputs and ", iter.noutputs(), " outputs, but the function takes ",
      kernel::arity, " and gives ", kernel::noutputs);
  for (int arg = 0; arg < iter.ntensors(); ++arg) {
    const auto device = iter.operand(arg).device;
    TORCH_CHECK(
        !device.has_value() || device->is_cpu(), name, ": operand ", arg, " is on ", *device,
        "; all must be on the CPU");
  }
  if constexpr (check_dtypes) {
    bool fits = outputs_have_dtypes<typename kernel::outputs>(iter, std::make_index_sequence<kernel::noutputs>());
    fits = fits &&
        native::detail::inputs_have_dtypes<typename kernel::traits::ArgsTuple>(
               iter, std::make_index_sequence<kernel::arity>());
    if (C10_UNLIKELY(!fits)) {
      std::string dtypes;
      for (int arg = 0; arg < iter.ntensors(); ++arg) {
        dtypes += (arg == 0 ? "" : ", ") + std::string(c10::toString(iter.dtype(arg)));
      }
      TORCH_CHECK(
          false, name, ": the operands have dtypes ", dtypes,
          ", but the function has other types. Take the function for "
          "iter.dtype() (AT_DISPATCH_...), or let the iterator convert (promote_inputs_to_common_dtype)");
    }
  }
}

template <class F, class VF>
constexpr void check_vector_function() {
  using kernel = kernel_traits<F>;
  using T = typename kernel::template output<0>;
  static_assert(kernel::noutputs == 1, "a vector kernel has one output");
  static_assert(function_traits<VF>::arity == kernel::arity, "both functions must take the same number of operands");
  static_assert(
      std::is_same_v<std::decay_t<typename function_traits<VF>::result_type>, at::vec::Vectorized<T>>,
      "the vector function must give a Vectorized of the other function's result");
}

} // namespace loops

/// out = op(inputs...) for each element. `check_dynamic_casting` = false takes any types of the operands' sizes.
template <class F>
void cpu_kernel(
    TensorIteratorBase& iter,
    F&& op,
    int64_t grain_size = at::internal::GRAIN_SIZE,
    bool check_dynamic_casting = true) {
  using Op = std::remove_reference_t<F>;
  static_assert(loops::kernel_traits<Op>::noutputs == 1, "cpu_kernel: the function must give one value");
  if (check_dynamic_casting) {
    loops::check_operands<Op>("cpu_kernel", iter);
  } else {
    loops::check_operands<Op, false>("cpu_kernel", iter);
  }
  iter.for_each(
      [&op](char** data, const int64_t* strides, int64_t n) { loops::run_row<Op>(op, data, strides, 0, n); },
      grain_size);
  iter.cast_outputs();
}

/// The same for types that stand for an element's bytes and are no dtype.
template <class F>
void cpu_kernel_opaque(TensorIteratorBase& iter, F&& op, int64_t grain_size = at::internal::GRAIN_SIZE) {
  using Op = std::remove_reference_t<F>;
  loops::check_operands<Op, false>("cpu_kernel_opaque", iter);
  iter.for_each(
      [&op](char** data, const int64_t* strides, int64_t n) { loops::run_row<Op>(op, data, strides, 0, n); },
      grain_size);
  iter.cast_outputs();
}

/// For functions that give a std::tuple, one member for each output.
template <class F>
void cpu_kernel_multiple_outputs(TensorIteratorBase& iter, F&& op, int64_t grain_size = at::internal::GRAIN_SIZE) {
  using Op = std::remove_reference_t<F>;
  loops::check_operands<Op>("cpu_kernel_multiple_outputs", iter);
  iter.for_each(
      [&op](char** data, const int64_t* strides, int64_t n) { loops::run_row<Op>(op, data, strides, 0, n); },
      grain_size);
  iter.cast_outputs();
}

/// As cpu_kernel; `vop` computes the same on at::vec::Vectorized where operands are dense, but for one that may be one
/// value.
template <bool check_dynamic_casting = true, class F, class VF>
void cpu_kernel_vec(TensorIteratorBase& iter, F&& op, VF&& vop, int64_t grain_size = at::internal::GRAIN_SIZE) {
  using Op = std::remove_reference_t<F>;
  using VecOp = std::remove_reference_t<VF>;
  loops::check_vector_function<Op, VecOp>();
  loops::check_operands<Op, check_dynamic_casting>("cpu_kernel_vec", iter);
  iter.for_each(loops::vector_loop<Op, VecOp>(op, vop), grain_size);
  iter.cast_outputs();
}

/// On this thread, over the elements of `range`; the function may also give nothing, for an iterator without outputs.
template <class F>
void cpu_serial_kernel(TensorIteratorBase& iter, F&& op, const Range& range) {
  using Op = std::remove_reference_t<F>;
  loops::check_operands<Op>("cpu_serial_kernel", iter);
  iter.serial_for_each(
      [&op](char** data, const int64_t* strides, int64_t n) { loops::run_row<Op>(op, data, strides, 0, n); }, range);
  iter.cast_outputs();
}
template <class F>
void cpu_serial_kernel(TensorIteratorBase& iter, F&& op) {
  cpu_serial_kernel(iter, std::forward<F>(op), {0, iter.numel()});
}

template <class F, class VF>
void cpu_serial_kernel_vec(TensorIteratorBase& iter, F&& op, VF&& vop, const Range& range) {
  using Op = std::remove_reference_t<F>;
  using VecOp = std::remove_reference_t<VF>;
  loops::check_vector_function<Op, VecOp>();
  loops::check_operands<Op>("cpu_serial_kernel_vec", iter);
  iter.serial_for_each(loops::vector_loop<Op, VecOp>(op, vop), range);
  iter.cast_outputs();
}
template <class F, class VF>
void cpu_serial_kernel_vec(TensorIteratorBase& iter, F&& op, VF&& vop) {
  cpu_serial_kernel_vec(iter, std::forward<F>(op), std::forward<VF>(vop), {0, iter.numel()});
}

} // namespace AT_VEC_ISA
} // namespace CPU_CAPABILITY

} // namespace at::native
