// CPU kernels that reduce, from functions of elements or of vectors.
//
//   at::Tensor out;
//   auto iter = at::native::make_reduction("sum", out, self, dims, keepdim, at::kFloat);
//   at::native::binary_kernel_reduce_vec(
//       iter, [](float a, float b) { return a + b; }, [](Vectorized<float> a, Vectorized<float> b) { return a + b; });
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/parallel/Parallel.h>
#include <c10/util/Exception.h>
#include <csrc/compat/aten/cpu/vec/vec_base.h>
#include <csrc/compat/aten/detail/FunctionTraits.h>
#include <csrc/compat/aten/native/cpu/Loops.h>
#include <csrc/compat/c10/util/Load.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {
inline namespace AT_VEC_ISA {

namespace reduction {

/// The type of element that `reduce(acc, element, index)` takes.
template <class Ops, class Acc, class Element, class Index>
std::decay_t<Element> element_of(Acc (Ops::*)(Acc, Element, Index) const);
template <class Ops, class Acc, class Element, class Index>
std::decay_t<Element> element_of(Acc (Ops::*)(Acc, Element, Index));

template <class T, class F>
void fold_row(const F& op, char* out, int64_t out_stride, const char* in, int64_t in_stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T& result = *reinterpret_cast<T*>(out + i * out_stride);
    result = op(result, c10::load<T>(in + i * in_stride));
  }
}

/// Elements side by side, four vectors at a time, into one.
template <class T, class F, class VF>
void fold_dense_row(const F& op, const VF& vop, char* out, const char* in, int64_t n) {
  using Vec = at::vec::Vectorized<T>;
  constexpr int64_t kStep = 4 * Vec::size();
  int64_t i = 0;
  if (n >= kStep) {
    Vec acc[4];
    for (int k = 0; k < 4; ++k) {
      acc[k] = Vec::loadu(in + k * Vec::size() * sizeof(T));
    }
    for (i = kStep; i + kStep <= n; i += kStep) {
      for (int k = 0; k < 4; ++k) {
        acc[k] = vop(acc[k], Vec::loadu(in + (i + k * Vec::size()) * sizeof(T)));
      }
    }
    T lanes[Vec::size()];
    vop(vop(acc[0], acc[1]), vop(acc[2], acc[3])).store(lanes);
    fold_row<T>(op, out, 0, reinterpret_cast<const char*>(lanes), sizeof(T), Vec::size());
  }
  fold_row<T>(op, out, 0, in + i * sizeof(T), sizeof(T), n - i);
}

/// Rows `in_stride` apart, each of `columns` elements side by side, into one such row.
template <class T, class F, class VF>
void fold_dense_columns(
    const F& op, const VF& vop, char* out, const char* in, int64_t in_stride, int64_t rows, int64_t columns) {
  using Vec = at::vec::Vectorized<T>;
  int64_t j = 0;
  for (; j + Vec::size() <= columns; j += Vec::size()) {
    Vec acc = Vec::loadu(out + j * sizeof(T));
    for (int64_t i = 0; i < rows; ++i) {
      acc = vop(acc, Vec::loadu(in + i * in_stride + j * sizeof(T)));
    }
    acc.store(out + j * sizeof(T));
  }
  for (; j < columns; ++j) {
    fold_row<T>(op, out + j * sizeof(T), 0, in + j * sizeof(T), in_stride, rows);
  }
}

template <class Result>
void store_results(const Result& result, TensorIteratorBase& iter) {
  TORCH_CHECK(
      iter.noutputs() == 1, "binary_kernel_reduce: project gives one value, but there are ", iter.noutputs(),
      " outputs");
  *static_cast<Result*>(iter.data_ptr(0)) = result;
}
template <class... Results>
void store_results(const std::tuple<Results...>& results, TensorIteratorBase& iter) {
  TORCH_CHECK(
      iter.noutputs() == static_cast<int>(sizeof...(Results)), "binary_kernel_reduce: project gives ",
      sizeof...(Results), " values, but there are ", iter.noutputs(), " outputs");
  int i = 0;
  std::apply([&](const Results&... values) { ((*static_cast<Results*>(iter.data_ptr(i++)) = values), ...); }, results);
}

} // namespace reduction

