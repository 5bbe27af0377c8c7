// What use_deterministic_algorithms asks for: results that do not depend on the order in which threads run.
#include "test/cuda/emulated/compare.h"

#include <aten/core/Context.h>
#include <aten/core/List.h>
#include <aten/core/ivalue.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

namespace emulator {
extern long atomics;
} // namespace emulator

namespace at::native {

using Indices = c10::List<std::optional<Tensor>>;

namespace cuda {

void scatter_add_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const TensorBase&);
void scatter_src_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const TensorBase&);
void scatter_reduce_two_kernel(
    const TensorBase&, int64_t, const TensorBase&, const TensorBase&, std::string_view, bool, const TensorBase&);
void index_add_kernel(
    const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const Scalar&, const TensorBase&);
void index_copy_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const TensorBase&);
void embedding_dense_backward_kernel(const TensorBase&, const TensorBase&, int64_t, int64_t, bool, const TensorBase&);

} // namespace cuda

Tensor& _index_put_impl_cuda_(Tensor&, const Indices&, const Tensor&, bool, bool);
std::tuple<Tensor, Tensor> grid_sampler_2d_backward_cuda(
    const Tensor&, const Tensor&, const Tensor&, int64_t, int64_t, bool, std::array<bool, 2>);

} // namespace at::native

using at::Tensor;
namespace native = at::native;

namespace {

class Deterministic {
 public:
  Deterministic() {
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
    emulator::atomics = 0;
  }
  ~Deterministic() {
    at::globalContext().setDeterministicAlgorithms(false, false);
  }
};

template <class Kernel>
Tensor filled(const Tensor& like, Kernel kernel) {
  return emulated::filled(like, kernel);
}

} // namespace

TEST_CASE("sums by index are made in order on CUDA with deterministic algorithms", "[cuda][deterministic]") {
  torch::manual_seed(8);
  for (const auto dtype : {at::kDouble, at::kFloat, at::kComplexDouble}) {
    const Tensor self = at::randn({5, 12}, dtype), src = at::randn({40, 12}, dtype);
    const Tensor rows = at::randint(0, 5, {40}, at::kLong), places = at::randint(0, 5, {40, 12}, at::kLong);
    const Tensor by_scatter = at::scatter_add(self, 0, places, src), by_index = at::index_add(self, 0, rows, src);
    const Deterministic on;
    const auto scatter = [&](Tensor& out) { native::cuda::scatter_add_kernel(self, 0, places, src, out); };
    const Tensor scattered = filled(self, scatter); // sums of long runs are made in pieces
    CHECK(emulated::near(scattered, by_scatter, 1e-5, 1e-6));
    CHECK(at::equal(filled(self, scatter), scattered));
    CHECK(at::equal(
        filled(self, [&](Tensor& out) { native::cuda::index_add_kernel(self, 0, rows, src, 1, out); }), by_index));
    Tensor put = self.clone();
    native::Indices indices;
    indices.push_back(rows);
    native::_index_put_impl_cuda_(put, indices, src, /*accumulate=*/true, false);
    CHECK(at::equal(put, by_index));
    if (!self.is_complex()) {
      Tensor out = at::empty_like(self);
      native::cuda::scatter_reduce_two_kernel(self, 0, places, src, "prod", true, out);
      CHECK(emulated::near(out, at::scatter_reduce(self, 0, places, src, "prod"), 1e-5, 1e-6));
      native::cuda::scatter_reduce_two_kernel(self, 0, places, src, "mean", false, out);
      emulator::atomics = 0; // counts are integers
      CHECK(emulated::near(out, at::scatter_reduce(self, 0, places, src, "mean", false), 1e-5, 1e-6));
    }
    const Tensor table = filled(at::empty({5, 12}, dtype), [&](Tensor& out) {
      native::cuda::embedding_dense_backward_kernel(src, rows, 5, 3, false, out);
    });
    CHECK(emulated::near(table, at::embedding_dense_backward(src, rows, 5, 3, false), 1e-5, 1e-6));
    CHECK(emulator::atomics == 0);
  }
}

