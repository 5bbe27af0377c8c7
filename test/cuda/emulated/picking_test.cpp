// Padding by constants, order statistics, indexing by several tensors, masks, and softmax along inner dimensions, run
// by the emulator on CPU tensors, against the CPU's own operators.
#include "test/cuda/emulated/compare.h"

#include <aten/core/List.h>
#include <aten/core/ivalue.h>
#include <aten/native/cuda/index_error.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace at::native {

using Indices = c10::List<std::optional<Tensor>>;

namespace cuda {

void topk_kernel(const TensorBase&, int64_t, int64_t, bool, bool, const TensorBase&, const TensorBase&);
void kthvalue_kernel(const TensorBase&, int64_t, int64_t, bool, const TensorBase&, const TensorBase&);
void median_kernel(const TensorBase&, int64_t, bool, const TensorBase&, const TensorBase&);
void nanmedian_kernel(const TensorBase&, int64_t, bool, const TensorBase&, const TensorBase&);
void median_all_kernel(const TensorBase&, const TensorBase&);
void nanmedian_all_kernel(const TensorBase&, const TensorBase&);
void mode_kernel(const TensorBase&, int64_t, bool, const TensorBase&, const TensorBase&);
void sort_stable_kernel(const TensorBase&, std::optional<bool>, int64_t, bool, const TensorBase&, const TensorBase&);
void scatter_value_kernel(const TensorBase&, int64_t, const TensorBase&, const Scalar&, const TensorBase&);
void index_fill_kernel(const TensorBase&, int64_t, const TensorBase&, const Scalar&, const TensorBase&);
void index_add_kernel(
    const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const Scalar&, const TensorBase&);
void softmax_kernel(const TensorBase&, int64_t, bool, const TensorBase&);
void log_softmax_kernel(const TensorBase&, int64_t, bool, const TensorBase&);
void softmax_backward_kernel(const TensorBase&, const TensorBase&, int64_t, c10::ScalarType, const TensorBase&);
void log_softmax_backward_kernel(const TensorBase&, const TensorBase&, int64_t, c10::ScalarType, const TensorBase&);

void flip_kernel(const TensorBase&, IntArrayRef, const TensorBase&);
void index_reduce_kernel(
    const TensorBase&, int64_t, const TensorBase&, const TensorBase&, std::string_view, bool, const TensorBase&);
void embedding_dense_backward_kernel(const TensorBase&, const TensorBase&, int64_t, int64_t, bool, const TensorBase&);

} // namespace cuda

Tensor roll_cuda(const Tensor&, IntArrayRef, IntArrayRef);
Tensor& embedding_renorm_cuda_(Tensor&, const Tensor&, double, double);
Tensor constant_pad_nd_cuda(const Tensor&, IntArrayRef, const Scalar&);
Tensor index_cuda(const Tensor&, const Indices&);
Tensor& _index_put_impl_cuda_(Tensor&, const Indices&, const Tensor&, bool, bool);
Tensor& masked_scatter_cuda_(Tensor&, const Tensor&, const Tensor&);

} // namespace at::native

