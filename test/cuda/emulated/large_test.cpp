// What tensors of more than 2^31 elements go through, with small ones: launches are asked to take less than they could.
#include "test/cuda/emulated/compare.h"

#include <aten/core/Context.h>
#include <aten/native/cuda/grid_sampler.h>
#include <aten/native/cuda/im2col.h>
#include <aten/native/cuda/index_walk.h>
#include <aten/native/cuda/pad.h>
#include <aten/native/cuda/pool.h>
#include <aten/native/cuda/scan.h>
#include <aten/native/cuda/sort_rows.h>
#include <aten/native/cuda/upsample.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <tuple>
#include <vector>

namespace at::native {

namespace cuda {

void sort_stable_kernel(const TensorBase&, std::optional<bool>, int64_t, bool, const TensorBase&, const TensorBase&);
void topk_kernel(const TensorBase&, int64_t, int64_t, bool, bool, const TensorBase&, const TensorBase&);
void embedding_bag_kernel(
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    bool,
    int64_t,
    bool,
    const std::optional<Tensor>&,
    bool,
    int64_t,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&);
void nll_loss_forward_kernel(
    const TensorBase&,
    const TensorBase&,
    const std::optional<Tensor>&,
    int64_t,
    int64_t,
    const TensorBase&,
    const TensorBase&);
void cumsum_kernel(const TensorBase&, int64_t, std::optional<ScalarType>, const TensorBase&);

} // namespace cuda

Tensor nonzero_cuda(const Tensor&);
Tensor& randperm_out_cuda(int64_t, std::optional<Generator>, Tensor&);

} // namespace at::native

namespace {

namespace cuda = at::native::cuda;
using at::Tensor;
using cuda::DimVector;
using cuda::LaunchReach;
using cuda::Walk;
using emulated::filled;
using emulated::near;

DimVector strides_of(const Tensor& t) {
  return DimVector(t.strides().begin(), t.strides().end());
}

/// The walk of index_select and the like: `plain` has whole slices of `indexed`, as `index` tells along `dim`.
Walk slices(const Tensor& indexed, int64_t dim, const Tensor& index, const Tensor& plain) {
  DimVector along(plain.dim(), 0), without = strides_of(indexed);
  along[dim] = index.stride(0);
  without[dim] = 0;
  return {
      "slices",
      DimVector(plain.sizes().begin(), plain.sizes().end()),
      strides_of(plain),
      without,
      along,
      indexed.size(dim),
      indexed.stride(dim),
      /*wrap=*/false,
      INT64_MIN,
      dim};
}

/// The walk of gather and scatter.
Walk elements(const Tensor& indexed, int64_t dim, const Tensor& index, const Tensor& plain) {
  DimVector without = strides_of(indexed);
  without[dim] = 0;
  return {"elements",          DimVector(index.sizes().begin(), index.sizes().end()),
          strides_of(plain),   without,
          strides_of(index),   indexed.size(dim),
          indexed.stride(dim), /*wrap=*/false,
          INT64_MIN,           dim};
}

const std::vector<LaunchReach> kReaches = {{}, {100, 1000}, {7, 1000}, {1000, 40}, {1, 1000}, {1000, 0}};

class Deterministic {
 public:
  Deterministic() {
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  }
  ~Deterministic() {
    at::globalContext().setDeterministicAlgorithms(false, false);
  }
};

} // namespace

