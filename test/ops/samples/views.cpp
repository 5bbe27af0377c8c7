// Views and what is made of them.

#include "test/ops/samples.h"

namespace test {

namespace {

using Arguments = SampleSet::Arguments;
using c10::ScalarType;

const SampleTraits kView{.out_of_place = false};
// view and as_strided look at strides, so other strides give errors or other elements.
const SampleTraits kStridedView{.layouts = false, .out_of_place = false};
// detach cuts the graph on purpose.
const SampleTraits kCut{.gradient = false, .out_of_place = false};

/// The tensor [2, 3, 4] with each of these tails of arguments.
SampleSet::Make on_cube(std::vector<Stack> tails) {
  return [tails = std::move(tails)](ScalarType dtype, Random& random) {
    const at::Tensor x = random.tensor(dtype, {2, 3, 4});
    Arguments arguments;
    for (const Stack& tail : tails) {
      arguments.push_back({x});
      arguments.back().insert(arguments.back().end(), tail.begin(), tail.end());
    }
    return arguments;
  };
}

const SampleSet kViewOp(
    "view", on_cube({{ints({6, 4})}, {ints({-1})}, {ints({2, 3, 2, 2})}, {ints({2, -1})}}), kStridedView);
const SampleSet kReshape("reshape", on_cube({{ints({6, 4})}, {ints({-1})}, {ints({4, 3, 2})}}), kView);
const SampleSet kAsStrided(
    "as_strided", on_cube({{ints({2, 2}), ints({1, 3})}, {ints({3, 2}), ints({1, 2}), 2}}), kStridedView);
const SampleSet kTranspose("transpose.int", on_cube({{0, 1}, {-1, 0}, {1, 1}}), kView);
const SampleSet kPermute("permute", on_cube({{ints({2, 0, 1})}, {ints({-1, 1, 0})}}), kView);
const SampleSet kMovedim("movedim.intlist", on_cube({{ints({0, 1}), ints({2, 0})}}), kView);
const SampleSet kMovedimInt("movedim.int", on_cube({{0, -1}}), kView);
const SampleSet kUnsqueeze("unsqueeze", on_cube({{0}, {3}, {-2}}), kView);
const SampleSet kSelect("select.int", on_cube({{0, 1}, {1, -1}, {-1, 0}}), kView);
const SampleSet kSlice("slice.Tensor", on_cube({{0, 1}, {1, 0, 2}, {2, 1, 4, 2}, {-1, -3, -1}, {1, 2, 1}}), kView);
const SampleSet kNarrow("narrow", on_cube({{2, 1, 2}, {0, 0, 0}}), kView);
const SampleSet kSplit("split.Tensor", on_cube({{2, 1}, {3, 2}}), kView);
const SampleSet kSplitSizes("split_with_sizes", on_cube({{ints({1, 3}), 2}}), kView);
const SampleSet kChunk("chunk", on_cube({{2, 2}, {3, 1}}), kView);
const SampleSet kUnbind("unbind.int", on_cube({{}, {1}}), kView);
const SampleSet kFlatten("flatten.using_ints", on_cube({{}, {1, 2}}), kView);
const SampleSet kUnflatten("unflatten.int", on_cube({{2, ints({2, 2})}, {2, ints({-1, 2})}}), kView);
const SampleSet kDiagonal("diagonal", on_cube({{}, {1, 1, 2}, {-1, 0, 2}}), kView);
const SampleSet kAlias("alias", on_cube({{}}), kView);
const SampleSet kDetach("detach", on_cube({{}}), kCut);
const SampleSet kContiguous("contiguous", on_cube({{}}), kView);
const SampleSet kClone("clone", on_cube({{}}));

const SampleSet kT(
    "t",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {2, 3})}, {random.tensor(dtype, {3})}, {random.tensor(dtype, {})}};
    },
    kView);

const SampleSet kExpand(
    "expand",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {
          {random.tensor(dtype, {3, 1}), ints({2, 3, 4})},
          {random.tensor(dtype, {1}), ints({-1})},
          {random.tensor(dtype, {}), ints({2})}};
    },
    kView);

const SampleSet kExpandAs(
    "expand_as",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {3, 1}), random.tensor(dtype, {2, 3, 4})}};
    },
    kView);

const SampleSet kViewAs(
    "view_as",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {2, 6}), random.tensor(dtype, {3, 4})}};
    },
    kStridedView);

Arguments with_ones(ScalarType dtype, Random& random) {
  return {{random.tensor(dtype, {1, 3, 1})}, {random.tensor(dtype, {})}};
}

const SampleSet kSqueeze("squeeze", with_ones, kView);
const SampleSet kSqueezeDim(
    "squeeze.dim",
    [](ScalarType dtype, Random& random) -> Arguments {
      const at::Tensor x = random.tensor(dtype, {1, 3, 1});
      return {{x, 0}, {x, -1}, {x, 1}};
    },
    kView);
const SampleSet kSqueezeDims(
    "squeeze.dims",
    [](ScalarType dtype, Random& random) -> Arguments {
      return {{random.tensor(dtype, {1, 3, 1}), ints({0, 2})}};
    },
    kView);

// The same as fresh copies.
const SampleTraits kStridedCopy{.layouts = false};
const SampleSet kAsStridedCopy(
    "as_strided_copy", on_cube({{ints({2, 2}), ints({1, 3})}, {ints({3, 2}), ints({1, 2}), 2}}), kStridedCopy);
const SampleSet kDiagonalCopy("diagonal_copy", on_cube({{}, {1, 1, 2}}));
const SampleSet kExpandCopy("expand_copy", on_cube({{ints({2, 2, 3, 4})}}));
const SampleSet kNarrowCopy("narrow_copy", on_cube({{2, 1, 2}, {0, 0, 0}}));
const SampleSet kPermuteCopy("permute_copy", on_cube({{ints({2, 0, 1})}}));
const SampleSet kSelectCopy("select_copy.int", on_cube({{1, -1}}));
const SampleSet kSliceCopy("slice_copy.Tensor", on_cube({{2, 1, 4, 2}}));
const SampleSet kSqueezeCopy("squeeze_copy", with_ones);
const SampleSet kTransposeCopy("transpose_copy.int", on_cube({{0, -1}}));
const SampleSet kUnfoldCopy("unfold_copy", on_cube({{2, 2, 1}}));
const SampleSet kUnsqueezeCopy("unsqueeze_copy", on_cube({{1}}));
const SampleSet kViewCopy("view_copy", on_cube({{ints({6, 4})}, {ints({-1})}}));
const SampleSet kSplitCopy("split_copy.Tensor", on_cube({{2, 2}}));
const SampleSet kSplitSizesCopy("split_with_sizes_copy", on_cube({{ints({1, 3}), 2}}));
const SampleSet kUnbindCopy("unbind_copy.int", on_cube({{1}}));

} // namespace

} // namespace test
