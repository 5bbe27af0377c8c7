// Sizes and strides as kernels take them: joining dimensions must not move an element.
#include <csrc/compat/aten/cuda/detail/TensorInfo.cuh>

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <vector>

using at::cuda::detail::IndexToOffset;
using at::cuda::detail::TensorInfo;

namespace {

using Info = TensorInfo<float, uint32_t>;

Info make_info(std::vector<uint32_t> sizes, std::vector<uint32_t> strides) {
  sizes.resize(MAX_TENSORINFO_DIMS);
  strides.resize(MAX_TENSORINFO_DIMS);
  int dims = 0;
  while (dims < MAX_TENSORINFO_DIMS && sizes[static_cast<size_t>(dims)] != 0) {
    ++dims;
  }
  return Info(nullptr, dims, sizes.data(), strides.data());
}

uint32_t numel(const Info& info) {
  uint32_t n = 1;
  for (int i = 0; i < info.dims; ++i) {
    n *= info.sizes[i];
  }
  return n;
}

} // namespace

TEST_CASE("dimensions that follow each other in memory are joined", "[cuda][tensor_info]") {
  Info contiguous = make_info({2, 3, 4}, {12, 4, 1});
  CHECK(contiguous.collapseDims() == -1);
  CHECK(contiguous.dims == 1);
  CHECK(contiguous.sizes[0] == 24);
  CHECK(contiguous.isContiguous());

  Info kept = make_info({2, 3, 4}, {12, 4, 1});
  CHECK(kept.collapseDims(1) == 1);
  CHECK(kept.dims == 3);

  Info gap = make_info({2, 1, 3, 4}, {16, 7, 4, 1});
  CHECK(gap.collapseDims() == -1);
  CHECK(gap.dims == 2);
  CHECK(gap.sizes[1] == 12);

  Info ones = make_info({1, 1}, {5, 3});
  ones.collapseDims();
  CHECK(ones.dims == 1);
  CHECK(ones.sizes[0] == 1);
  CHECK_THROWS_AS(ones.collapseDims(1), c10::Error);
  CHECK_THROWS_AS(ones.reduceDim(3), c10::Error);
}

TEST_CASE("joining dimensions moves no element", "[cuda][tensor_info]") {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<uint32_t> sizes(1 + random() % 5);
    std::vector<uint32_t> strides(sizes.size());
    uint32_t stride = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      sizes[i] = 1 + random() % 4;
      strides[i] = random() % 4 == 0 ? 0 : stride;
      stride *= sizes[i] + (random() % 3 == 0 ? 1 : 0);
    }
    const Info before = make_info(sizes, strides);
    Info after = before;
    after.collapseDims();
    REQUIRE(numel(after) == numel(before));
    for (uint32_t i = 0; i < numel(before); ++i) {
      const uint32_t there = IndexToOffset<float, uint32_t, -1>::get(i, before);
      REQUIRE(IndexToOffset<float, uint32_t, -1>::get(i, after) == there);
      if (before.dims == 2) {
        REQUIRE(IndexToOffset<float, uint32_t, 2>::get(i, before) == there);
      }
      if (after.isContiguous()) {
        REQUIRE(IndexToOffset<float, uint32_t, -2>::get(i, after) == there);
      }
    }
  }
}