TEST_CASE("gather and scatter in several launches", "[cuda][large]") {
  torch::manual_seed(1);
  const Tensor a = at::randn({5, 4, 6}), index = at::randint(0, 4, {9}, at::kLong),
               wide = at::randint(0, 4, {5, 7, 6}, at::kLong);
  const Tensor order = torch::tensor({2, 0, 3}, at::kLong), src = at::randn({5, 9, 6}), three = at::randn({5, 3, 6}),
               seven = at::randn({5, 7, 6});
  const Tensor turned = a.permute({2, 1, 0}).contiguous().permute({2, 1, 0});
  for (const LaunchReach& reach : kReaches) {
    INFO(reach.elements << " elements, " << reach.offset << " apart");
    for (const Tensor& self : {a, turned, a.to(at::kHalf), a.to(at::kComplexDouble), a > 0}) {
      const Tensor want = self.index_select(1, index), each = self.gather(1, wide);
      CHECK(at::equal(
          filled(
              want, [&](const Tensor& out) { cuda::gather_to(slices(self, 1, index, out), index, out, self, reach); }),
          want));
      CHECK(at::equal(
          filled(
              each, [&](const Tensor& out) { cuda::gather_to(elements(self, 1, wide, out), wide, out, self, reach); }),
          each));
      const Tensor from = three.to(self.scalar_type());
      Tensor copied = self.clone();
      cuda::scatter_to(slices(copied, 1, order, from), order, copied, from, reach);
      CHECK(at::equal(copied, self.index_copy(1, order, from)));
    }
    for (const auto dtype : {at::kDouble, at::kLong}) {
      for (const auto joined : {cuda::Order::OfThreads, cuda::Order::OfElements}) {
        const Tensor self = (a * 9).round().to(dtype), from = (src * 9).round().to(dtype),
                     more = (seven * 9).round().to(dtype);
        Tensor sums = self.clone(), each = self.clone();
        cuda::scatter_op_to(slices(sums, 1, index, from), index, cuda::ScatterOp::Add, sums, from, joined, reach);
        CHECK(at::equal(sums, self.index_add(1, index, from)));
        cuda::scatter_op_to(elements(each, 1, wide, more), wide, cuda::ScatterOp::Add, each, more, joined, reach);
        CHECK(at::equal(each, self.scatter_add(1, wide, more)));
      }
    }
    const Deterministic on;
    Tensor last = a.clone(), each = a.clone();
    cuda::scatter_to(slices(last, 1, index, src), index, last, src, reach);
    cuda::scatter_to(elements(each, 1, wide, seven), wide, each, seven, reach);
    Tensor want = a.clone(), each_want = a.clone();
    for (int64_t i = 0; i < 9; ++i) {
      want.select(1, index[i].item<int64_t>()).copy_(src.select(1, i));
    }
    for (int64_t i = 0; i < 7; ++i) {
      each_want.scatter_(1, wide.narrow(1, i, 1), seven.narrow(1, i, 1));
    }
    CHECK(at::equal(last, want));
    CHECK(at::equal(each, each_want));
  }
}

TEST_CASE("indices of several dimensions are folded in several launches, and bad ones are placed", "[cuda][large]") {
  const Tensor index = torch::tensor({{0, -1, 2}, {1, 5, 3}}, at::kLong).t();
  for (const LaunchReach& reach : kReaches) {
    const Tensor offsets = at::ones({3, 2}, at::kLong);
    cuda::add_index_offsets(index, 10, {cuda::index_error_slot(), "index", "indices", 6, 0}, offsets, reach);
    CHECK(at::equal(offsets, torch::tensor({{1, 11}, {51, 51}, {21, 31}}, at::kLong)));
    const Tensor rows = at::arange(8, at::kFloat).view({4, 2}), bad = torch::tensor({1, 3, 0, 4, 2}, at::kLong),
                 out = at::ones({5, 2});
    cuda::gather_to(slices(rows, 0, bad, out), bad, out, rows, reach);
    CHECK(at::equal(out[3], at::zeros({2})));
    CHECK(at::equal(out[4], rows[2]));
    CHECK(cuda::index_error_slot()->raised == 1);
    CHECK(cuda::index_error_slot()->position == 3);
    CHECK(cuda::index_error_slot()->index == 4);
    cuda::index_error_slot()->raised = 0;
  }
}

