// sum, nansum, mean, prod, any, all, count_nonzero, hash_tensor.
#include <aten/native/cuda/reduce_ops.cuh>

namespace at::native::cuda {

namespace {

template <class Math, bool SkipNan>
struct Sum {
  using Acc = Math;
  __device__ Acc identity() const {
    return Acc(0);
  }
  __device__ Acc map(Math x, std::int64_t) const {
    if constexpr (SkipNan) {
      return not_a_number(x) ? Acc(0) : x;
    } else {
      return x;
    }
  }
  __device__ Acc combine(Acc a, Acc b) const {
    return a + b;
  }
  __device__ void store(std::int64_t at, Acc a) const {
    store_as<Acc>(out.data, out.dtype, at, divisor == Acc(1) ? a : a / divisor);
  }
  ReduceOutput out;
  Acc divisor;
};

template <class Math>
struct Prod {
  using Acc = Math;
  __device__ Acc identity() const {
    return Acc(1);
  }
  __device__ Acc map(Math x, std::int64_t) const {
    return x;
  }
  __device__ Acc combine(Acc a, Acc b) const {
    return a * b;
  }
  __device__ void store(std::int64_t at, Acc a) const {
    store_as<Acc>(out.data, out.dtype, at, a);
  }
  ReduceOutput out;
};

// Is some element true, or with `negate` is some false: all is the negation of the latter.
template <class Math>
struct Any {
  using Acc = std::uint32_t;
  __device__ Acc identity() const {
    return 0;
  }
  __device__ Acc map(Math x, std::int64_t) const {
    return (x != Math(0)) != negate;
  }
  __device__ Acc combine(Acc a, Acc b) const {
    return a | b;
  }
  __device__ void store(std::int64_t at, Acc a) const {
    out[at] = (a != 0) != negate;
  }
  std::uint8_t* out;
  bool negate;
};

template <class Math>
struct CountNonzero {
  using Acc = std::int64_t;
  __device__ Acc identity() const {
    return 0;
  }
  __device__ Acc map(Math x, std::int64_t) const {
    return x != Math(0);
  }
  __device__ Acc combine(Acc a, Acc b) const {
    return a + b;
  }
  __device__ void store(std::int64_t at, Acc a) const {
    out[at] = a;
  }
  std::int64_t* out;
};

// Words combined by exclusive or.
struct ExclusiveOr {
  using Acc = std::int64_t;
  __device__ Acc identity() const {
    return 0;
  }
  __device__ Acc map(Acc x, std::int64_t) const {
    return x;
  }
  __device__ Acc combine(Acc a, Acc b) const {
    return a ^ b;
  }
  __device__ void store(std::int64_t at, Acc a) const {
    out[at] = a;
  }
  std::int64_t* out;
};

} // namespace

void launch_arithmetic(
    const ReduceRun& run, Arithmetic kind, const ReduceInput& in, const ReduceOutput& out, double divisor) {
  switch (kind) {
    case Arithmetic::Sum:
      return with_all(in, [&](auto elements, auto math) {
        using Math = decltype(math);
        launch_reduce(run, Sum<Math, false>{out, static_cast<Math>(divisor)}, elements);
      });
    case Arithmetic::NanSum:
      return with_floating(in, [&](auto elements, auto math) {
        using Math = decltype(math);
        launch_reduce(run, Sum<Math, true>{out, Math(1)}, elements);
      });
    case Arithmetic::Prod:
      return with_all(in, [&](auto elements, auto math) { launch_reduce(run, Prod<decltype(math)>{out}, elements); });
  }
}

void launch_any(const ReduceRun& run, bool all, const ReduceInput& in, void* out) {
  with_all(in, [&](auto elements, auto math) {
    launch_reduce(run, Any<decltype(math)>{static_cast<std::uint8_t*>(out), all}, elements);
  });
}

void launch_count_nonzero(const ReduceRun& run, const ReduceInput& in, std::int64_t* out) {
  with_all(in, [&](auto elements, auto math) { launch_reduce(run, CountNonzero<decltype(math)>{out}, elements); });
}

void launch_exclusive_or(const ReduceRun& run, const std::int64_t* in, std::int64_t* out) {
  with_type<std::int64_t>(
      {c10::ScalarType::Long, in}, [&](auto elements, auto) { launch_reduce(run, ExclusiveOr{out}, elements); });
}

} // namespace at::native::cuda
