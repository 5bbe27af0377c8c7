// cumsum, cumprod, logcumsumexp, cummax, cummin. Inputs and outputs are seen as contiguous [outer, count, inner]
// blocks: a row is scanned along `count`, and neighbouring `inner` columns side by side.
#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/generic/row_walk.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/native/pointwise/math.h>
#include <aten/parallel/Parallel.h>

#include <c10/util/complex.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

constexpr int64_t kColumns = 1024; // the most that are scanned side by side
constexpr int64_t kGrain = 16384;

struct ScanShape {
  int64_t outer = 1;
  int64_t count = 1;
  int64_t inner = 1;

  ScanShape(const TensorBase& self, int64_t dim) {
    dim = c10::maybe_wrap_dim(dim, self.dim());
    for (int64_t d = 0; d < self.dim(); ++d) {
      (d < dim ? outer : d == dim ? count : inner) *= self.sizes()[d];
    }
  }

  bool empty() const {
    return outer * count * inner == 0;
  }
};

// Calls body(offset of the first element, width) for each row of `width` neighbouring columns: as many as leave each
// thread a block, since longer runs are read faster. Nothing computed depends on it.
template <class Body>
void for_columns(const ScanShape& shape, const Body& body) {
  constexpr int64_t kLeast = 64;
  const int64_t share = shape.outer * shape.inner / at::get_num_threads();
  const int64_t columns = std::min(shape.inner, std::clamp(share / kLeast * kLeast, kLeast, kColumns));
  const int64_t blocks = (shape.inner + columns - 1) / columns;
  at::parallel_for(
      0, shape.outer * blocks, std::max<int64_t>(1, kGrain / (shape.count * columns)), [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = (task % blocks) * columns;
          body(task / blocks * shape.count * shape.inner + first, std::min(columns, shape.inner - first));
        }
      });
}

// Running sums are kept one precision up: rounding errors of a prefix would otherwise add up along the row.
template <class T>
using ScanAcc = std::conditional_t<
    std::is_integral_v<T>,
    int64_t,
    std::conditional_t<
        std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>,
        float,
        std::conditional_t<c10::is_complex<T>::value, c10::complex<double>, double>>>;

template <class T>
struct Add {
  using Acc = ScanAcc<T>;
  Acc operator()(Acc a, Acc b) const {
    return pointwise::add(a, b);
  }
};

template <class T>
struct Multiply {
  using Acc = ScanAcc<T>;
  Acc operator()(Acc a, Acc b) const {
    return pointwise::mul(a, b);
  }
};

template <class T>
struct LogAddExp {
  using Acc = ScanAcc<T>;
  Acc operator()(Acc a, Acc b) const {
    if constexpr (c10::is_complex<T>::value) {
      if (std::isnan(a.real()) || std::isnan(a.imag()) || std::isnan(b.real()) || std::isnan(b.imag())) {
        return Acc(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN());
      }
      const Acc low = a.real() < b.real() ? a : b;
      const Acc high = a.real() < b.real() ? b : a;
      if (low.real() == -std::numeric_limits<double>::infinity()) {
        return high;
      }
      return high + std::log(Acc(1) + std::exp(low - high));
    } else {
      const Acc low = std::min(a, b);
      const Acc high = std::max(a, b);
      if (a != a || b != b) {
        return a + b;
      }
      // Equal infinities: their difference would be NaN.
      return low == high && std::isinf(low) ? low : high + std::log1p(std::exp(low - high));
    }
  }
};

/// What a running result starts from. A complex product has 1 + 0i before the first element, which makes NaN of an
/// infinity.
template <class Op, class T>
typename Op::Acc first_of(const Op& op, T x) {
  using Acc = typename Op::Acc;
  if constexpr (std::is_same_v<Op, Multiply<T>> && c10::is_complex<T>::value) {
    return op(Acc(1), static_cast<Acc>(x));
  } else {
    return static_cast<Acc>(x);
  }
}