TEST_CASE("sorting in parts: some rows at once, or pieces of a row that are merged", "[cuda][large]") {
  torch::manual_seed(2);
  for (const auto dtype :
       {at::kBool, at::kByte, at::kShort, at::kLong, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    Tensor rows = (at::randn({3, 41}) * 3).to(dtype);
    if (rows.is_floating_point()) {
      rows[0][3] = rows[2][40] = rows[2][0] = std::nan("");
      rows[1][7] = -0.0;
      rows[1][6] = 0.0;
      rows[1][9] = -INFINITY;
    }
    for (const bool descending : {false, true}) {
      const auto [values, places] = at::sort(rows, /*stable=*/true, 1, descending);
      for (const int64_t most : {1, 2, 7, 20, 40, 41, 82, 1000}) {
        INFO(dtype << " in parts of " << most << ", descending " << descending);
        const Tensor found = at::empty_like(rows), at = at::empty_like(places);
        cuda::sort_rows(rows, descending, found, at, most);
        CHECK(at::equal(at, places));
        CHECK(near(found.to(at::kDouble), values.to(at::kDouble), 0, 0));
      }
    }
  }
}

TEST_CASE("rows that a block holds, and longer ones", "[cuda][slow][large]") {
  torch::manual_seed(6);
  for (const int64_t size : {1, 2, 3, 31, 32, 33, 200, 1000, 1024, 1025}) {
    for (const auto dtype : {at::kBool, at::kChar, at::kHalf, at::kFloat, at::kLong}) {
      const int64_t rows = 2500 / size + 2;
      Tensor t = (at::randn({rows, size}) * 20).round().to(dtype);
      if (t.is_floating_point()) {
        t[1][0] = t[0][size - 1] = std::nan("");
      }
      for (const bool descending : {false, true}) {
        INFO(size << " of " << dtype << ", descending " << descending);
        const auto [values, places] = at::sort(t, /*stable=*/true, 1, descending);
        const Tensor found = at::empty_like(t), at = at::empty_like(places);
        cuda::sort_rows(t, descending, found, at);
        CHECK(at::equal(at, places));
        CHECK(near(found.to(at::kDouble), values.to(at::kDouble), 0, 0));
        cuda::sort_rows(t, descending, found, at, 3 * size); // some rows at once
        CHECK(at::equal(at, places));
      }
    }
  }
}

TEST_CASE("sort, topk, nonzero and randperm on CUDA, but for CUB", "[cuda][slow][large]") {
  torch::manual_seed(3);
  const Tensor a = at::randn({3, 5, 4}).to(at::kHalf);
  const auto [values, places] = at::sort(a, /*stable=*/true, 1, true);
  Tensor found = at::empty_like(values), at = at::empty_like(places);
  cuda::sort_stable_kernel(a, true, 1, true, found, at);
  CHECK(at::equal(found, values));
  CHECK(at::equal(at, places));
  Tensor most = at::empty({3, 2, 4}, at::kHalf), most_at = at::empty({3, 2, 4}, at::kLong);
  cuda::topk_kernel(a, 2, 1, true, true, most, most_at);
  CHECK(at::equal(most, values.narrow(1, 0, 2)));
  CHECK(at::equal(most_at, places.narrow(1, 0, 2)));
  // Few elements of many long rows, with equal ones among them.
  for (const auto dtype : {at::kByte, at::kShort, at::kLong, at::kHalf, at::kFloat, at::kDouble}) {
    Tensor rows = (at::randn({17, 1101}) * 40).round().to(dtype);
    if (rows.is_floating_point()) {
      rows[0][700] = rows[0][3] = rows[5][1100] = std::nan("");
      rows[2][9] = -INFINITY;
    }
    rows[4].fill_(3);
    for (const bool largest : {true, false}) {
      for (const int64_t k : {1, 5, 137}) {
        const auto [first, first_at] = at::sort(rows, /*stable=*/true, 1, largest);
        const Tensor some = at::empty({17, k}, dtype), some_at = at::empty({17, k}, at::kLong);
        cuda::topk_kernel(rows, k, 1, largest, true, some, some_at);
        CHECK(at::equal(some_at, first_at.narrow(1, 0, k)));
        CHECK(near(some.to(at::kDouble), first.narrow(1, 0, k).to(at::kDouble), 0, 0));
      }
    }
  }
  for (const Tensor& t :
       {a, a.flatten(), a > 9, at::tensor({0, 3, 0}), at::scalar_tensor(0), at::scalar_tensor(2), at::ones({2, 0}),
        a.transpose(0, 2)}) {
    CHECK(at::equal(at::native::nonzero_cuda(t), t.nonzero()));
  }
}

TEST_CASE("images in several launches", "[cuda][large]") {
  torch::manual_seed(4);
  for (const bool last : {false, true}) {
    const auto format = last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    const Tensor x = at::randn({2, 3, 7, 9}).contiguous(format), g = at::randn({2, 3, 4, 5}).contiguous(format);
    for (const int64_t most : {1, 4, 9, 50, 1000}) {
      INFO("up to " << most << " pixels a launch, channels last: " << last);
      const auto [y, places] = at::max_pool2d_with_indices(x, {3, 3}, {2, 2}, {1, 1});
      cuda::MaxPool max;
      for (const int d : {1, 2}) {
        max.dim[d] = {
            cuda::PoolDim::Fixed, static_cast<int>(x.size(d + 1)), static_cast<int>(y.size(d + 1)), 3, 2, 1, 1};
      }
      const Tensor found = at::empty_like(y), at = at::empty_like(places), dx = at::empty_like(x);
      max.x = cuda::image_of("", x, 2);
      max.y = cuda::image_of("", y, 2);
      max.places = cuda::image_of("", places, 2);
      max.dtype = at::kFloat;
      max.stream = nullptr;
      max.most = most;
      cuda::launch_max_pool(max, x.const_data_ptr(), found.mutable_data_ptr(), at.mutable_data_ptr<int64_t>());
      CHECK(at::equal(found, y));
      CHECK(at::equal(at, places));
      cuda::launch_max_pool_backward(max, g.const_data_ptr(), places.const_data_ptr<int64_t>(), dx.mutable_data_ptr());
      CHECK(near(dx, at::max_pool2d_with_indices_backward(g, x, {3, 3}, {2, 2}, {1, 1}, {1, 1}, false, places)));

      cuda::AvgPool mean;
      std::copy(max.dim, max.dim + 3, mean.dim);
      mean.x = max.x;
      mean.y = max.y;
      mean.dtype = at::kFloat;
      mean.stream = nullptr;
      mean.most = most;
      cuda::launch_avg_pool(mean, x.const_data_ptr(), found.mutable_data_ptr());
      CHECK(near(found, at::avg_pool2d(x, {3, 3}, {2, 2}, {1, 1}, false, false)));
      cuda::launch_avg_pool_backward(mean, g.const_data_ptr(), dx.mutable_data_ptr());
      CHECK(near(dx, at::avg_pool2d_backward(g, x, {3, 3}, {2, 2}, {1, 1}, false, false, std::nullopt)));

      for (const bool reflects : {false, true}) {
        const std::vector<int64_t> around = {2, 3, 1, 4};
        const Tensor padded = reflects ? at::reflection_pad2d(x, around) : at::replication_pad2d(x, around);
        cuda::Padding pad;
        pad.inner = cuda::image_of("", x, 2);
        const Tensor got = at::empty_like(padded), grad = at::randn(padded.sizes());
        pad.padded = cuda::image_of("", got, 2);
        pad.dim[1] = {7, 12, 1, reflects};
        pad.dim[2] = {9, 14, 2, reflects};
        pad.stream = nullptr;
        pad.most = most;
        cuda::launch_pad(pad, 4, x.const_data_ptr(), got.mutable_data_ptr());
        CHECK(at::equal(got, padded));
        pad.padded = cuda::image_of("", grad, 2);
        cuda::launch_pad_backward(pad, at::kFloat, grad.const_data_ptr(), dx.mutable_data_ptr());
        CHECK(near(
            dx,
            reflects ? at::reflection_pad2d_backward(grad, x, around)
                     : at::replication_pad2d_backward(grad, x, around)));
      }

      cuda::Resize resize;
      resize.dim[1] = {cuda::ResizeMode::Linear, 7, 4, false, 7.0 / 4};
      resize.dim[2] = {cuda::ResizeMode::Linear, 9, 5, false, 9.0 / 5};
      resize.small = max.x;
      resize.result = max.y;
      resize.dtype = at::kFloat;
      resize.stream = nullptr;
      resize.most = most;
      cuda::launch_resize(resize, x.const_data_ptr(), found.mutable_data_ptr());
      CHECK(near(found, at::upsample_bilinear2d(x, {4, 5}, false)));
      cuda::launch_resize_backward(resize, g.const_data_ptr(), dx.mutable_data_ptr());
      CHECK(near(dx, at::upsample_bilinear2d_backward(g, {4, 5}, {2, 3, 7, 9}, false)));

      const Tensor grid = at::rand({2, 4, 5, 2}) * 2.4 - 1.2;
      const cuda::GridSample sample{
          cuda::image_of("", x, 2),
          cuda::image_of("", found, 2),
          2,
          {at::native::SampleMode::Linear, at::native::SamplePadding::Reflection, false},
          at::kFloat,
          nullptr,
          most};
      cuda::launch_grid_sample(sample, x.const_data_ptr(), grid.const_data_ptr(), found.mutable_data_ptr());
      CHECK(near(found, at::grid_sampler_2d(x, grid, 0, 2, false)));
      const auto [dx_want, dgrid_want] = at::grid_sampler_2d_backward(g, x, grid, 0, 2, false, {true, true});
      const Tensor sums = at::zeros({2, 3, 7, 9}), dgrid = at::empty_like(grid);
      cuda::launch_grid_sample_backward(
          sample, x.const_data_ptr(), grid.const_data_ptr(), g.const_data_ptr(), sums.mutable_data_ptr(),
          dgrid.mutable_data_ptr());
      CHECK(near(sums, dx_want));
      CHECK(near(dgrid, dgrid_want));
    }
  }
  // Windows by chance, in a volume.
  const Tensor volume = at::randn({2, 2, 5, 6, 7}), chances = at::rand({2, 2, 3});
  const auto [y, places] = at::fractional_max_pool3d(volume, {2, 2, 2}, {3, 3, 4}, chances);
  for (const int64_t most : {1, 5, 30, 40}) {
    cuda::MaxPool max;
    for (const int d : {0, 1, 2}) {
      max.dim[d] = {
          cuda::PoolDim::Fractional, static_cast<int>(volume.size(d + 2)), static_cast<int>(y.size(d + 2)), 2, 1, 0, 1};
    }
    const Tensor found = at::empty_like(y), at = at::empty_like(places);
    max.x = cuda::image_of("", volume, 3);
    max.y = max.places = cuda::image_of("", y, 3);
    max.dtype = at::kFloat;
    max.samples = chances.const_data_ptr();
    max.sample_channels = 2;
    max.sample_dims = 3;
    max.stream = nullptr;
    max.most = most;
    cuda::launch_max_pool(max, volume.const_data_ptr(), found.mutable_data_ptr(), at.mutable_data_ptr<int64_t>());
    CHECK(at::equal(found, y));
    CHECK(at::equal(at, places));
  }
}

TEST_CASE("depthwise convolution in several launches", "[cuda][large][conv]") {
  torch::manual_seed(5);
  for (const bool last : {false, true}) {
    for (const bool square : {false, true}) {
      const auto format = last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
      const int width = square ? 3 : 2, multiplier = square ? 1 : 2;
      const std::vector<int64_t> stride = {square ? 1 : 2, 1};
      const Tensor x = (at::randn({2, 3, 7, 9}) * 4).round().contiguous(format),
                   w = (at::randn({3 * multiplier, 1, 3, width}) * 4).round();
      const Tensor y = at::convolution(x, w, {}, stride, {1, 1}, {1, 1}, false, {0, 0}, 3).contiguous(format);
      const Tensor g = (at::randn(y.sizes()) * 4).round().contiguous(format);
      const auto [dx, dw, db] = at::convolution_backward(
          g, x, w, std::nullopt, stride, {1, 1}, {1, 1}, false, {0, 0}, 3, {true, true, false});
      cuda::Depthwise p;
      p.dim[1] = {3, static_cast<int>(stride[0]), 1, 1, static_cast<int>(y.size(2))};
      p.dim[2] = {width, 1, 1, 1, static_cast<int>(y.size(3))};
      p.image = cuda::image_of("", x, 2);
      p.result = cuda::image_of("", y, 2);
      p.multiplier = multiplier;
      p.dtype = at::kFloat;
      p.stream = nullptr;
      for (const int64_t most : {1, 7, 60, 100, 1000}) {
        INFO("up to " << most << " elements a launch, channels last: " << last << ", square windows: " << square);
        p.most = most;
        CHECK(near(
            filled(
                y,
                [&](const Tensor& out) {
                  cuda::launch_depthwise(p, x.const_data_ptr(), w.const_data_ptr(), out.mutable_data_ptr());
                }),
            y));
        CHECK(near(
            filled(
                x,
                [&](const Tensor& out) {
                  cuda::launch_depthwise_backward_image(
                      p, g.const_data_ptr(), w.const_data_ptr(), out.mutable_data_ptr());
                }),
            dx));
        CHECK(near(
            filled(
                w,
                [&](const Tensor& out) {
                  cuda::launch_depthwise_backward_weight(
                      p, x.const_data_ptr(), g.const_data_ptr(), out.mutable_data_ptr());
                }),
            dw));
      }
    }
  }
}

// 9 GiB of addresses, of which few pages are touched.
TEST_CASE("places beyond 32 bits are found", "[cuda][large]") {
  const int64_t size = int64_t{3} << 30;
  const Tensor memory = at::empty({3, size}, at::kChar),
               index = torch::tensor({int64_t{0}, size - 1, int64_t{1} << 31}, at::kLong);
  const Tensor values = torch::tensor({1, 2, 3, 4, 5, 6, 7, 8, 9}, at::kChar).view({3, 3});
  cuda::scatter_to(slices(memory, 1, index, values), index, memory, values);
  const auto* const bytes = memory.const_data_ptr<int8_t>();
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t i = 0; i < 3; ++i) {
      CHECK(bytes[row * size + index[i].item<int64_t>()] == values[row][i].item<int8_t>());
    }
  }
  CHECK(at::equal(
      filled(values, [&](const Tensor& out) { cuda::gather_to(slices(memory, 1, index, out), index, out, memory); }),
      values));
  const Tensor columns = memory.t(), turned = values.t().contiguous();
  CHECK(at::equal(
      filled(turned, [&](const Tensor& out) { cuda::gather_to(slices(columns, 0, index, out), index, out, columns); }),
      turned));
}

