// cpu_pointwise: runs an operator's functor over a call of the fast path or an iterator, for the dtypes its entry asks
// for.
//
// A functor is a type that is called with 1 to 4 values and returns the result:
//
//   struct Mul {                                       // no parameters: a plain struct
//     template <class T> HOST_DEVICE T operator()(T a, T b) const { return a * b; }
//   };
//   template <class T> struct AddAlpha {               // parameters: a template, constructed as AddAlpha<T>(args...)
//     explicit AddAlpha(const c10::Scalar& alpha);
//     HOST_DEVICE T operator()(T a, T b) const;
//   };
//
// T is the type of computation: float for half and bfloat16, c10::complex<float> for complex half, else the dtype's
// own. The result is T, bool (comparisons), or the real part's type of a complex T.
//
// Optional members of a functor:
//   static constexpr bool kVec = true;          it also takes Vec<float> and Vec<double>; for functions that compilers
//   do
//                                               not vectorise. Write `using std::exp; return exp(x);`.
//   static constexpr bool kVecFloat = true;     it also takes Vec<float>, but not Vec<double>.
//   static constexpr bool kVecReduced = true;   it takes Vec<float> where elements are of a 16-bit type; for functions
//   so
//                                               cheap that the time goes to the conversion.
//   static constexpr bool kExactScalars = true; with 16-bit tensors a scalar operand (add(x, 0.1)) is not rounded
//   first.
#pragma once

