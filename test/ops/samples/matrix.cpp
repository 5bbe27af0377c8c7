// Matrix products.

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

const SampleSet kMm("mm", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {3, 4}), random.tensor(dtype, {4, 2})},
      {random.tensor(dtype, {1, 5}), random.tensor(dtype, {5, 1})},
      {random.tensor(dtype, {3, 0}), random.tensor(dtype, {0, 2})},
      {random.tensor(dtype, {0, 2}), random.tensor(dtype, {2, 3})}};
});

const SampleSet kBmm("bmm", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {2, 3, 4}), random.tensor(dtype, {2, 4, 2})},
      {random.tensor(dtype, {2, 3, 0}), random.tensor(dtype, {2, 0, 2})}};
});

const SampleSet kAddmm("addmm", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = random.tensor(dtype, {3, 4});
  const at::Tensor b = random.tensor(dtype, {4, 2});
  return {
      {random.tensor(dtype, {3, 2}), a, b},
      {random.tensor(dtype, {2}), a, b, 2, 3},
      {random.tensor(dtype, {3, 1}), a, b, 0, 1},
      {random.tensor(dtype, {}), a, b}};
});

const SampleSet kAddmmActivation("_addmm_activation", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = random.distinct(dtype, {3, 4}), b = random.tensor(dtype, {4, 2});
  return {
      {random.tensor(dtype, {2}), a, b},
      {random.tensor(dtype, {2}), a, b, 1, 0.5, true},
      {random.tensor(dtype, {3, 2}), a, b, 2, 3},
      {random.tensor(dtype, {3, 1}), a, b, 0, 1, true}};
});

const SampleSet kBaddbmm("baddbmm", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = random.tensor(dtype, {2, 3, 4});
  const at::Tensor b = random.tensor(dtype, {2, 4, 2});
  return {{random.tensor(dtype, {2, 3, 2}), a, b}, {random.tensor(dtype, {3, 1}), a, b, 2, 3}};
});

const SampleSet kAddmv("addmv", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3}), random.tensor(dtype, {3, 4}), random.tensor(dtype, {4}), 2, 3}};
});

const SampleSet kMv("mv", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {3, 4}), random.tensor(dtype, {4})},
      {random.tensor(dtype, {3, 0}), random.tensor(dtype, {0})}};
});

Arguments vectors(ScalarType dtype, Random& random) {
  return {
      {random.tensor(dtype, {5}), random.tensor(dtype, {5})}, {random.tensor(dtype, {0}), random.tensor(dtype, {0})}};
}

const SampleSet kDot("dot", vectors);
const SampleSet kVdot("vdot", vectors);
const SampleSet kOuter("outer", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3}), random.tensor(dtype, {4})}};
});

const SampleSet kMatmul("matmul", [](ScalarType dtype, Random& random) -> Arguments {
  const auto pair = [&](const std::vector<int64_t>& a, const std::vector<int64_t>& b) -> Stack {
    return {random.tensor(dtype, a), random.tensor(dtype, b)};
  };
  return {pair({4}, {4}),          pair({3, 4}, {4}),       pair({4}, {4, 3}),
          pair({2, 4}, {4, 3}),    pair({2, 3, 4}, {4}),    pair({4}, {2, 4, 3}),
          pair({2, 3, 4}, {4, 2}), pair({3, 4}, {2, 4, 2}), pair({2, 1, 3, 4}, {2, 4, 2})};
});

const SampleSet kLinear("linear", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor weight = random.tensor(dtype, {2, 4});
  return {
      {random.tensor(dtype, {3, 4}), weight},
      {random.tensor(dtype, {3, 4}), weight, random.tensor(dtype, {2})},
      {random.tensor(dtype, {2, 3, 4}), weight, random.tensor(dtype, {2})},
      {random.tensor(dtype, {4}), weight}};
});

const SampleSet kEinsum("einsum", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = random.tensor(dtype, {3, 4});
  const at::Tensor b = random.tensor(dtype, {4, 2});
  return {
      {"ij,jk->ik", tensors({a, b})},
      {"ij,jk", tensors({a, b})},
      {"ij->ji", tensors({a})},
      {"ij->", tensors({a})},
      {"...j,jk->...k", tensors({random.tensor(dtype, {2, 3, 4}), b})}};
});

const SampleSet kTril("tril", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4});
  return {{x}, {x, 1}, {x, -2}, {random.tensor(dtype, {2, 3, 3}), 0}, {random.tensor(dtype, {0, 3})}};
});

const SampleSet kTriu("triu", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {4, 3});
  return {{x}, {x, 1}, {x, -2}, {random.tensor(dtype, {2, 3, 3}), 0}, {random.tensor(dtype, {0, 3})}};
});

} // namespace

} // namespace test
