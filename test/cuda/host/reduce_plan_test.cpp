// How reductions are walked and cut into blocks, carried out on the host.
#include <aten/native/cuda/reduce_plan.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using at::native::cuda::launch_of;
using at::native::cuda::plan_reduction;
using at::native::cuda::read_vectors;
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
  const auto plans = plan_reduction(self, mask, out, in_order);
  REQUIRE(plans.size() == 1);
  const ReducePlan& plan = plans[0];
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
  const ReducePlan plan = plan_reduction(t, std::bitset<64>().set(), out, /*in_order=*/true)[0];
  const at::Tensor flat = t.contiguous().view({-1});
  for (std::uint32_t i = 0; i < plan.length; ++i) {
    CHECK(t.const_data_ptr<double>()[plan.reduced.get(i).of[0]] == flat[i].item<double>());
  }
}

TEST_CASE("few outputs of many elements are shared by blocks, many outputs are not", "[cuda]") {
  const auto launch = [](at::IntArrayRef sizes, int64_t dim) {
    const at::Tensor t = torch::empty(sizes);
    return launch_of(plan_reduction(t, std::bitset<64>().set(dim), t.select(dim, 0), false)[0], 132);
  };
  CHECK(launch({1, 1 << 20}, 1).splits > 100);
  CHECK(launch({1 << 16, 64}, 1).splits == 1);
  CHECK(launch({1 << 14, 16}, 0).splits > 10);
  CHECK(launch({8, 8}, 1).splits == 1);
}

TEST_CASE("reductions that 32-bit offsets do not reach are cut into launches that together cover them", "[cuda]") {
  const int64_t G = int64_t{1} << 30;
  struct Case {
    std::vector<int64_t> sizes, strides;
    std::bitset<64> reduced;
    std::vector<int64_t> out_strides;
    bool in_order;
  };
  const std::vector<Case> cases = {
      {{5 * G + 3}, {1}, 0b1, {0}, true}, // all of it
      {{5 * G}, {0}, 0b1, {0}, false}, // one element again and again
      {{3, 2 * G + 7}, {2 * G + 7, 1}, 0b10, {1, 0}, true}, // rows of so many elements
      {{2 * G + 7, 3}, {3, 1}, 0b10, {1, 0}, true}, // so many rows
      {{2 * G + 7, 3}, {3, 1}, 0b01, {0, 1}, false}, // columns
      {{7, 2 * G, 3}, {6 * G, 3, 1}, 0b101, {0, 1, 0}, false},
  };
  for (const Case& c : cases) {
    const auto plans = plan_reduction(c.sizes, c.strides, c.reduced, c.out_strides, c.in_order);
    CHECK(plans.size() > 1);
    CHECK(plans.size() < 40);
    int64_t covered = 0, all = 1, index = 0;
    std::vector<int64_t> begun; // outputs whose plans have been met
    for (const int64_t size : c.sizes) {
      all *= size;
    }
    for (const ReducePlan& plan : plans) {
      covered += int64_t{plan.outputs} * plan.length;
      CHECK(plan.outputs <= INT32_MAX);
      CHECK(plan.length <= INT32_MAX);
      if (begun.empty() || begun.back() != plan.out_first) {
        CHECK(std::find(begun.begin(), begun.end(), plan.out_first) == begun.end());
        begun.push_back(plan.out_first);
        index = 0;
      }
      CHECK(plan.index_first == index);
      index += plan.length;
      // The first and the last element of the plan, by their places.
      const auto last_kept = plan.kept.get(plan.outputs - 1);
      const int64_t last = plan.in_first + last_kept.of[0] + plan.reduced.get(plan.length - 1).of[0];
      int64_t reach = 0;
      for (size_t d = 0; d < c.sizes.size(); ++d) {
        reach += (c.sizes[d] - 1) * c.strides[d];
      }
      CHECK(last <= reach);
      if (&plan == &plans.back()) {
        CHECK(last == reach);
      }
    }
    CHECK(covered == all);
  }
}

TEST_CASE("runs that lie aligned are read 16 bytes at a time", "[cuda]") {
  alignas(16) static char memory[32];
  const auto plan_of = [](const at::Tensor& t, const std::vector<int64_t>& dims, const char* at, std::size_t itemsize) {
    std::bitset<64> mask;
    for (const int64_t dim : dims) {
      mask.set(dim);
    }
    ReducePlan plan = plan_reduction(t, mask, t.sum(dims), /*in_order=*/true)[0];
    read_vectors(plan, at, itemsize);
    return plan;
  };
  const auto width = [&](const at::Tensor& t, int64_t dim, const char* at, std::size_t itemsize) {
    return plan_of(t, {dim}, at, itemsize).width;
  };
  const at::Tensor t = torch::zeros({6, 24});
  CHECK(width(t, 1, memory, 2) == 8);
  CHECK(width(t, 1, memory, 4) == 4);
  CHECK(width(t, 1, memory + 4, 4) == 1);
  CHECK(width(t, 0, memory, 4) == 4); // of four columns
  CHECK(width(t, 0, memory + 8, 4) == 1);
  CHECK(width(t, 0, memory, 2) == 4);
  CHECK(width(t, 0, memory + 8, 2) == 4);
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
  // Of all but the channels: rows of several pieces.
  const at::Tensor images = torch::zeros({5, 3, 4, 6});
  const ReducePlan channels = plan_of(images, {0, 2, 3}, memory, 4);
  CHECK(channels.width == 4);
  CHECK(channels.length == 120);
  CHECK(channels.reduced.get(5).of[0] == 20);
  CHECK(channels.reduced.get(6).of[0] == 72);
  CHECK(plan_of(images, {0, 2, 3}, memory, 2).width == 8);
  CHECK(plan_of(torch::zeros({5, 3, 6}), {0, 2}, memory, 4).width == 1);
}