namespace {

namespace cuda = at::native::cuda;
using at::Tensor;
using emulated::filled;
using emulated::near;
using Sizes = std::vector<int64_t>;

bool same(const Tensor& a, const Tensor& b) {
  return near(a, b, 0, 0);
}

/// Whole numbers, many of them equal, and where the dtype has them some NaNs and infinities.
Tensor ties(const Sizes& sizes, at::ScalarType dtype, int64_t range = 9) {
  Tensor x = torch::randint(range, sizes, at::kFloat);
  if (at::isFloatingType(dtype)) {
    x = torch::where(torch::rand(sizes) < 0.1, std::numeric_limits<float>::quiet_NaN(), x - 4);
    x = torch::where(torch::rand(sizes) < 0.1, -std::numeric_limits<float>::infinity(), x);
  }
  return x.to(dtype);
}

/// The kernel finds what the CPU found.
template <class Kernel>
bool finds(const std::tuple<Tensor, Tensor>& want, Kernel kernel) {
  const Tensor values = torch::empty_like(std::get<0>(want)), indices = torch::empty_like(std::get<1>(want));
  kernel(values, indices);
  return same(values, std::get<0>(want)) && same(indices, std::get<1>(want));
}

/// The kernel finds the values that the CPU found, and names elements that have them: which of equal ones depends on
/// the algorithm.
template <class Kernel>
bool finds_equal(const Tensor& x, int64_t dim, const std::tuple<Tensor, Tensor>& want, Kernel kernel) {
  const Tensor values = torch::empty_like(std::get<0>(want)), indices = torch::empty_like(std::get<1>(want));
  kernel(values, indices);
  const bool kept = values.dim() == x.dim();
  const Tensor named = x.gather(dim, kept ? indices : indices.unsqueeze(dim));
  return same(values, std::get<0>(want)) && same(kept ? named : named.squeeze(dim), values);
}

/// The mode of a line, as Note [The mode of a row] has it.
double mode_of(const Tensor& line) {
  std::map<double, int> counts;
  const Tensor wide = line.to(at::kDouble);
  for (int64_t i = 0; i < wide.numel(); ++i) {
    const double x = wide[i].item<double>();
    if (x == x) {
      ++counts[x];
    }
  }
  double best = std::numeric_limits<double>::quiet_NaN();
  int most = 0;
  for (const auto& [x, count] : counts) {
    if (count > most) {
      best = x;
      most = count;
    }
  }
  return most <= 1 && std::isnan(wide[0].item<double>()) ? wide[0].item<double>() : best;
}

at::native::Indices list(const std::vector<std::optional<Tensor>>& items) {
  at::native::Indices indices;
  for (const std::optional<Tensor>& item : items) {
    indices.push_back(item);
  }
  return indices;
}

} // namespace

TEST_CASE("emulated: padding by a constant", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kByte, at::kBool, at::kComplexDouble}) {
    const auto check = [&](const Tensor& x, const Sizes& pad) {
      const Tensor want = at::constant_pad_nd(x, pad, 3), got = at::native::constant_pad_nd_cuda(x, pad, 3);
      CHECK(same(got, want));
      CHECK(got.strides() == want.strides());
    };
    const Tensor x = torch::randn({2, 3, 8, 16}).to(dtype);
    for (const Sizes& pad :
         {Sizes{1, 1},
          {0, 0, 2, 1},
          {16, 32},
          {8, 0, 1, 1},
          {0, 0, 0, 0, 1, 2},
          {1, 2, 3, 4, 5, 6, 7, 8},
          {-1, 2, 1, -2},
          {-1, -2},
          {-3, 5},
          {}}) {
      check(x, pad);
      check(x.contiguous(at::MemoryFormat::ChannelsLast), pad);
      check(x.transpose(1, 3), pad);
      check(x.slice(3, 0, 16, 2), pad);
      check(x.slice(3, 1, 9), pad);
    }
    check(torch::randn({3}).to(dtype), {1, 0});
    check(torch::zeros({0, 4}).to(dtype), {1, 1, 1, 0});
    check(torch::zeros({2, 0}).to(dtype), {0, 0, 1, 0});
    check(torch::randn({1, 1, 1, 5000}).to(dtype), {700, 3, 1, 0});
  }
}

