// How reductions are walked and cut into blocks, carried out on the host.
#include <aten/native/cuda/reduce_plan.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <vector>

using at::native::cuda::launch_of;
using at::native::cuda::plan_reduction;
using at::native::cuda::ReduceLaunch;
using at::native::cuda::ReducePlan;

namespace {

/// The sum over some dimensions by the plan, each element visited as the kernel's threads and blocks would.
at::Tensor sum(const at::Tensor& self, const std::vector<int64_t>& dims, bool in_order) {
  std::bitset<64> mask;
  for (const int64_t d : dims) {
    mask.set(d);
  }
  at::Tensor out = torch::zeros_like(self.sum(dims));
  const ReducePlan plan = plan_reduction(self, mask, out, in_order);
  const ReduceLaunch launch = launch_of(plan, /*multiprocessors=*/4);
  const std::uint32_t lanes = plan.along_rows ? launch.x : launch.y;
  const std::uint32_t per_block = plan.along_rows ? launch.y : launch.x;
  CHECK(launch.x * launch.y <= 256);
  CHECK(std::uint64_t{launch.blocks} * per_block >= plan.outputs);
  const auto* in = self.const_data_ptr<double>();
  auto* to = out.mutable_data_ptr<double>();
  for (std::uint32_t output = 0; output < plan.outputs; ++output) {
    const auto place = plan.kept.get(output);
    for (std::uint32_t lane = 0; lane < lanes * launch.splits; ++lane) {
      for (std::uint32_t i = lane; i < plan.length; i += lanes * launch.splits) {
        to[place.of[1]] += in[place.of[0] + plan.reduced.get(i).of[0]];
      }
    }
  }
  return out;
}

} // namespace

TEST_CASE("reduction plans visit every element once", "[cuda]") {
  const at::Tensor a = torch::randn({6, 7, 8, 9}, torch::kDouble);
  for (const at::Tensor& t : {a, a.permute({3, 1, 0, 2}), a.slice(1, 0, 7, 3), a.transpose(0, 3).slice(0, 1)}) {
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{0}, {3}, {1, 2}, {0, 3}, {0, 1, 2}, {1, 2, 3}, {0, 1, 2, 3}}) {
      for (const bool in_order : {false, true}) {
        CHECK(torch::allclose(sum(t, dims, in_order), t.sum(dims)));
      }
    }
  }
}

TEST_CASE("in order, reduced elements are numbered as the tensor's own order has them", "[cuda]") {
  const at::Tensor t = torch::arange(24, torch::kDouble).view({2, 3, 4}).permute({2, 0, 1});
  const at::Tensor out = torch::empty({}, torch::kDouble);
  const ReducePlan plan = plan_reduction(t, std::bitset<64>().set(), out, /*in_order=*/true);
  const at::Tensor flat = t.contiguous().view({-1});
  for (std::uint32_t i = 0; i < plan.length; ++i) {
    CHECK(t.const_data_ptr<double>()[plan.reduced.get(i).of[0]] == flat[i].item<double>());
  }
}

TEST_CASE("few outputs of many elements are shared by blocks, many outputs are not", "[cuda]") {
  const auto launch = [](at::IntArrayRef sizes, int64_t dim) {
    const at::Tensor t = torch::empty(sizes);
    return launch_of(plan_reduction(t, std::bitset<64>().set(dim), t.select(dim, 0), false), 132);
  };
  CHECK(launch({1, 1 << 20}, 1).splits > 100);
  CHECK(launch({1 << 16, 64}, 1).splits == 1);
  CHECK(launch({1 << 14, 16}, 0).splits > 10);
  CHECK(launch({8, 8}, 1).splits == 1);
}

TEST_CASE("reductions that 32-bit offsets do not reach say so", "[cuda]") {
  const at::Tensor t = torch::ones({1}).expand({int64_t{1} << 32});
  CHECK_THROWS_WITH(
      plan_reduction(t, std::bitset<64>().set(), torch::empty({}), false), Catch::Contains("2^31 - 1 elements"));
}

TEST_CASE("runs that lie aligned are read 16 bytes at a time", "[cuda]") {
  using at::native::cuda::reading_width;
  alignas(16) static char memory[32];
  const auto width = [](const at::Tensor& t, int64_t dim, const char* at, std::size_t itemsize) {
    std::bitset<64> mask;
    mask.set(dim);
    return reading_width(plan_reduction(t, mask, t.sum(dim), /*in_order=*/true), at, itemsize);
  };
  const at::Tensor t = torch::zeros({6, 24});
  CHECK(width(t, 1, memory, 2) == 8);
  CHECK(width(t, 1, memory, 4) == 4);
  CHECK(width(t, 1, memory + 4, 4) == 1);
  CHECK(width(t, 0, memory, 4) == 1);
  CHECK(width(t, 0, memory, 2) == 4); // of four columns
  CHECK(width(t, 0, memory + 2, 2) == 1);
  CHECK(width(torch::zeros({3, 6, 24}), 1, memory, 2) == 4);
  CHECK(width(torch::zeros({6, 26}), 0, memory, 2) == 1);
  CHECK(width(torch::zeros({6, 28}).slice(1, 0, 24), 0, memory, 2) == 4);
  CHECK(width(torch::zeros({6, 26}).slice(1, 0, 24), 0, memory, 2) == 1);
  CHECK(width(t.slice(1, 0, 9), 1, memory, 2) == 8); // rows begin aligned, the last elements come one by one
  CHECK(width(t.slice(1, 0, 7), 1, memory, 2) == 1);
  CHECK(width(torch::zeros({6, 20}), 1, memory, 2) == 1); // rows that begin at multiples of 40 bytes
  CHECK(width(torch::zeros({6, 20}), 1, memory, 4) == 4);
  CHECK(width(t.slice(1, 0, 24, 2), 1, memory, 4) == 1);
}
