#pragma once
// Rows of any floating dtype as lanes of the type they are computed in (float for the 16-bit types).

#include <aten/core/OpMathType.h>
#include <aten/native/vec/Vec.h>

#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {

template <class T>
struct Lanes {
  using R = at::opmath_type<T>;
  using V = vec::Vec<R>;
  static constexpr int kSize = V::size();

  static VEC_INLINE V load(const T* p) {
    if constexpr (std::is_same_v<T, double>) {
      return V::load(p);
    } else {
      return vec::load_float(p);
    }
  }
  /// The first n lanes, the rest zero.
  static VEC_INLINE V load(const T* p, int n) {
    if constexpr (std::is_same_v<T, double>) {
      return V::load(p, n);
    } else {
      return vec::load_float(p, n);
    }
  }
  static VEC_INLINE void store(V v, T* p) {
    if constexpr (std::is_same_v<T, double>) {
      v.store(p);
    } else {
      vec::store_float(v, p);
    }
  }
  static VEC_INLINE void store(V v, T* p, int n) {
    if constexpr (std::is_same_v<T, double>) {
      v.store(p, n);
    } else {
      vec::store_float(v, p, n);
    }
  }
};

/// Calls f(i, n) for runs of n <= kSize lanes starting at element i; n is the constant kSize but for the last run.
template <class T, class F>
VEC_INLINE void for_lanes(int64_t count, const F& f) {
  constexpr int L = Lanes<T>::kSize;
  int64_t i = 0;
  for (; i + L <= count; i += L) {
    f(i, std::integral_constant<int, L>{});
  }
  if (i < count) {
    f(i, static_cast<int>(count - i));
  }
}

/// Loads a full or a partial run, as for_lanes hands them out.
template <class T, int L>
VEC_INLINE typename Lanes<T>::V load_run(const T* p, std::integral_constant<int, L>) {
  return Lanes<T>::load(p);
}
template <class T>
VEC_INLINE typename Lanes<T>::V load_run(const T* p, int n) {
  return Lanes<T>::load(p, n);
}
template <class T, int L>
VEC_INLINE void store_run(typename Lanes<T>::V v, T* p, std::integral_constant<int, L>) {
  Lanes<T>::store(v, p);
}
template <class T>
VEC_INLINE void store_run(typename Lanes<T>::V v, T* p, int n) {
  Lanes<T>::store(v, p, n);
}

/// Lanes past the end of a partial run replaced by `rest`.
template <class V, int L>
VEC_INLINE V keep_run(V v, typename V::value_type, std::integral_constant<int, L>) {
  return v;
}
template <class V>
VEC_INLINE V keep_run(V v, typename V::value_type rest, int n) {
  for (int i = n; i < V::size(); ++i) {
    v.set(i, rest);
  }
  return v;
}

} // namespace CPU_CAPABILITY
} // namespace at::native