TEST_CASE("emulated: first elements and k-th ones and medians of rows along any dimension", "[cuda]") {
  std::size_t turn = 0;
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kInt, at::kByte, at::kLong}) {
    for (const Sizes& sizes : {Sizes{7}, {5, 3}, {3, 33, 4}, {2, 700}, {600, 2}, {1, 1, 1}, {2, 1100}}) {
      if (turn++ % 2 != 0) {
        continue; // each dtype and each of the sizes, but not all pairs of both
      }
      const Tensor x = ties(sizes, dtype);
      for (int64_t dim = 0; dim < x.dim(); ++dim) {
        const int64_t size = x.size(dim);
        for (const int64_t k : {int64_t{1}, (size + 2) / 3, size}) {
          CHECK(finds_equal(x, dim, at::kthvalue(x, k, dim), [&](const Tensor& a, const Tensor& b) {
            cuda::kthvalue_kernel(x, k, dim, false, a, b);
          }));
          for (const bool largest : {false, true}) {
            auto [values, places] = at::sort(x, /*stable=*/true, dim, largest);
            const std::tuple<Tensor, Tensor> want = {
                values.narrow(dim, 0, k).contiguous(), places.narrow(dim, 0, k).contiguous()};
            CHECK(finds(
                want, [&](const Tensor& a, const Tensor& b) { cuda::topk_kernel(x, k, dim, largest, true, a, b); }));
          }
        }
        CHECK(finds(at::sort(x, /*stable=*/true, dim, true), [&](const Tensor& a, const Tensor& b) {
          cuda::sort_stable_kernel(x, true, dim, true, a, b);
        }));
        CHECK(finds_equal(x, dim, at::median(x, dim), [&](const Tensor& a, const Tensor& b) {
          cuda::median_kernel(x, dim, false, a, b);
        }));
        CHECK(finds_equal(x, dim, at::nanmedian(x, dim, true), [&](const Tensor& a, const Tensor& b) {
          cuda::nanmedian_kernel(x, dim, true, a, b);
        }));
        if (!at::isFloatingType(
                dtype)) { // on the CPU a NaN of a short row hides repeats from each other, as in PyTorch
          CHECK(finds_equal(x, dim, at::mode(x, dim), [&](const Tensor& a, const Tensor& b) {
            cuda::mode_kernel(x, dim, false, a, b);
          }));
        }
      }
      const Tensor median = at::median(x), rest = at::nanmedian(x);
      CHECK(same(filled(median, [&](const Tensor& out) { cuda::median_all_kernel(x, out); }), median));
      CHECK(same(filled(rest, [&](const Tensor& out) { cuda::nanmedian_all_kernel(x, out); }), rest));
    }
  }
  // Rows of NaNs alone, with one in front, and where nothing repeats.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Tensor& x :
       {torch::full({3, 5}, nan), torch::tensor({nan, 1.f, 3.f, 2.f}), torch::tensor({1.f, nan, 3.f, 2.f}),
        torch::tensor({nan, 2.f, 3.f, 2.f}), torch::full({1200}, nan), torch::randperm(1200, at::kFloat),
        ties({300}, at::kFloat), ties({1024}, at::kDouble), ties({1100}, at::kFloat)}) {
    if (x.dim() == 1) {
      Tensor mode = torch::empty({}, x.options()), place = torch::empty({}, at::kLong);
      cuda::mode_kernel(x, -1, false, mode, place);
      CHECK(same(mode.to(at::kDouble), torch::tensor(mode_of(x), at::kDouble)));
      CHECK(same(x[place.item<int64_t>()], mode));
    }
    CHECK(finds_equal(
        x, -1, at::median(x, -1), [&](const Tensor& a, const Tensor& b) { cuda::median_kernel(x, -1, false, a, b); }));
    CHECK(finds_equal(x, -1, at::nanmedian(x, -1), [&](const Tensor& a, const Tensor& b) {
      cuda::nanmedian_kernel(x, -1, false, a, b);
    }));
  }
}