/// Reduces each group of elements through an accumulator: `ops.reduce(acc, element, index)` takes one more in,
/// `ops.combine(acc, acc)` combines two, `ops.translate_idx(acc, offset)` shifts the indices in one, and
/// `ops.project(acc)` gives the result, a tuple where there are several outputs. `init` is the accumulator of no
/// element.
template <typename ops_t, typename init_t>
void binary_kernel_reduce(TensorIteratorBase& iter, ops_t ops, init_t init) {
  using element_t = decltype(reduction::element_of(&ops_t::reduce));
  static_assert(
      std::is_same_v<decltype(ops.combine(init, init)), init_t> &&
          std::is_same_v<decltype(ops.reduce(init, element_t(), 0)), init_t>,
      "reduce and combine must return the type of init");
  TORCH_CHECK(iter.ninputs() == 1, "binary_kernel_reduce: got ", iter.ninputs(), " inputs, must be 1");
  iter.foreach_reduced_elt([&](TensorIteratorBase& group) {
    const int input = group.ntensors() - 1;
    const auto reduce_range = [&](int64_t begin, int64_t end, init_t acc) {
      int64_t index = begin;
      group.serial_for_each(
          [&](char** data, const int64_t* strides, int64_t size) {
            for (int64_t i = 0; i < size; ++i) {
              acc = ops.reduce(acc, c10::load<element_t>(data[input] + i * strides[input]), index++);
            }
          },
          {begin, end});
      return ops.translate_idx(acc, group.view_offsets()[0]);
    };
    const init_t acc = at::parallel_reduce(
        0, group.numel(), at::internal::GRAIN_SIZE, init, reduce_range,
        [&](init_t a, init_t b) { return ops.combine(a, b); });
    reduction::store_results(ops.project(acc), group);
  });
}

/// Reduces by `op` of two elements and `vop` of two vectors, which must be the same function of its lanes; elements,
/// result and accumulator are of one type. `ident` is the result of no element.
template <typename func_t, typename vec_func_t>
void binary_kernel_reduce_vec(TensorIteratorBase& iter, func_t op, vec_func_t vop, double ident = 0) {
  using T = std::decay_t<typename function_traits<func_t>::result_type>;
  constexpr int64_t kSize = sizeof(T);
  iter.output_base().fill_(ident);
  iter.parallel_reduce([&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    const bool inner = strides[0] == 0;
    if (inner && strides[2] == kSize && strides[3] == kSize && strides[1] != kSize) {
      reduction::fold_dense_columns<T>(op, vop, data[0], data[1], strides[1], size0, size1);
      return;
    }
    for (int64_t j = 0; j < size1; ++j) {
      char* const out = data[0] + j * strides[2];
      const char* const in = data[1] + j * strides[3];
      if (inner && strides[1] == kSize) {
        reduction::fold_dense_row<T>(op, vop, out, in, size0);
      } else {
        reduction::fold_row<T>(op, out, strides[0], in, strides[1], size0);
      }
    }
  });
}

/// Is the innermost dimension, dense in the one input, the only one reduced?
inline bool is_reduce_lastdim(TensorIteratorBase& iter) {
  return iter.num_reduce_dims() == 1 && iter.is_dim_reduced(0) && iter.ninputs() == 1 &&
      iter.strides(1)[0] == iter.element_size(1);
}

/// Calls `reduce_op(out, in, n)` with the addresses of a result and of the n elements side by side that it is of.
template <typename reduce_func_t>
void binary_kernel_reduce_lastdim(TensorIteratorBase& iter, reduce_func_t reduce_op) {
  const int64_t n = iter.shape()[0];
  TensorIterator rows(iter);
  rows.narrow(0, 0, 1);
  rows.for_each(
      [&](char** data, const int64_t* strides, int64_t size) {
        for (int64_t i = 0; i < size; ++i) {
          reduce_op(data[0] + i * strides[0], data[1] + i * strides[1], n);
        }
      },
      std::max<int64_t>(1, at::internal::GRAIN_SIZE / std::max<int64_t>(n, 1)));
}

} // namespace AT_VEC_ISA
} // namespace CPU_CAPABILITY
} // namespace at::native
