// Factories and copies.

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

const SampleTraits kNoGradient{.gradient = false};
const SampleTraits kUninitialised{.random = true, .gradient = false};

int64_t number_of(ScalarType dtype) {
  return static_cast<int64_t>(dtype);
}

Arguments by_size(ScalarType dtype, Random&) {
  return {{ints({2, 3}), number_of(dtype)}, {ints({}), number_of(dtype)}, {ints({0, 2}), number_of(dtype)}};
}

const SampleSet kZeros("zeros", by_size, kNoGradient);
const SampleSet kOnes("ones", by_size, kNoGradient);
const SampleSet kEmpty("empty.memory_format", by_size, kUninitialised);
const SampleSet kRand("rand", by_size, kUninitialised);
const SampleSet kRandn("randn", by_size, kUninitialised);

const SampleSet kFull(
    "full",
    [](ScalarType dtype, Random&) -> Arguments {
      return {{ints({2, 3}), 1, number_of(dtype)}, {ints({}), 1, number_of(dtype)}};
    },
    kNoGradient);

const SampleSet kEye(
    "eye",
    [](ScalarType dtype, Random&) -> Arguments {
      return {{3, number_of(dtype)}, {0, number_of(dtype)}};
    },
    kNoGradient);
const SampleSet kEyeM(
    "eye.m",
    [](ScalarType dtype, Random&) -> Arguments {
      return {{3, 4, number_of(dtype)}};
    },
    kNoGradient);
const SampleSet kArange(
    "arange",
    [](ScalarType dtype, Random&) -> Arguments {
      return {{5, number_of(dtype)}, {0, number_of(dtype)}};
    },
    kNoGradient);
const SampleSet kArangeStep(
    "arange.start_step",
    [](ScalarType dtype, Random&) -> Arguments {
      return {{1, 9, 3, number_of(dtype)}, {0, 70, 1, number_of(dtype)}};
    },
    kNoGradient);
const SampleSet kLinspace(
    "linspace",
    [](ScalarType dtype, Random&) -> Arguments {
      return {{0, 8, 5, number_of(dtype)}, {0, 8, 1, number_of(dtype)}, {0, 8, 0, number_of(dtype)}};
    },
    kNoGradient);

Arguments by_tensor(ScalarType dtype, Random& random) {
  return {{random.tensor(dtype, {2, 3})}, {random.tensor(dtype, {})}, {random.tensor(dtype, {0, 2})}};
}

// Strides follow those of the input, so they are compared by the meta test only.
const SampleTraits kLike{.gradient = false, .layouts = false};
const SampleSet kZerosLike("zeros_like", by_tensor, kLike);
const SampleSet kOnesLike("ones_like", by_tensor, kLike);
const SampleSet kEmptyLike("empty_like", by_tensor, kUninitialised);
const SampleSet kFullLike(
    "full_like",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {2, 3}), 1}};
    },
    kLike);
const SampleSet kNewZeros(
    "new_zeros",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {2}), ints({2, 3})}};
    },
    kLike);

const SampleSet kToDtype("to.dtype", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {2, 3}, 0, 2);
  const bool is_complex = c10::isComplexType(dtype);
  return {
      {x, number_of(is_complex ? ScalarType::ComplexDouble : ScalarType::Double)}, {x, number_of(dtype), false, true}};
});

} // namespace

} // namespace test