TEST_CASE("emulated: indexing by several tensors at once and writing through them", "[cuda]") {
  const Tensor i = torch::tensor({0, -1, 2}, at::kLong), j = torch::tensor({{1}, {3}}, at::kLong),
               k = torch::tensor({4, 0, -5}, at::kLong);
  const Tensor mask = torch::rand({6, 7}) < 0.3;
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kComplexDouble}) {
    const Tensor plain = torch::randn({6, 7, 8, 4}).to(dtype);
    for (const Tensor& a : {plain, plain.permute({2, 1, 0, 3}), torch::randn({6, 7, 8, 8}).to(dtype).slice(3, 2, 8)}) {
      for (const at::native::Indices& indices :
           {list({i}), list({i, j}), list({i, j, k}), list({std::nullopt, i, j, i}), list({i, std::nullopt, j}),
            list({k.slice(0, 0, 3, 2), std::nullopt, std::nullopt, i.slice(0, 1)}), list({i, j, k, i}),
            list({i.to(at::kInt), i})}) {
        const Tensor want = at::index(a, indices), got = at::native::index_cuda(a, indices);
        CHECK(same(got, want));
        CHECK(got.strides() == want.strides());
        for (const Tensor& values : {torch::randn({}), torch::randn({want.size(-1)}), torch::randn(want.sizes())}) {
          // Places that are written to more than once get one value.
          const Tensor source =
              values.numel() == want.numel() ? torch::zeros(want.sizes(), a.options()) : values.to(dtype);
          Tensor mine = a.clone(), theirs = a.clone();
          at::native::_index_put_impl_cuda_(mine, indices, source, false, false);
          at::_index_put_impl_(theirs, indices, source, false, false);
          CHECK(same(mine, theirs));
        }
      }
    }
  }
  // What is written is read, too.
  Tensor mine = torch::arange(8, at::kLong), theirs = mine.clone();
  at::native::_index_put_impl_cuda_(mine, list({mine.flip(0)}), mine.slice(0, 0, 8), false, false);
  theirs.index_put_({theirs.flip(0).clone()}, theirs.clone());
  CHECK(same(mine, theirs));
  mine = torch::tensor({1, 2, 0, 3}, at::kLong), theirs = mine.clone();
  at::native::_index_put_impl_cuda_(mine, list({mine}), torch::tensor({5, 6, 7, 8}, at::kLong), false, false);
  theirs.index_put_({theirs.clone()}, torch::tensor({5, 6, 7, 8}, at::kLong));
  CHECK(same(mine, theirs));
  // A bad index is told with the dimension that it is of.
  CHECK(cuda::index_error_slot()->raised == 0);
  at::native::index_cuda(
      torch::zeros({6, 7}), list({torch::tensor({1, 2}, at::kLong), torch::tensor({1, 7}, at::kLong)}));
  CHECK(cuda::index_error_slot()->raised == 1);
  CHECK(cuda::index_error_slot()->index == 7);
  CHECK(cuda::index_error_slot()->size == 7);
  CHECK(cuda::index_error_slot()->dim == 1);
  CHECK(cuda::index_error_slot()->position == 1);
  cuda::index_error_slot()->raised = 0;
}

TEST_CASE("emulated: one value for all places of an index and sums of what is multiplied", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kChar, at::kLong, at::kComplexFloat}) {
    const Tensor a = (torch::randn({6, 8, 16}) * 4).round().to(dtype), index = torch::tensor({1, -2, 5}, at::kLong);
    const Tensor places = torch::randint(6, {3, 8, 16}, at::kLong);
    for (const Tensor& x : {a, a.transpose(0, 2).contiguous().transpose(0, 2)}) {
      for (const int64_t dim : {0, 1, 2}) {
        CHECK(same(
            filled(x, [&](const Tensor& out) { cuda::index_fill_kernel(x, dim, index, 3, out); }),
            x.index_fill(dim, index, 3)));
        const Tensor added = torch::randint(2, {3}, at::kLong), sums = x.narrow(dim, 0, 3);
        CHECK(near(
            filled(x, [&](const Tensor& out) { cuda::index_add_kernel(x, dim, added, sums, 3, out); }),
            x.index_add(dim, added, sums, 3), 1e-2, 1e-2));
      }
      CHECK(same(
          filled(x, [&](const Tensor& out) { cuda::scatter_value_kernel(x, 0, places, 2, out); }),
          x.scatter(0, places, 2)));
    }
  }
}

TEST_CASE("emulated: masked_scatter_ takes as many elements as the mask has places", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kByte, at::kComplexDouble}) {
    const Tensor a = torch::randn({5, 70}).to(dtype), source = torch::randn({400}).to(dtype),
                 mask = torch::rand({5, 70}) < 0.4;
    for (const Tensor& x : {a, a.t().contiguous().t(), a.slice(1, 0, 70, 2)}) {
      for (const Tensor& by : {mask.narrow(1, 0, x.size(1)), mask.narrow(1, 0, 1), torch::zeros({1}, at::kBool)}) {
        Tensor mine = x.clone(), theirs = x.clone();
        at::native::masked_scatter_cuda_(mine, by, source);
        theirs.masked_scatter_(by, source);
        CHECK(same(mine, theirs));
      }
    }
  }
  Tensor number = torch::ones({});
  at::native::masked_scatter_cuda_(number, torch::ones({}, at::kBool), torch::full({2}, 5.f));
  CHECK(number.item<float>() == 5);
  CHECK(cuda::index_error_slot()->raised == 0);
  Tensor few = torch::zeros({4});
  at::native::masked_scatter_cuda_(few, torch::ones({4}, at::kBool), torch::ones({3}));
  CHECK(cuda::index_error_slot()->raised == 1);
  CHECK(cuda::index_error_slot()->size == 3);
  CHECK(same(few.narrow(0, 0, 3), torch::ones({3})));
  cuda::index_error_slot()->raised = 0;
}

