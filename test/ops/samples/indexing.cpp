// Joining, indexing, sorting.

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

// Data of their own decide the shape, or a gradient through ties would be undefined.
const SampleTraits kNoGradient{.gradient = false};

const SampleSet kCat("cat", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = random.tensor(dtype, {2, 3});
  return {
      {tensors({a, random.tensor(dtype, {1, 3})})},
      {tensors({a, random.tensor(dtype, {2, 2})}), 1},
      {tensors({a, random.tensor(dtype, {2, 0}), random.tensor(dtype, {2, 1})}), -1},
      {tensors({a})}};
});

const SampleSet kStack("stack", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = random.tensor(dtype, {2, 3});
  const at::Tensor b = random.tensor(dtype, {2, 3});
  return {{tensors({a, b})}, {tensors({a, b, a}), 1}, {tensors({a, b}), -1}, {tensors({random.tensor(dtype, {})})}};
});

const SampleSet kGather("gather", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4});
  return {
      {x, 0, random.indices({2, 4}, 3)},
      {x, 1, random.indices({3, 5}, 4)},
      {x, -1, random.indices({2, 0}, 4)},
      {random.tensor(dtype, {}), 0, random.indices({}, 1)}};
});

/// One row of distinct indices in each line, so that scatter is determined.
at::Tensor permutation_rows() {
  return tensor_of(ScalarType::Long, {3, 2}, [](int64_t i) { return static_cast<double>((i * 3 + i / 2) % 4); });
}

const SampleSet kScatter("scatter.src", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 4}), 1, permutation_rows(), random.tensor(dtype, {3, 2})}};
});

const SampleSet kScatterValue("scatter.value", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 4}), 1, permutation_rows(), 1}};
});

const SampleSet kScatterAdd("scatter_add", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4});
  return {
      {x, 0, random.indices({3, 4}, 3), random.tensor(dtype, {3, 4})},
      {x, 1, random.indices({2, 5}, 4), random.tensor(dtype, {2, 5})}};
});

const SampleSet kIndexSelect("index_select", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {{x, 0, random.indices({5}, 3)}, {x, 1, random.indices({2}, 4)}, {x, -1, random.indices({0}, 2)}};
});

const SampleSet kIndexAdd("index_add", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.tensor(dtype, {3, 4}), 1, random.indices({5}, 4), random.tensor(dtype, {3, 5})}};
});

c10::IValue optional_tensors(const std::vector<at::Tensor>& list) {
  using Optional = decltype(std::declval<const c10::IValue&>().toOptional<at::Tensor>());
  c10::List<Optional> indices;
  for (const at::Tensor& index : list) {
    indices.push_back(index.defined() ? Optional(index) : Optional());
  }
  return indices;
}

const SampleSet kIndex("index.Tensor", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4, 2});
  return {
      {x, optional_tensors({random.indices({5}, 3)})},
      {x, optional_tensors({at::Tensor(), random.indices({2, 2}, 4)})},
      {x, optional_tensors({random.indices({3}, 3), at::Tensor(), random.indices({2, 1}, 2)})},
      {x, optional_tensors({random.indices({2, 1}, 3), random.indices({3}, 4)})}};
});

const SampleSet kIndexPut("index_put", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {3, 4});
  return {
      {x, optional_tensors({random.indices({5}, 3)}), random.tensor(dtype, {5, 4}), true},
      {x, optional_tensors({random.indices({5}, 3), random.indices({5}, 4)}), random.tensor(dtype, {}), true}};
});

const SampleSet kMaskedSelect("masked_select", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {3, 4}), random.tensor(ScalarType::Bool, {3, 4})},
      {random.tensor(dtype, {3, 4}), random.tensor(ScalarType::Bool, {4})}};
});

const SampleSet kNonzero(
    "nonzero",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {3, 4})}, {random.tensor(dtype, {})}, {random.tensor(dtype, {0, 2})}};
    },
    kNoGradient);

const SampleSet kSort("sort", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.distinct(dtype, {3, 5});
  return {{x}, {x, 0}, {x, 1, true}, {random.distinct(dtype, {})}, {random.distinct(dtype, {0, 2})}};
});

const SampleSet kSortStable("sort.stable", [](ScalarType dtype, Random& random) -> Arguments {
  return {{random.distinct(dtype, {3, 5}), true, 1, true}};
});

const SampleSet kTopk("topk", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.distinct(dtype, {3, 5});
  return {{x, 2}, {x, 3, 0}, {x, 4, 1, false}, {x, 0}};
});

} // namespace

} // namespace test
