// Launches that a walk by strides is cut into, carried out on the host as kernels would.
#include <aten/native/cuda/strided_walk.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

using at::native::cuda::each_launch;
using at::native::cuda::StridedLaunch;
using at::native::cuda::StridedWalk;

namespace {

/// A copy of `from`; the number of launches in `launches`.
at::Tensor copied(const at::Tensor& from, std::int64_t limit, int& launches) {
  at::Tensor to = at::full(from.sizes(), -1, from.options());
  StridedWalk<2> walk;
  walk.sizes.assign(from.sizes().begin(), from.sizes().end());
  walk.data = {reinterpret_cast<char*>(to.data_ptr<int>()), reinterpret_cast<char*>(from.data_ptr<int>())};
  for (std::int64_t d = 0; d < from.dim(); ++d) {
    walk.strides[0].push_back(to.stride(d) * 4);
    walk.strides[1].push_back(from.stride(d) * 4);
  }
  launches = 0;
  each_launch(
      walk,
      [&](const StridedLaunch<2>& part) {
        ++launches;
        CHECK(part.positions <= limit);
        for (std::uint32_t k = 0; k < part.positions; ++k) {
          const auto place = part.places.get(k);
          std::memcpy(part.data[0] + place.of[0], part.data[1] + place.of[1], 4);
        }
      },
      limit);
  return to;
}

} // namespace

TEST_CASE("a walk reaches every element, in one launch or in many", "[cuda]") {
  const at::Tensor whole = at::arange(2 * 3 * 4 * 5, at::kInt).view({2, 3, 4, 5});
  for (const at::Tensor& x :
       {whole, whole.permute({3, 1, 0, 2}), whole.slice(3, 0, 5, 2), whole.select(0, 1),
        whole.select(3, 0).unsqueeze(3).expand({2, 3, 4, 5})}) {
    int launches = 0;
    CHECK(copied(x, INT32_MAX, launches).equal(x));
    CHECK(launches == 1);
    CHECK(copied(x, 40, launches).equal(x));
    CHECK(launches > 1);
  }
}

TEST_CASE("a walk over more dimensions than a launch takes is cut", "[cuda]") {
  // Every other place, so that no two dimensions can be walked as one.
  const std::vector<std::int64_t> twos(14, 2);
  std::vector<std::int64_t> order(14);
  for (std::size_t d = 0; d < order.size(); ++d) {
    order[d] = static_cast<std::int64_t>((d * 5) % 14);
  }
  const at::Tensor x = at::arange(std::int64_t{1} << 14, at::kInt).view(twos).permute(order);
  int launches = 0;
  CHECK(copied(x, INT32_MAX, launches).equal(x));
  CHECK(launches > 1);
}