TEST_CASE("emulated: softmax along inner dimensions", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble}) {
    const double tolerance = dtype == at::kHalf ? 2e-3 : dtype == at::kBFloat16 ? 2e-2 : 1e-5;
    for (const Sizes& sizes :
         {Sizes{1, 1, 3},
          {2, 2, 33},
          {3, 3, 2},
          {1, 5, 70},
          {2, 17, 32},
          {40, 4, 3},
          {2, 64, 5},
          {1, 255, 40},
          {1, 257, 9},
          {2, 500, 16},
          {1, 513, 31},
          {1, 1025, 8},
          {1, 1030, 7},
          {1, 5000, 3}}) {
      const Tensor a = (torch::randn(sizes) * 3).to(dtype);
      a.select(1, 0).select(-1, 0).fill_(-std::numeric_limits<double>::infinity());
      const Tensor y = at::softmax(a, 1), log = at::log_softmax(a, 1), g = torch::randn(sizes).to(dtype);
      CHECK(
          near(filled(a, [&](const Tensor& out) { cuda::softmax_kernel(a, 1, false, out); }), y, tolerance, tolerance));
      CHECK(near(
          filled(a, [&](const Tensor& out) { cuda::log_softmax_kernel(a, 1, false, out); }), log, tolerance,
          tolerance));
      CHECK(near(
          filled(a, [&](const Tensor& out) { cuda::softmax_backward_kernel(g, y, 1, dtype, out); }),
          at::_softmax_backward_data(g, y, 1, dtype), tolerance, tolerance));
      CHECK(near(
          filled(a, [&](const Tensor& out) { cuda::log_softmax_backward_kernel(g, log, 1, dtype, out); }),
          at::_log_softmax_backward_data(g, log, 1, dtype), 10 * tolerance, 10 * tolerance));
    }
  }
  const Tensor hopeless = torch::full({2, 40, 3}, -std::numeric_limits<float>::infinity());
  CHECK(near(
      filled(hopeless, [&](const Tensor& out) { cuda::softmax_kernel(hopeless, 1, false, out); }),
      at::softmax(hopeless, 1)));
  Tensor above = torch::zeros({1, 3, 2});
  above.select(1, 1).fill_(std::numeric_limits<float>::infinity());
  CHECK(near(
      filled(above, [&](const Tensor& out) { cuda::softmax_kernel(above, 1, false, out); }), at::softmax(above, 1)));
}

TEST_CASE("emulated: rows of a table are scaled down once each", "[cuda]") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const double tolerance = dtype == at::kBFloat16 ? 2e-2 : 1e-5;
    for (const int64_t count : {1, 5, 40, 3100}) {
      const Tensor table = torch::randn({40, 300}).to(dtype),
                   index = torch::randint(20, {count}, count == 5 ? at::kInt : at::kLong);
      for (const Tensor& x : {table.t().contiguous().t(), table.narrow(1, 0, 7)}) {
        for (const double type :
             count > 5 ? std::vector<double>{2.0} : std::vector<double>{2.0, 1.0, 3.0, 0.0, infinity}) {
          Tensor mine = x.clone(), theirs = x.clone();
          at::native::embedding_renorm_cuda_(mine, index.view({-1, 1}), 2.5, type);
          at::embedding_renorm_(theirs, index, 2.5, type);
          CHECK(near(mine, theirs, tolerance, tolerance));
          CHECK(same(mine.narrow(0, 20, 20), x.narrow(0, 20, 20)));
        }
      }
    }
  }
  Tensor table = torch::full({4, 3}, 5.f);
  CHECK(cuda::index_error_slot()->raised == 0);
  at::native::embedding_renorm_cuda_(table, torch::tensor({1, 4}, at::kLong), 1, 2);
  CHECK(cuda::index_error_slot()->raised == 1);
  CHECK(cuda::index_error_slot()->index == 4);
  CHECK(cuda::index_error_slot()->position == 1);
  cuda::index_error_slot()->raised = 0;
}