TEST_CASE("bags of aligned rows are read 16 bytes at a time", "[cuda][large]") {
  for (const auto dtype : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    for (const int64_t width : {8, 24, 7, 1}) {
      const Tensor table = (at::randn({11, width}) * 4).round().to(dtype), index = at::randint(0, 11, {60}, at::kLong);
      const Tensor offsets = torch::tensor({0, 7, 7, 30}, at::kLong);
      for (const int64_t mode : {0, 1, 2}) {
        const auto [y, bag, size, rows] =
            at::_embedding_bag(table, index, offsets, false, mode, false, std::nullopt, false, 2);
        const Tensor bags = at::empty_like(bag), sizes = at::empty_like(size), places = at::empty_like(rows);
        const Tensor got = filled(y, [&](const Tensor& out) {
          cuda::embedding_bag_kernel(table, index, offsets, false, mode, false, {}, false, 2, out, bags, sizes, places);
        });
        CHECK(near(got, y, dtype == at::kBFloat16 ? 1e-2 : 1e-3, 1e-3));
        CHECK(at::equal(sizes, size));
        CHECK(at::equal(places, rows));
      }
    }
  }
}

TEST_CASE("losses of many points are summed by several blocks", "[cuda][large]") {
  const Tensor scores = at::randn({2, 3, 70, 100}), target = at::randint(0, 3, {2, 70, 100}, at::kLong),
               weight = at::rand({3});
  for (const int64_t reduction : {1, 2}) {
    const auto [loss, total] = at::nll_loss2d_forward(scores, target, weight, reduction, 1);
    const Tensor weights = at::empty_like(total);
    CHECK(near(
        filled(
            loss,
            [&](const Tensor& out) {
              cuda::nll_loss_forward_kernel(scores, target, weight, reduction, 1, out, weights);
            }),
        loss));
    CHECK(near(weights, total));
  }
}

TEST_CASE("running sums of many rows in several launches, and of many short rows", "[cuda][large]") {
  const Tensor rows = at::randint(-9, 9, {7, 300}, at::kLong), sums = at::empty_like(rows),
               shared = at::randint(-9, 9, {3, 9000}, at::kLong);
  for (const int64_t most : {1, 3, 7, 100}) {
    sums.zero_();
    cuda::launch_scan(
        {{7, 300, 1, nullptr, most}, at::kLong, /*multiply=*/false, rows.const_data_ptr(), sums.mutable_data_ptr()});
    CHECK(at::equal(sums, rows.cumsum(1)));
    const Tensor joined = at::empty_like(shared);
    cuda::launch_scan(
        {{3, 9000, 1, nullptr, most},
         at::kLong,
         /*multiply=*/false,
         shared.const_data_ptr(),
         joined.mutable_data_ptr()});
    CHECK(at::equal(joined, shared.cumsum(1)));
  }
  const Tensor many = at::randint(-9, 9, {5000, 3}, at::kLong);
  CHECK(at::equal(filled(many, [&](const Tensor& out) { cuda::cumsum_kernel(many, 1, {}, out); }), many.cumsum(1)));
}