// Four elements a step: only one operation of each step waits for the step before.
template <class Op, class T>
void scan_in_fours(const Op& op, const T* in, T* out, int64_t count) {
  using Acc = typename Op::Acc;
  Acc carry = first_of(op, in[0]);
  out[0] = static_cast<T>(carry);
  int64_t i = 1;
  for (; i + 4 <= count; i += 4) {
    const Acc a = static_cast<Acc>(in[i]);
    const Acc ab = op(a, static_cast<Acc>(in[i + 1]));
    const Acc abc = op(ab, static_cast<Acc>(in[i + 2]));
    const Acc abcd = op(abc, static_cast<Acc>(in[i + 3]));
    out[i] = static_cast<T>(op(carry, a));
    out[i + 1] = static_cast<T>(op(carry, ab));
    out[i + 2] = static_cast<T>(op(carry, abc));
    carry = op(carry, abcd);
    out[i + 3] = static_cast<T>(carry);
  }
  for (; i < count; ++i) {
    carry = op(carry, static_cast<Acc>(in[i]));
    out[i] = static_cast<T>(carry);
  }
}

/// The lanes of x moved up by Shift, zeros below them.
template <int Shift, class T, int N, int... Lane>
VEC_INLINE vec::Vec<T, N> moved_up(vec::Vec<T, N> x, std::integer_sequence<int, Lane...>) {
  return vec::Vec<T, N>(
      __builtin_shufflevector(typename vec::Vec<T, N>::raw{}, x.v, (Lane < Shift ? Lane : N + Lane - Shift)...));
}

template <int Shift = 1, class T, int N>
VEC_INLINE vec::Vec<T, N> running_sums(vec::Vec<T, N> x) {
  if constexpr (Shift == N) {
    return x;
  } else {
    return running_sums<2 * Shift>(x + moved_up<Shift>(x, std::make_integer_sequence<int, N>()));
  }
}

/// Running sums after `carry`, to which the last of them is added apart: so only one addition of a vector waits for the
/// vector before.
template <class T, int N>
VEC_INLINE vec::Vec<T, N> sums_after(vec::Vec<T, N> x, vec::Vec<T, N>& carry) {
  const vec::Vec<T, N> sums = running_sums(x), result = sums + carry;
  carry += vec::Vec<T, N>(sums.v[N - 1]);
  return result;
}

/// Running sums of adjacent 16-bit numbers, whose conversions compilers do not vectorise.
template <class T>
void sum_row(const T* in, T* out, int64_t count) {
  constexpr int kSize = Lanes<T>::kSize;
  vec::VecFloat carry(0.0f);
  int64_t i = 0;
  for (; i + kSize <= count; i += kSize) {
    Lanes<T>::store(sums_after(Lanes<T>::load(in + i), carry), out + i);
  }
  for (float sum = carry[0]; i < count; ++i) {
    sum += static_cast<float>(in[i]);
    out[i] = static_cast<T>(sum);
  }
}

template <class Op, class T>
void scan_row(const Op& op, const T* in, T* out, int64_t count) {
  if constexpr (std::is_same_v<Op, Add<c10::Half>> || std::is_same_v<Op, Add<c10::BFloat16>>) {
    sum_row(in, out, count);
  } else {
    scan_in_fours(op, in, out, count);
  }
}

template <class Op, class T>
void scan(const Op& op, const ScanShape& shape, const T* in, T* out) {
  using Acc = typename Op::Acc;
  if (shape.inner == 1) {
    at::parallel_for(0, shape.outer, std::max<int64_t>(1, kGrain / shape.count), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        scan_row(op, in + row * shape.count, out + row * shape.count, shape.count);
      }
    });
    return;
  }
  for_columns(shape, [&](int64_t offset, int64_t width) {
    Acc carry[kColumns];
    for (int64_t j = 0; j < width; ++j) {
      carry[j] = first_of(op, in[offset + j]);
      out[offset + j] = static_cast<T>(carry[j]);
    }
    for (int64_t i = 1; i < shape.count; ++i) {
      const T* from = in + offset + i * shape.inner;
      T* to = out + offset + i * shape.inner;
      for (int64_t j = 0; j < width; ++j) {
        carry[j] = op(carry[j], static_cast<Acc>(from[j]));
        to[j] = static_cast<T>(carry[j]);
      }
    }
  });
}

