// Loops over arrays with operations on at::vec::Vectorized: map and reduce.
//
//   at::vec::map<float>([](Vec x) { return x * x; }, y, x, n);
//   float total = at::vec::reduce_all<float>([](Vec a, Vec b) { return a + b; }, x, n);
//
// Half and BFloat16 arrays are computed in float: the operations get and give Vectorized<float>, and reductions return
// a float. An operation that takes only Vectorized of the array's own dtype gets that. Lanes beyond the end hold zeros,
// and what becomes of them is dropped.
#pragma once

#include <csrc/compat/aten/cpu/vec/vec_base.h>

#include <type_traits>
#include <utility>

namespace at::vec {
inline namespace CPU_CAPABILITY {
inline namespace AT_VEC_ISA {

/// What numbers of dtype T are computed in.
template <class T>
struct VecScalarType {
  using type = std::conditional_t<is_reduced_floating_point_v<T>, float, T>;
};
template <class T>
using vec_scalar_t = typename VecScalarType<T>::type;

namespace lanes {

/// Up to V::size() elements of any dtype, as the lanes of V.
template <class V, class T>
V load(const T* from, int64_t count) {
  if constexpr (std::is_same_v<typename V::value_type, T>) {
    return count >= V::size() ? V::loadu(from) : V::loadu(from, count);
  } else {
    typename V::value_type values[V::size()] = {};
    for (int i = 0; i < count && i < V::size(); ++i) {
      values[i] = static_cast<typename V::value_type>(from[i]);
    }
    return V(values);
  }
}
template <class V, class T>
void store(const V& v, T* to, int64_t count) {
  if constexpr (std::is_same_v<typename V::value_type, T>) {
    v.store(to, static_cast<int>(std::min<int64_t>(count, V::size())));
  } else {
    for (int i = 0; i < count && i < V::size(); ++i) {
      to[i] = static_cast<T>(v[i]);
    }
  }
}

/// The vector that `Op` is given for arrays of T: of the dtype computed in where it takes that.
template <class T, class Op, class... In>
using vector_for = std::conditional_t<
    std::is_invocable_v<Op, std::conditional_t<true, Vectorized<vec_scalar_t<T>>, In>...>,
    Vectorized<vec_scalar_t<T>>,
    Vectorized<T>>;

template <class T, class Op, class... In>
void map_arrays(const Op& op, T* out, int64_t size, const In*... in) {
  using V = vector_for<T, Op, In...>;
  for (int64_t i = 0; i < size; i += V::size()) {
    store(V(op(load<V>(in + i, size - i)...)), out + i, size - i);
  }
}

/// op over the first `count` lanes, which op is given in the first lane.
template <class V, class Op>
typename V::value_type reduce_lanes(const Op& op, V v, int64_t count) {
  if (count >= V::size()) {
    for (int distance = V::size() / 2; distance > 0; distance /= 2) {
      v = op(v, V::make([&](int i) { return v[(i + distance) % V::size()]; }));
    }
    return v[0];
  }
  const V lane = v;
  for (int64_t i = 1; i < count; ++i) {
    V next;
    next[0] = lane[i];
    v = op(v, next);
  }
  return v[0];
}

template <class T, class MapOp, class ReduceOp, class... In>
vec_scalar_t<T> reduce_arrays(const MapOp& map_op, const ReduceOp& reduce_op, int64_t size, const In*... in) {
  using V = Vectorized<vec_scalar_t<T>>;
  V total = map_op(load<V>(in, size)...);
  for (int64_t i = V::size(); i < size; i += V::size()) {
    const V next = reduce_op(total, V(map_op(load<V>(in + i, size - i)...)));
    total = V::set(total, next, size - i);
  }
  return reduce_lanes(reduce_op, total, size);
}

struct identity {
  template <class V>
  V operator()(const V& v) const {
    return v;
  }
};

} // namespace lanes

/// out[i] = op(in[i])
template <class T, class Op>
void map(const Op& op, T* out, const T* in, int64_t size) {
  lanes::map_arrays(op, out, size, in);
}
/// The same from floats to Half or BFloat16.
template <class T, class Op, std::enable_if_t<is_reduced_floating_point_v<T>, int> = 0>
void map(const Op& op, T* out, const float* in, int64_t size) {
  lanes::map_arrays(op, out, size, in);
}
template <class T, class Op>
void map2(const Op& op, T* out, const T* a, const T* b, int64_t size) {
  lanes::map_arrays(op, out, size, a, b);
}
template <class T, class Op>
void map3(const Op& op, T* out, const T* a, const T* b, const T* c, int64_t size) {
  lanes::map_arrays(op, out, size, a, b, c);
}
template <class T, class Op>
void map4(const Op& op, T* out, const T* a, const T* b, const T* c, const T* d, int64_t size) {
  lanes::map_arrays(op, out, size, a, b, c, d);
}

/// op over the first `size` lanes of a vector.
template <class T, class Op>
T vec_reduce_all(const Op& op, Vectorized<T> v, int64_t size = Vectorized<T>::size()) {
  return lanes::reduce_lanes(op, v, size);
}
/// op over all elements, 0 where there are none.
template <class T, class Op>
vec_scalar_t<T> reduce_all(const Op& op, const T* in, int64_t size) {
  return lanes::reduce_arrays<T>(lanes::identity{}, op, size, in);
}
/// Two reductions of one array.
template <class T, class Op1, class Op2>
std::pair<vec_scalar_t<T>, vec_scalar_t<T>> reduce2_all(const Op1& op1, const Op2& op2, const T* in, int64_t size) {
  return {reduce_all<T>(op1, in, size), reduce_all<T>(op2, in, size)};
}
/// reduce_op over map_op(in[i]).
template <class T, class MapOp, class ReduceOp>
vec_scalar_t<T> map_reduce_all(const MapOp& map_op, const ReduceOp& reduce_op, const T* in, int64_t size) {
  return lanes::reduce_arrays<T>(map_op, reduce_op, size, in);
}
template <class T, class MapOp, class ReduceOp>
vec_scalar_t<T> map2_reduce_all(const MapOp& map_op, const ReduceOp& reduce_op, const T* a, const T* b, int64_t size) {
  return lanes::reduce_arrays<T>(map_op, reduce_op, size, a, b);
}
template <class T, class MapOp, class ReduceOp>
vec_scalar_t<T> map3_reduce_all(
    const MapOp& map_op, const ReduceOp& reduce_op, const T* a, const T* b, const T* c, int64_t size) {
  return lanes::reduce_arrays<T>(map_op, reduce_op, size, a, b, c);
}

} // namespace AT_VEC_ISA
} // namespace CPU_CAPABILITY
} // namespace at::vec
