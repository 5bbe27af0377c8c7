// max, min, amax, amin, argmax, argmin. NaN is beyond every number; of equal elements the first counts.
#include <aten/native/cuda/reduce_ops.cuh>

namespace at::native::cuda {

namespace {

// What loses against everything.
template <class Math, bool kMax>
__device__ Math worst() {
  if constexpr (std::is_integral_v<Math>) {
    return kMax ? std::numeric_limits<Math>::lowest() : std::numeric_limits<Math>::max();
  } else {
    return kMax ? -std::numeric_limits<Math>::infinity() : std::numeric_limits<Math>::infinity();
  }
}

template <class Math, bool kMax>
struct Extremum {
  using Acc = Math;
  __device__ Acc identity() const {
    return worst<Math, kMax>();
  }
  __device__ Acc map(Math x, std::int64_t) const {
    return x;
  }
  __device__ Acc combine(Acc a, Acc b) const {
    return (kMax ? a > b : a < b) || not_a_number(a) ? a : b;
  }
  __device__ void store(std::int64_t at, Acc a) const {
    store_as<Acc>(out.data, out.dtype, at, a);
  }
  ReduceOutput out;
};

template <class Math>
struct Placed {
  Math value;
  std::int64_t index;
};

template <class Math, bool kMax>
struct ArgExtremum {
  using Acc = Placed<Math>;
  __device__ Acc identity() const {
    return {worst<Math, kMax>(), INT64_MAX};
  }
  __device__ Acc map(Math x, std::int64_t i) const {
    return {x, i};
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    const bool a_nan = not_a_number(a.value), b_nan = not_a_number(b.value);
    if (a_nan != b_nan) {
      return a_nan ? a : b;
    }
    if (a_nan || a.value == b.value) {
      return a.index < b.index ? a : b;
    }
    return (kMax ? a.value > b.value : a.value < b.value) ? a : b;
  }
  __device__ void store(std::int64_t at, const Acc& a) const {
    if (values.data != nullptr) {
      store_as<Math>(values.data, values.dtype, at, a.value);
    }
    if (indices != nullptr) {
      indices[at] = a.index;
    }
  }
  ReduceOutput values;
  std::int64_t* indices;
};

} // namespace

void launch_extremum(const ReduceRun& run, bool greatest, const ReduceInput& in, void* out) {
  with_real(in, [&](auto elements, auto math) {
    using Math = decltype(math);
    const ReduceOutput output{in.dtype, out};
    greatest ? launch_reduce(run, Extremum<Math, true>{output}, elements)
             : launch_reduce(run, Extremum<Math, false>{output}, elements);
  });
}

void launch_arg_extremum(
    const ReduceRun& run, bool greatest, const ReduceInput& in, void* values, std::int64_t* indices) {
  with_real(in, [&](auto elements, auto math) {
    using Math = decltype(math);
    const ReduceOutput output{in.dtype, values};
    greatest ? launch_reduce(run, ArgExtremum<Math, true>{output, indices}, elements)
             : launch_reduce(run, ArgExtremum<Math, false>{output, indices}, elements);
  });
}

} // namespace at::native::cuda