TEST_CASE("emulated: gradients of embeddings by a few indices", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    const double tolerance = dtype == at::kHalf ? 2e-3 : 1e-5;
    for (const auto& [count, width] : {std::pair<int64_t, int64_t>{1, 3}, {5, 1100}, {270, 3}}) {
      const Tensor index = torch::randint(30, {count}, at::kLong),
                   grads = torch::randn({count, width}).to(dtype).t().contiguous().t();
      for (const bool by_frequency : {false, true}) {
        // Sums of half are kept in float.
        const Tensor want = at::embedding_dense_backward(grads.to(at::kDouble), index, 40, 3, by_frequency).to(dtype);
        CHECK(near(
            filled(
                want,
                [&](const Tensor& out) {
                  cuda::embedding_dense_backward_kernel(grads, index, 40, 3, by_frequency, out);
                }),
            want, tolerance, tolerance));
      }
    }
  }
}

TEST_CASE("emulated: flip and roll", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kByte, at::kComplexDouble}) {
    const Tensor plain = torch::randn({3, 4, 5, 16}).to(dtype);
    for (const Tensor& x :
         {plain, plain.transpose(0, 2), plain.slice(3, 1, 13, 2), plain.contiguous(at::MemoryFormat::ChannelsLast),
          plain.narrow(0, 0, 1), torch::randn({1100}).to(dtype), torch::randn({}).to(dtype),
          torch::zeros({0, 2}).to(dtype)}) {
      std::vector<Sizes> some = {{}};
      for (int64_t d = 0; d < x.dim(); ++d) {
        some.push_back({d});
        some.push_back({-1 - d});
        if (d > 0) {
          some.push_back({d, 0});
        }
      }
      for (const Sizes& dims : some) {
        const Tensor want = at::flip(x, dims);
        CHECK(same(filled(want, [&](const Tensor& out) { cuda::flip_kernel(x, dims, out); }), want));
        for (const int64_t shift : {-2, 16}) {
          const Sizes shifts(dims.empty() ? 1 : dims.size(), shift);
          const Tensor rolled = at::roll(x, shifts, dims), got = at::native::roll_cuda(x, shifts, dims);
          CHECK(same(got, rolled));
          CHECK(got.strides() == rolled.strides());
        }
      }
    }
  }
  Sizes many(14, 2), every(14);
  for (int64_t d = 0; d < 14; ++d) {
    every[d] = d;
  }
  const Tensor x = torch::randn(many);
  CHECK(same(filled(x, [&](const Tensor& out) { cuda::flip_kernel(x, every, out); }), at::flip(x, every)));
  CHECK(same(at::native::roll_cuda(x, Sizes(14, 1), every), at::roll(x, Sizes(14, 1), every)));
}

TEST_CASE("emulated: slices are joined to those that an index names", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kInt}) {
    const Tensor x = (torch::randn({4, 5, 6}) * 3).round().to(dtype);
    for (const std::string_view reduce : {"prod", "mean", "amax", "amin"}) {
      for (const bool include : {false, true}) {
        for (const int64_t dim : {0, 1, -1}) {
          const Tensor index = torch::randint(4, {3}, at::kInt),
                       source = (torch::randn({4, 5, 6}) * 3).round().to(dtype).narrow(dim, 0, 3);
          CHECK(near(
              filled(
                  x,
                  [&](const Tensor& out) { cuda::index_reduce_kernel(x, dim, index, source, reduce, include, out); }),
              x.index_reduce(dim, index, source, reduce, include), 1e-4, 1e-4));
        }
      }
    }
  }
  const Tensor number = torch::ones({}), index = torch::zeros({1}, at::kLong), two = torch::full({}, 2.f);
  CHECK(filled(number, [&](const Tensor& out) {
          cuda::index_reduce_kernel(number, 0, index, two, "prod", true, out);
        }).item<float>() == 2);
}