#include <aten/core/OpMathType.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/iterator/pointwise_run.h>
#include <aten/native/vec/trigonometry.h>
#include <aten/parallel/Parallel.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace at::native {
inline namespace CPU_CAPABILITY {

/// The dtypes to instantiate.
template <class... Ts>
struct TypeList {};

namespace pointwise_detail {

template <class F, class = void>
inline constexpr bool has_vec = false;
template <class F>
inline constexpr bool has_vec<F, std::enable_if_t<F::kVec>> = true;

template <class F, class = void>
inline constexpr bool has_vec_float = has_vec<F>;
template <class F>
inline constexpr bool has_vec_float<F, std::enable_if_t<F::kVecFloat>> = true;

template <class F, class = void>
inline constexpr bool has_vec_reduced = has_vec_float<F>;
template <class F>
inline constexpr bool has_vec_reduced<F, std::enable_if_t<F::kVecReduced>> = true;

template <class F, class = void>
inline constexpr bool exact_scalars = false;
template <class F>
inline constexpr bool exact_scalars<F, std::enable_if_t<F::kExactScalars>> = true;

template <class T>
inline constexpr bool is_reduced = std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>;

// The 16-bit type inside T, which may be complex.
template <class T>
using reduced_part = std::conditional_t<std::is_same_v<T, c10::BFloat16>, c10::BFloat16, c10::Half>;

// Shared by all operators of an instruction set, hence not inlined.
template <class T>
__attribute__((noinline)) void widen(const T* from, float* to, std::int64_t n) {
  using V = vec::VecFloat;
  std::int64_t i = 0;
  for (; i + V::size() <= n; i += V::size()) {
    vec::load_float(from + i).store(to + i);
  }
  if (i < n) {
    vec::load_float(from + i, static_cast<int>(n - i)).store(to + i, static_cast<int>(n - i));
  }
}
template <class T>
__attribute__((noinline)) void narrow(const float* from, T* to, std::int64_t n) {
  using V = vec::VecFloat;
  std::int64_t i = 0;
  for (; i + V::size() <= n; i += V::size()) {
    vec::store_float(V::load(from + i), to + i);
  }
  if (i < n) {
    vec::store_float(V::load(from + i, static_cast<int>(n - i)), to + i, static_cast<int>(n - i));
  }
}

template <std::size_t, class T>
using repeat = T;

template <class F, class T, class = std::make_index_sequence<0>>
struct InvocableWith;
template <class F, class T, std::size_t... I>
struct InvocableWith<F, T, std::index_sequence<I...>> : std::is_invocable<const F&, repeat<I, T>...> {
  using indices = std::index_sequence<I...>;
};

// The number of arguments that F takes, as an index sequence.
template <class F, class T>
using arguments = typename std::conditional_t<
    InvocableWith<F, T, std::make_index_sequence<1>>::value,
    InvocableWith<F, T, std::make_index_sequence<1>>,
    std::conditional_t<
        InvocableWith<F, T, std::make_index_sequence<2>>::value,
        InvocableWith<F, T, std::make_index_sequence<2>>,
        std::conditional_t<
            InvocableWith<F, T, std::make_index_sequence<3>>::value,
            InvocableWith<F, T, std::make_index_sequence<3>>,
            InvocableWith<F, T, std::make_index_sequence<4>>>>>::indices;

// The stored type of a result: bool, the dtype itself, or its real part.
template <class T, class Math, class Result>
struct Stored {
  using type = std::conditional_t<std::is_same_v<Result, Math>, T, Result>;
};
template <class Result>
struct Stored<c10::complex<c10::Half>, c10::complex<float>, Result> {
  using type = std::conditional_t<
      std::is_same_v<Result, c10::complex<float>>,
      c10::complex<c10::Half>,
      std::conditional_t<std::is_same_v<Result, float>, c10::Half, Result>>;
};

template <class F, class T, class I>
struct Kernel;

template <class F, class T, std::size_t... I>
struct Kernel<F, T, std::index_sequence<I...>> {
  using Math = opmath_type<T>;
  using Result = std::invoke_result_t<const F&, repeat<I, Math>...>;
  using Out = typename Stored<T, Math, Result>::type;
  static constexpr bool kUseVec =
      (has_vec_float<F> && std::is_same_v<Math, float>) || (has_vec<F> && std::is_same_v<Math, double>);

  // Whether the lines of a result are asked for before they are written: where reading leaves time for it (measured).
#ifdef VEC_AVX512
  static constexpr bool kAsksAhead = std::is_same_v<T, float> && std::is_same_v<Out, float> && sizeof...(I) == 2;
#else
  static constexpr bool kAsksAhead = false;
#endif

  static void run(const BlockContext& context, char* out, const char* const* in, std::int64_t n) {
    if constexpr (!std::is_same_v<T, Math>) {
      if constexpr (is_reduced<T> && has_vec_reduced<F>) {
        if (context.wide_inputs == 0) {
          const F f = *static_cast<const F*>(context.functor);
          return run_converting(f, reinterpret_cast<Out*>(out), in, n);
        }
      }
      run_reduced(context, out, in, n);
    } else {
      const F f = *static_cast<const F*>(context.functor);
      run_dense(f, reinterpret_cast<Out*>(out), in, n);
    }
  }

  // Elements are independent, and an output that is one of the inputs is the same elements: nothing is carried over.
  static VEC_INLINE void run_dense(const F& f, Out* to, const char* const* in, std::int64_t n) {
    if constexpr (kUseVec) {
      using V = vec::Vec<T>;
      std::int64_t i = 0;
      for (; i + V::size() <= n; i += V::size()) {
        store(f(V::load(reinterpret_cast<const T*>(in[I]) + i)...), to + i);
      }
      if (const int rest = static_cast<int>(n - i); rest > 0) {
        store(f(V::load(reinterpret_cast<const T*>(in[I]) + i, rest)...), to + i, rest);
      }
    } else {
      const T* from[] = {reinterpret_cast<const T*>(in[I])...};
      std::int64_t i = 0;
      if constexpr (kAsksAhead) {
        // The lines to be written are what loops over the second cache wait for. Rows to which a row is added are short
        // ones of many.
        constexpr std::int64_t kLeast = 1024, kLine = 64 / sizeof(Out), kChunk = 4 * kLine, kAhead = 8 * kLine;
        if (n >= kLeast) {
          for (; i + kChunk <= n; i += kChunk) {
            for (std::int64_t at = i; at < i + kChunk; at += kLine) {
              __builtin_prefetch(to + at + kAhead, /*rw=*/1);
            }
#pragma GCC ivdep
            for (std::int64_t at = i; at < i + kChunk; ++at) {
              to[at] = f(from[I][at]...);
            }
          }
        }
      }
#pragma GCC ivdep
      for (; i < n; ++i) {
        to[i] = f(from[I][i]...);
      }
    }
  }

  // 16-bit types, converted in registers.
  static VEC_INLINE void run_converting(const F& f, Out* to, const char* const* in, std::int64_t n) {
    using V = vec::VecFloat;
    const T* from[] = {reinterpret_cast<const T*>(in[I])...};
    std::int64_t i = 0;
    if constexpr (std::is_same_v<Out, c10::BFloat16>) {
      for (; i + 2 * V::size() <= n; i += 2 * V::size()) {
        const vec::FloatPairs x[] = {vec::load_pairs(from[I] + i)...};
        vec::store_pairs({f(x[I].even...), f(x[I].odd...)}, to + i);
      }
    }
    for (; i + V::size() <= n; i += V::size()) {
      store_reduced(f(vec::load_float(from[I] + i)...), to + i);
    }
    if (const int rest = static_cast<int>(n - i); rest > 0) {
      store_reduced(f(vec::load_float(from[I] + i, rest)...), to + i, rest);
    }
  }

  // 16-bit types: block by block through the kernel of float.
  static void run_reduced(const BlockContext& context, char* out, const char* const* in, std::int64_t n) {
    using Wide = Kernel<F, Math, std::index_sequence<I...>>;
    constexpr std::int64_t kBlock = 256;
    constexpr std::int64_t kParts = sizeof(Math) / sizeof(float); // 2 for complex numbers
    alignas(64) float blocks[sizeof...(I) + 1][kBlock * kParts];
    const char* sources[sizeof...(I)];
    for (std::int64_t i = 0; i < n; i += kBlock) {
      const std::int64_t count = std::min(kBlock, n - i);
      for (std::size_t k = 0; k < sizeof...(I); ++k) {
        if ((context.wide_inputs >> k) & 1u) {
          sources[k] = in[k] + i * sizeof(float);
        } else {
          widen(reinterpret_cast<const reduced_part<T>*>(in[k] + i * sizeof(T)), blocks[k], count * kParts);
          sources[k] = reinterpret_cast<const char*>(blocks[k]);
        }
      }
      if constexpr (std::is_same_v<Out, bool>) {
        Wide::run(context, out + i, sources, count);
      } else {
        float* results = blocks[sizeof...(I)];
        Wide::run(context, reinterpret_cast<char*>(results), sources, count);
        constexpr std::int64_t kOutParts = sizeof(Result) / sizeof(float);
        narrow(results, reinterpret_cast<reduced_part<T>*>(out + i * sizeof(Out)), count * kOutParts);
      }
    }
  }

  // A vector of results, or a mask of a comparison, to memory.
  template <class V>
  static VEC_INLINE void store(V value, Out* to) {
    if constexpr (std::is_same_v<Out, bool>) {
      using Bytes = vec::Vec<std::int8_t, V::size()>;
      (vec::convert<std::int8_t>(value) & Bytes(std::int8_t{1})).store(reinterpret_cast<std::int8_t*>(to));
    } else {
      value.store(to);
    }
  }
  template <class V>
  static VEC_INLINE void store(V value, Out* to, int n) {
    if constexpr (std::is_same_v<Out, bool>) {
      for (int i = 0; i < n; ++i) {
        to[i] = value[i] != 0;
      }
    } else {
      value.store(to, n);
    }
  }
  // The same from float lanes to a 16-bit type.
  template <class V, class... Count>
  static VEC_INLINE void store_reduced(V value, Out* to, Count... n) {
    if constexpr (std::is_same_v<Out, bool>) {
      store(value, to, n...);
    } else {
      vec::store_float(value, to, n...);
    }
  }
};

template <class F, class T>
VEC_INLINE bool run(PointwiseCall& call, const F& f) {
  using K = Kernel<F, T, arguments<F, opmath_type<T>>>;
  static_assert(std::is_trivially_copyable_v<F> && alignof(F) <= 16);
  run_pointwise(call, &K::run, {&f, sizeof(F), exact_scalars<F> && is_reduced<T>});
  return true;
}

// The dtype to ask for first: float, when it is one of them.
template <class... Ts>
struct UsualOf;
template <class T, class... Rest>
struct UsualOf<T, Rest...> {
  using type = std::conditional_t<(std::is_same_v<Rest, float> || ...), float, T>;
};
template <class T>
C10_ALWAYS_INLINE bool is(c10::ScalarType dtype) {
  return dtype == c10::CppTypeToScalarType<T>::value;
}

[[noreturn]] inline void unsupported(const char* op, c10::ScalarType dtype, std::uint64_t supported) {
  at::detail::dtype_not_supported(op, dtype, supported);
}

template <class... Ts>
inline constexpr std::uint64_t bits_of =
    ((std::uint64_t{1} << static_cast<unsigned>(c10::CppTypeToScalarType<Ts>::value)) | ... | 0);

} // namespace pointwise_detail

/// Runs the functor F for the common dtype of a call or iterator, which must be one of Ts (else NotImplementedError),
/// and writes outputs that were computed in a temporary back.
template <class F, class... Ts>
void cpu_pointwise(const char* op, PointwiseCall& call, TypeList<Ts...>) {
  using namespace pointwise_detail;
  using Usual = typename UsualOf<Ts...>::type;
  const c10::ScalarType dtype = call.computation_dtype();
  const F f{};
  const bool done =
      (C10_LIKELY(is<Usual>(dtype)) && run<F, Usual>(call, f)) || ((is<Ts>(dtype) && run<F, Ts>(call, f)) || ...);
  if (!done) {
    unsupported(op, dtype, bits_of<Ts...>);
  }
  call.finish();
}

template <template <class> class F, class... Ts, class... Args>
void cpu_pointwise(const char* op, PointwiseCall& call, TypeList<Ts...>, const Args&... args) {
  using namespace pointwise_detail;
  using Usual = typename UsualOf<Ts...>::type;
  const c10::ScalarType dtype = call.computation_dtype();
  const bool done =
      (C10_LIKELY(is<Usual>(dtype)) && run<F<opmath_type<Usual>>, Usual>(call, F<opmath_type<Usual>>(args...))) ||
      ((is<Ts>(dtype) && run<F<opmath_type<Ts>>, Ts>(call, F<opmath_type<Ts>>(args...))) || ...);
  if (!done) {
    unsupported(op, dtype, bits_of<Ts...>);
  }
  call.finish();
}

} // namespace CPU_CAPABILITY
} // namespace at::native