template <template <class> class Op, uint64_t Dtypes>
void scan_along(const char* name, DtypeSet<Dtypes> dtypes, const TensorBase& self, int64_t dim, const TensorBase& out) {
  const ScanShape shape(self, dim);
  if (shape.empty()) {
    return;
  }
  const TensorBase input = self.to(c10::TensorOptions().dtype(out.scalar_type())).contiguous();
  dispatch(name, out.scalar_type(), dtypes, [&]<class T> {
    scan(Op<T>{}, shape, input.const_data_ptr<T>(), out.mutable_data_ptr<T>());
  });
}

template <class T, bool Max>
bool takes_over(T value, T best) {
  // The later of equal values wins, and NaN stays.
  return value != value || (best == best && (Max ? value >= best : value <= best));
}

template <class T>
using Comparable = std::conditional_t<
    std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>,
    float,
    std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;

template <class T, bool Max>
void running_extremum(const ScanShape& shape, const T* in, T* values, int64_t* indices) {
  using C = Comparable<T>;
  if (shape.inner == 1) {
    // One column: a branch, as new extrema are rare, so that no element waits for the one before it.
    for_columns(shape, [&](int64_t offset, int64_t) {
      C best = static_cast<C>(in[offset]);
      int64_t place = 0;
      for (int64_t i = 0; i < shape.count; ++i) {
        const C value = static_cast<C>(in[offset + i]);
        if (takes_over<C, Max>(value, best)) {
          best = value;
          place = i;
        }
        values[offset + i] = static_cast<T>(best);
        indices[offset + i] = place;
      }
    });
    return;
  }
  for_columns(shape, [&](int64_t offset, int64_t width) {
    C best[kColumns];
    int64_t place[kColumns];
    for (int64_t j = 0; j < width; ++j) {
      best[j] = static_cast<C>(in[offset + j]);
      place[j] = 0;
    }
    for (int64_t i = 0; i < shape.count; ++i) {
      const int64_t row = offset + i * shape.inner;
      for (int64_t j = 0; j < width; ++j) {
        const C value = static_cast<C>(in[row + j]);
        const bool take = takes_over<C, Max>(value, best[j]);
        best[j] = take ? value : best[j];
        place[j] = take ? i : place[j];
        values[row + j] = static_cast<T>(best[j]);
        indices[row + j] = place[j];
      }
    }
  });
}

template <bool Max>
void running_extremum_along(
    const char* name, const TensorBase& self, int64_t dim, const TensorBase& values, const TensorBase& indices) {
  if (copy_scalar(self, values, indices)) {
    return;
  }
  const ScanShape shape(self, dim);
  if (shape.empty()) {
    return;
  }
  const TensorBase input = self.contiguous();
  dispatch(name, self.scalar_type(), kBooleans | kIntegral | kFloating, [&]<class T> {
    running_extremum<T, Max>(
        shape, input.const_data_ptr<T>(), values.mutable_data_ptr<T>(), indices.mutable_data_ptr<int64_t>());
  });
}

} // namespace

void cumsum_kernel(const TensorBase& self, int64_t dim, std::optional<ScalarType>, const TensorBase& out) {
  scan_along<Add>("cumsum_out_cpu", kAll - kBooleans, self, dim, out);
}

void cumprod_kernel(const TensorBase& self, int64_t dim, std::optional<ScalarType>, const TensorBase& out) {
  scan_along<Multiply>("cumprod_out_cpu", kAll - kBooleans, self, dim, out);
}

void logcumsumexp_kernel(const TensorBase& self, int64_t dim, const TensorBase& out) {
  scan_along<LogAddExp>("logcumsumexp_out_cpu", kFloating | kComplex, self, dim, out);
}

void cummax_kernel(const TensorBase& self, int64_t dim, const TensorBase& values, const TensorBase& indices) {
  running_extremum_along<true>("cummax_cpu", self, dim, values, indices);
}

void cummin_kernel(const TensorBase& self, int64_t dim, const TensorBase& values, const TensorBase& indices) {
  running_extremum_along<false>("cummin_cpu", self, dim, values, indices);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