TEST_CASE("gradients of indexing and of embedding are the same from run to run on CUDA", "[cuda][deterministic]") {
  torch::manual_seed(9);
  const auto put = [](const Tensor& self, const native::Indices& indices, const Tensor& values) {
    Tensor out = self.clone();
    return native::_index_put_impl_cuda_(out, indices, values, /*accumulate=*/true, false);
  };
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kComplexDouble}) {
    // Places with many more elements than a thread joins, some with none, and slices in front of and behind the index.
    const Tensor self = at::randn({3, 7, 4}, dtype), index = at::randint(-6, 6, {25, 20}, at::kLong).div(3, "trunc");
    const Tensor values = at::randn({3, 25, 20, 4}, dtype);
    native::Indices indices;
    indices.push_back(std::optional<Tensor>());
    indices.push_back(index);
    emulator::atomics = 0;
    const double tolerance = dtype == at::kHalf ? 2e-2 : dtype == at::kFloat ? 1e-4 : 1e-10;
    const auto wide = self.is_complex() ? at::kComplexDouble : at::kDouble;
    const Tensor out = put(self, indices, values);
    CHECK(emulated::near(
        out.to(wide), at::index_put(self.to(wide), indices, values.to(wide), true), tolerance, tolerance));
    CHECK(at::equal(put(self, indices, values), out));
    // One value for all, and one place for each of them.
    const Tensor one = at::full({}, 0.5, self.options());
    CHECK(emulated::near(put(self, indices, one), at::index_put(self, indices, one, true), tolerance, tolerance));
    native::Indices everywhere;
    everywhere.push_back(at::zeros({130}, at::kLong));
    everywhere.push_back(at::tensor({-1}));
    everywhere.push_back(at::arange(130).remainder(2));
    const Tensor many = at::randn({130}, dtype);
    CHECK(emulated::near(
        put(self, everywhere, many).to(wide), at::index_put(self.to(wide), everywhere, many.to(wide), true), tolerance,
        tolerance));

    const Tensor grad = at::randn({9, 40, 6}, dtype), tokens = at::randint(0, 4, {9, 40}, at::kLong);
    const Tensor table = at::empty({5, 6}, dtype);
    for (const bool by_use : {false, true}) {
      const auto backward = [&](Tensor& to) {
        native::cuda::embedding_dense_backward_kernel(grad, tokens, 5, 2, by_use, to);
      };
      const Tensor sums = filled(table, backward);
      CHECK(emulated::near(
          sums.to(wide), at::embedding_dense_backward(grad.to(wide), tokens, 5, 2, by_use), tolerance, tolerance));
      emulator::atomics = by_use ? 0 : emulator::atomics; // counts are integers
      CHECK(at::equal(filled(table, backward), sums));
      emulator::atomics = by_use ? 0 : emulator::atomics;
    }
    CHECK(emulator::atomics == 0);
  }
}

TEST_CASE(
    "of several writes to one place the last one stays on CUDA with deterministic algorithms",
    "[cuda][deterministic]") {
  const Tensor self = at::zeros({4, 3}), rows = at::tensor({2, 0, 2, 2, 0}),
               src = at::arange(15, at::kFloat).view({5, 3});
  const Tensor want = at::stack({src[4], self[1], src[3], self[3]});
  const Deterministic on;
  CHECK(at::equal(filled(self, [&](Tensor& out) { native::cuda::index_copy_kernel(self, 0, rows, src, out); }), want));
  const Tensor places = rows.unsqueeze(1).expand({5, 3});
  CHECK(
      at::equal(filled(self, [&](Tensor& out) { native::cuda::scatter_src_kernel(self, 0, places, src, out); }), want));
  for (const auto dtype : {at::kBool, at::kShort, at::kLong, at::kComplexDouble}) {
    Tensor put = self.to(dtype);
    native::Indices indices;
    indices.push_back(rows);
    native::_index_put_impl_cuda_(put, indices, src.to(dtype), /*accumulate=*/false, false);
    CHECK(at::equal(put, want.to(dtype)));
  }
}

TEST_CASE("what adds atomically says so with deterministic algorithms", "[cuda][deterministic]") {
  const Tensor self = at::zeros({4, 3}), rows = at::tensor({2, 0, 2}), src = at::ones({3, 3});
  emulator::atomics = 0;
  filled(self, [&](Tensor& out) { native::cuda::index_add_kernel(self, 0, rows, src, 1, out); });
  CHECK(emulator::atomics > 0);
  const Deterministic on;
  CHECK_THROWS_WITH(
      native::grid_sampler_2d_backward_cuda(
          at::ones({1, 1, 2, 2}), at::ones({1, 1, 3, 3}), at::zeros({1, 2, 2, 2}), 0, 0, false, {true, true}),
      Catch::Contains("grid_sampler_2d_backward_cuda does not have a deterministic implementation"));
}
