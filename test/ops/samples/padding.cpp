// Padding, replaced views, shuffles of channels, bags of rows.

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

// as_strided looks at the strides of its input.
const SampleTraits kStrided{.layouts = false};
// Its second gradient does not exist, as in PyTorch; whether it tells the bag of each index depends on strides.
const SampleTraits kOnce{.gradient = false, .layouts = false};

SampleSet::Make padded(std::vector<int64_t> sizes, std::vector<std::vector<int64_t>> widths) {
  return [sizes = std::move(sizes), widths = std::move(widths)](ScalarType dtype, Random& random) {
    const at::Tensor x = random.tensor(dtype, sizes);
    Arguments arguments;
    for (const std::vector<int64_t>& width : widths) {
      arguments.push_back({x, ints(width)});
    }
    return arguments;
  };
}

const SampleSet kConstantPad("constant_pad_nd", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {2, 3, 4});
  return {{x, ints({1, 2})},  {x, ints({1, 0, 2, 1, 0, 1}), 1.5},           {x, ints({-1, 1, 0, -1})},
          {x, ints({-1, 0})}, {random.tensor(dtype, {0, 2}), ints({1, 1})}, {random.tensor(dtype, {}), ints({})}};
});

const SampleSet kReflection1("reflection_pad1d", padded({2, 3, 4}, {{1, 2}, {3, 0}, {-1, 2}, {0, 0}}));
const SampleSet kReflection2("reflection_pad2d", padded({2, 3, 4}, {{1, 2, 2, 0}, {-1, 1, 1, -1}}));
const SampleSet kReflection3("reflection_pad3d", padded({2, 2, 3, 2, 3}, {{1, 2, 1, 0, 2, 1}, {-1, 1, 0, 0, 1, -1}}));
const SampleSet kReplication1("replication_pad1d", padded({2, 3, 4}, {{1, 2}, {5, 0}, {-1, 2}}));
const SampleSet kReplication2("replication_pad2d", padded({2, 3, 4}, {{1, 2, 5, 0}, {-1, 1, 1, -1}}));
const SampleSet kReplication3("replication_pad3d", padded({2, 2, 3, 2, 3}, {{1, 4, 1, 0, 2, 1}, {-1, 1, 0, 0, 1, -1}}));
const SampleSet kCircular("_pad_circular", padded({2, 2, 3, 4}, {{1, 2, 3, 0}, {0, 0, 0, 0}}));

SampleSet::Make padded_backward(std::vector<int64_t> sizes, std::vector<int64_t> width) {
  return [sizes = std::move(sizes), width = std::move(width)](ScalarType dtype, Random& random) -> Arguments {
    std::vector<int64_t> large = sizes;
    for (size_t i = 0; i < width.size(); ++i) {
      large[large.size() - 1 - i / 2] += width[i];
    }
    return {{random.tensor(dtype, large), random.tensor(dtype, sizes), ints(width)}};
  };
}

const SampleSet kReflectionBack1("reflection_pad1d_backward", padded_backward({2, 3, 4}, {1, 2}));
const SampleSet kReflectionBack2("reflection_pad2d_backward", padded_backward({2, 3, 4}, {1, 2, 2, -1}));
const SampleSet kReflectionBack3("reflection_pad3d_backward", padded_backward({1, 2, 2, 3}, {1, 2, 1, 0, 0, 1}));
const SampleSet kReplicationBack1("replication_pad1d_backward", padded_backward({2, 3, 4}, {1, 5}));
const SampleSet kReplicationBack2("replication_pad2d_backward", padded_backward({2, 3, 4}, {1, 5, 2, -1}));
const SampleSet kReplicationBack3("replication_pad3d_backward", padded_backward({1, 2, 2, 3}, {1, 2, 1, 0, 0, 1}));

const SampleSet kSelectScatter("select_scatter", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {2, 3, 4});
  return {{x, random.tensor(dtype, {2, 4}), 1, -1}, {x, random.tensor(dtype, {3, 4}), 0, 1}};
});

const SampleSet kSliceScatter("slice_scatter", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {2, 3, 4});
  return {
      {x, random.tensor(dtype, {2, 3, 2}), 2, 1, 4, 2},
      {x, random.tensor(dtype, {1, 3, 4}), 0, -1},
      {x, random.tensor(dtype, {2, 0, 4}), 1, 3}};
});

const SampleSet kDiagonalScatter("diagonal_scatter", [](ScalarType dtype, Random& random) -> Arguments {
  return {
      {random.tensor(dtype, {3, 4}), random.tensor(dtype, {3}), 1},
      {random.tensor(dtype, {2, 3, 4}), random.tensor(dtype, {3, 2}), 0, 0, 2}};
});

const SampleSet kStridedScatter(
    "as_strided_scatter",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {3, 4}), random.tensor(dtype, {2, 3}), ints({2, 3}), ints({1, 4}), 1}};
    },
    kStrided);

const SampleSet kIndexReduce("index_reduce", [](ScalarType dtype, Random& random) -> Arguments {
  // No two alike in both together: amax and amin have a kink where two are.
  const at::Tensor all = random.distinct(dtype, {9, 3});
  const at::Tensor x = all.narrow(0, 0, 4).clone();
  const at::Tensor index = random.indices({5}, 4);
  const at::Tensor source = all.narrow(0, 4, 5).clone();
  return {
      {x, 0, index, source, std::string("prod")},
      {x, 0, index, source, std::string("mean"), false},
      {x, 0, index, source, std::string("amax")},
      {x, 0, index, source, std::string("amin"), false},
      {x, 1, random.indices({2}, 3), random.distinct(dtype, {4, 2}), std::string("mean")}};
});

Arguments images(ScalarType dtype, Random& random) {
  return {{random.tensor(dtype, {2, 8, 2, 4}), 2}, {random.tensor(dtype, {4, 2, 2}), 1}};
}

const SampleSet kPixelShuffle("pixel_shuffle", images);
const SampleSet kPixelUnshuffle("pixel_unshuffle", images);
const SampleSet kChannelShuffle("channel_shuffle", images);
const SampleSet kNativeChannelShuffle("native_channel_shuffle", images);

const SampleSet kCombinations("combinations", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor x = random.tensor(dtype, {4});
  return {{x}, {x, 3}, {x, 2, true}, {x, 1}, {x, 5}};
});

const SampleSet kPadSequence("pad_sequence", [](ScalarType dtype, Random& random) -> Arguments {
  const at::Tensor a = random.tensor(dtype, {3, 2});
  const at::Tensor b = random.tensor(dtype, {1, 2});
  return {{tensors({a, b})}, {tensors({a, b}), true, 0.5}, {tensors({b, a}), false, 0.0, std::string("left")}};
});

Arguments bags(ScalarType dtype, Random& random) {
  const at::Tensor table = random.distinct(dtype, {5, 3});
  const at::Tensor indices = random.indices({6}, 5);
  const at::Tensor offsets = tensor_of(ScalarType::Long, {3}, [](int64_t i) { return i == 0 ? 0.0 : 4.0; });
  return {
      {table, indices, offsets, false, 0, false, random.tensor(dtype, {6})},
      {table, indices, offsets, false, 1},
      {table, indices, offsets, false, 2},
      {table, indices, offsets, false, 0, false, none(), false, 2}};
}

const SampleSet kBags("_embedding_bag", bags, kOnce);
const SampleSet kBagsForward("_embedding_bag_forward_only", bags, kOnce);

} // namespace

} // namespace test
