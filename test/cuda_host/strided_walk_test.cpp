// Launches that a walk by strides of either sign is cut into, carried out on the host as kernels would.
#include <aten/native/cuda/strided_walk.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>

using at::native::cuda::each_launch;
using at::native::cuda::StridedLaunch;
using at::native::cuda::StridedWalk;

namespace {

/// A copy of `from` with the dimensions of `turned` (a mask) backwards; the number of launches in `launches`.
at::Tensor turned_copy(const at::Tensor& from, unsigned turned, std::int64_t limit, int& launches) {
  at::Tensor to = at::full(from.sizes(), -1, from.options());
  StridedWalk<2> walk;
  walk.sizes.assign(from.sizes().begin(), from.sizes().end());
  walk.data = {reinterpret_cast<char*>(to.data_ptr<int>()), reinterpret_cast<char*>(from.data_ptr<int>())};
  for (std::int64_t d = 0; d < from.dim(); ++d) {
    walk.strides[0].push_back(to.stride(d) * 4);
    const std::int64_t step = from.stride(d) * 4;
    const bool back = ((turned >> d) & 1u) != 0;
    walk.data[1] += back ? (from.size(d) - 1) * step : 0;
    walk.strides[1].push_back(back ? -step : step);
  }
  launches = 0;
  each_launch(
      walk,
      [&](const StridedLaunch<2>& part) {
        ++launches;
        CHECK(part.positions <= limit);
        for (std::uint32_t k = 0; k < part.positions; ++k) {
          const auto place = part.places.get(k);
          const std::uint32_t target = part.start[0] + place.of[0], source = part.start[1] + place.of[1];
          std::memcpy(part.data[0] + target, part.data[1] + source, 4);
        }
      },
      limit);
  return to;
}

at::Tensor flipped(const at::Tensor& x, unsigned turned) {
  std::vector<std::int64_t> dims;
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    if (((turned >> d) & 1u) != 0) dims.push_back(d);
  }
  return x.flip(dims);
}

} // namespace

TEST_CASE("walks backwards reach every element, in one launch or in many", "[cuda]") {
  const at::Tensor whole = at::arange(2 * 3 * 4 * 5, at::kInt).view({2, 3, 4, 5});
  for (const at::Tensor& x : {whole, whole.permute({3, 1, 0, 2}), whole.slice(3, 0, 5, 2), whole.select(0, 1)}) {
    for (unsigned turned = 0; turned < 16; ++turned) {
      int launches = 0;
      CHECK(turned_copy(x, turned, INT32_MAX, launches).equal(flipped(x, turned)));
      CHECK(launches == 1);
      CHECK(turned_copy(x, turned, 40, launches).equal(flipped(x, turned)));
      CHECK(launches > 1);
    }
  }
}

TEST_CASE("a walk over more dimensions than a launch takes is cut", "[cuda]") {
  const std::vector<std::int64_t> sizes(14, 2);
  const at::Tensor x = at::arange(std::int64_t{1} << 14, at::kInt).view(sizes);
  int launches = 0;
  const unsigned turned = 0b10101010101010;
  CHECK(turned_copy(x, turned, INT32_MAX, launches).equal(flipped(x, turned)));
  CHECK(launches > 1);
}
