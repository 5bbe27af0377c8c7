// softmax and log_softmax, forward and backward. Rows (inner == 1) belong to a warp or a block, which goes over them
// twice: for the greatest element and the sum of exponentials in one pass, then for the result. Other dimensions are
// columns, each of which several threads of a block go over together (column.cuh), neighbours reading neighbours.
#include <aten/native/cuda/softmax.h>

#include <aten/native/cuda/column.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/row.cuh>
#include <c10/cuda/CUDAException.h>

#include <limits>

namespace at::native::cuda {

namespace {

// The greatest of some values, and the sum of e^(value - greatest).
template <class R>
struct Scale {
  R greatest = -std::numeric_limits<R>::infinity();
  R sum = 0;

  template <int K>
  __device__ void add(const R (&x)[K]) {
    R top = greatest;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      top = x[k] > top ? x[k] : top;
    }
    if (top > greatest) {
      sum *= ::exp(greatest - top);
      greatest = top;
    }
#pragma unroll
    for (int k = 0; k < K; ++k) {
      // Of two infinities the difference is no number; two equal ones count the same.
      sum += x[k] == greatest ? R(1) : ::exp(x[k] - greatest);
    }
  }
};

template <class R>
struct Join {
  __device__ Scale<R> operator()(const Scale<R>& a, const Scale<R>& b) const {
    const bool first = a.greatest > b.greatest; // values, not references: these would need memory
    const R high = first ? a.greatest : b.greatest, high_sum = first ? a.sum : b.sum;
    const R low = first ? b.greatest : a.greatest, low_sum = first ? b.sum : a.sum;
    return {high, high_sum + (low == high ? low_sum : low_sum * ::exp(low - high))};
  }
};

template <bool Log, class R>
struct Normalize {
  __device__ explicit Normalize(const Scale<R>& scale)
      : greatest(scale.greatest), other(Log ? ::log(scale.sum) : R(1) / scale.sum) {
    // Nothing but -inf, or +inf among them, has no softmax.
    if (greatest - greatest != R(0)) {
      other = std::numeric_limits<R>::quiet_NaN();
    }
  }
  __device__ R operator()(R x) const {
    return Log ? x - greatest - other : ::exp(x - greatest) * other;
  }
  R greatest, other;
};

template <bool Log, class Kind, class T, class Out>
__global__ void __launch_bounds__(kMaxGroupThreads)
    softmax_rows(const T* x, Out* y, std::int64_t rows, std::int64_t size) {
  using R = opmath_type<T>;
  using ThreadGroup = ThreadGroup<Kind::kWholeBlock>;
  const std::int64_t row = ThreadGroup::row();
  if (row >= rows) {
    return;
  }
  const Row<Kind, T> in(x + row * size, size);
  y += row * size;
  Scale<R> scale;
  in.each([&](auto, const auto& values) { scale.add(values); });
  const Normalize<Log, R> normalize(ThreadGroup::reduce(scale, Join<R>()));
  in.each([&](auto i, const auto& values) {
    store_each<Out, kNeighbours<decltype(values)>>(y + i, [&](int k) { return normalize(values[k]); });
  });
}

template <bool Log, bool Kept, class T, class Out>
__global__ void __launch_bounds__(kColumnThreads)
    softmax_columns(const T* x, Out* y, SoftmaxShape s, ColumnGroups groups) {
  using R = opmath_type<T>;
  const ColumnShare share(groups, s.size, s.inner);
  const Column<Kept, T> in(x, share, -std::numeric_limits<R>::infinity());
  Scale<R> scale;
  in.each([&](auto, const auto& values) { scale.add(values); });
  const Normalize<Log, R> normalize(join_column(scale, groups, share, Join<R>()));
  in.each([&](auto k, const auto& values) { store_batch(y, share, k, [&](int i) { return normalize(values[i]); }); });
}

// dx = g - e^y sum(g) of the logarithm, y (g - sum(g y)) otherwise.
template <bool Log, class R>
__device__ R summand(R g, R y) {
  return Log ? g : g * y;
}
template <bool Log, class R>
__device__ R derivative(R g, R y, R sum) {
  return Log ? g - ::exp(y) * sum : y * (g - sum);
}

template <bool Log, class Kind, class T, class Out>
__global__ void __launch_bounds__(kMaxGroupThreads)
    softmax_backward_rows(const T* g, const T* y, Out* dx, std::int64_t rows, std::int64_t size) {
  using R = opmath_type<T>;
  using ThreadGroup = ThreadGroup<Kind::kWholeBlock>;
  const std::int64_t row = ThreadGroup::row();
  if (row >= rows) {
    return;
  }
  const Row<Kind, T> grads(g + row * size, size), results(y + row * size, size);
  dx += row * size;
  R sum = 0;
  grads.each(
      [&](auto, const auto& grad, const auto& result) {
#pragma unroll
        for (int k = 0; k < kNeighbours<decltype(grad)>; ++k) {
          sum += summand<Log>(grad[k], result[k]);
        }
      },
      results);
  sum = ThreadGroup::reduce(sum, Add());
  grads.each(
      [&](auto i, const auto& grad, const auto& result) {
        store_each<Out, kNeighbours<decltype(grad)>>(
            dx + i, [&](int k) { return derivative<Log>(grad[k], result[k], sum); });
      },
      results);
}

template <bool Log, bool Kept, class T, class Out>
__global__ void __launch_bounds__(kColumnThreads)
    softmax_backward_columns(const T* g, const T* y, Out* dx, SoftmaxShape s, ColumnGroups groups) {
  using R = opmath_type<T>;
  const ColumnShare share(groups, s.size, s.inner);
  const Column<Kept, T> grads(g, share, R(0)), results(y, share, R(0));
  R sum = 0;
  grads.each(
      [&](auto, const auto& grad, const auto& result) {
#pragma unroll
        for (int i = 0; i < kColumnBatch; ++i) {
          sum += summand<Log>(grad[i], result[i]);
        }
      },
      results);
  sum = join_column(sum, groups, share, Add());
  grads.each(
      [&](auto k, const auto& grad, const auto& result) {
        store_batch(dx, share, k, [&](int i) { return derivative<Log>(grad[i], result[i], sum); });
      },
      results);
}

template <bool Log, class T, class Out>
void forward(const SoftmaxShape& s, const void* x, void* y, cudaStream_t stream) {
  const T* from = static_cast<const T*>(x);
  Out* to = static_cast<Out*>(y);
  if (s.inner != 1) {
    const ColumnGroups groups(s.outer, s.size, s.inner, sizeof(T));
    if (groups.kept) {
      softmax_columns<Log, true><<<groups.blocks(), kColumnThreads, 0, stream>>>(from, to, s, groups);
    } else {
      softmax_columns<Log, false><<<groups.blocks(), kColumnThreads, 0, stream>>>(from, to, s, groups);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return;
  }
  with_row_kind<T, /*AnySize=*/true>(s.size, {x, y}, [&](auto kind) {
    using Kind = decltype(kind);
    softmax_rows<Log, Kind>
        <<<group_blocks(s.outer, s.size), group_threads(s.size), 0, stream>>>(from, to, s.outer, s.size);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

template <bool Log, class T, class Out>
void backward(const SoftmaxShape& s, const void* grad, const void* y, void* dx, cudaStream_t stream) {
  const T* g = static_cast<const T*>(grad);
  const T* result = static_cast<const T*>(y);
  Out* to = static_cast<Out*>(dx);
  if (s.inner != 1) {
    const ColumnGroups groups(s.outer, s.size, s.inner, sizeof(T));
    if (groups.kept) {
      softmax_backward_columns<Log, true><<<groups.blocks(), kColumnThreads, 0, stream>>>(g, result, to, s, groups);
    } else {
      softmax_backward_columns<Log, false><<<groups.blocks(), kColumnThreads, 0, stream>>>(g, result, to, s, groups);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return;
  }
  with_row_kind<T, /*AnySize=*/true>(s.size, {grad, y, dx}, [&](auto kind) {
    using Kind = decltype(kind);
    softmax_backward_rows<Log, Kind>
        <<<group_blocks(s.outer, s.size), group_threads(s.size), 0, stream>>>(g, result, to, s.outer, s.size);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

using c10::ScalarType;

template <bool Log>
void forward_of(const SoftmaxShape& s, ScalarType in, const void* x, ScalarType out, void* y, cudaStream_t stream) {
  switch (in) {
    case ScalarType::Half:
      return out == ScalarType::Half ? forward<Log, c10::Half, c10::Half>(s, x, y, stream)
                                     : forward<Log, c10::Half, float>(s, x, y, stream);
    case ScalarType::BFloat16:
      return out == ScalarType::BFloat16 ? forward<Log, c10::BFloat16, c10::BFloat16>(s, x, y, stream)
                                         : forward<Log, c10::BFloat16, float>(s, x, y, stream);
    case ScalarType::Float:
      return forward<Log, float, float>(s, x, y, stream);
    default:
      return forward<Log, double, double>(s, x, y, stream);
  }
}

template <bool Log>
void backward_of(
    const SoftmaxShape& s,
    ScalarType in,
    const void* grad,
    const void* y,
    ScalarType out,
    void* dx,
    cudaStream_t stream) {
  switch (in) {
    case ScalarType::Half:
      return backward<Log, c10::Half, c10::Half>(s, grad, y, dx, stream);
    case ScalarType::BFloat16:
      return backward<Log, c10::BFloat16, c10::BFloat16>(s, grad, y, dx, stream);
    case ScalarType::Float:
      return out == ScalarType::Half ? backward<Log, float, c10::Half>(s, grad, y, dx, stream)
                                     : backward<Log, float, float>(s, grad, y, dx, stream);
    default:
      return backward<Log, double, double>(s, grad, y, dx, stream);
  }
}

} // namespace

void launch_softmax(
    bool log, const SoftmaxShape& shape, ScalarType in, const void* x, ScalarType out, void* y, cudaStream_t stream) {
  return log ? forward_of<true>(shape, in, x, out, y, stream) : forward_of<false>(shape, in, x, out, y, stream);
}

void launch_softmax_backward(
    bool log,
    const SoftmaxShape& shape,
    ScalarType in,
    const void* grad,
    const void* y,
    ScalarType out,
    void* dx,
    cudaStream_t stream) {
  return log ? backward_of<true>(shape, in, grad, y, out, dx, stream)
             : backward_of<false>(shape, in, grad, y, out, dx, stream);
}

} // namespace at::native::cuda
