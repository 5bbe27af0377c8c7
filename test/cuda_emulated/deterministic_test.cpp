// What use_deterministic_algorithms asks for: results that do not depend on the order in which threads run.
#include "test/cuda_emulated/compare.h"

#include <aten/Context.h>
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
void scatter_reduce_two_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&, std::string_view, bool, const TensorBase&);
void index_add_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const Scalar&, const TensorBase&);
void index_copy_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const TensorBase&);
void embedding_dense_backward_kernel(const TensorBase&, const TensorBase&, int64_t, int64_t, bool, const TensorBase&);

} // namespace cuda

Tensor& _index_put_impl_cuda_(Tensor&, const Indices&, const Tensor&, bool, bool);
std::tuple<Tensor, Tensor> grid_sampler_2d_backward_cuda(const Tensor&, const Tensor&, const Tensor&, int64_t, int64_t, bool, std::array<bool, 2>);

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
    CHECK(at::equal(filled(self, [&](Tensor& out) { native::cuda::scatter_add_kernel(self, 0, places, src, out); }), by_scatter));
    CHECK(at::equal(filled(self, [&](Tensor& out) { native::cuda::index_add_kernel(self, 0, rows, src, 1, out); }), by_index));
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
    const Tensor table = filled(
        at::empty({5, 12}, dtype), [&](Tensor& out) { native::cuda::embedding_dense_backward_kernel(src, rows, 5, 3, false, out); });
    CHECK(emulated::near(table, at::embedding_dense_backward(src, rows, 5, 3, false), 1e-5, 1e-6));
    CHECK(emulator::atomics == 0);
  }
}

TEST_CASE("of several writes to one place the last one stays on CUDA with deterministic algorithms", "[cuda][deterministic]") {
  const Tensor self = at::zeros({4, 3}), rows = at::tensor({2, 0, 2, 2, 0}), src = at::arange(15, at::kFloat).view({5, 3});
  const Tensor want = at::stack({src[4], self[1], src[3], self[3]});
  const Deterministic on;
  CHECK(at::equal(filled(self, [&](Tensor& out) { native::cuda::index_copy_kernel(self, 0, rows, src, out); }), want));
  const Tensor places = rows.unsqueeze(1).expand({5, 3});
  CHECK(at::equal(filled(self, [&](Tensor& out) { native::cuda::scatter_src_kernel(self, 0, places, src, out); }), want));
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
      native::grid_sampler_2d_backward_cuda(at::ones({1, 1, 2, 2}), at::ones({1, 1, 3, 3}), at::zeros({1, 2, 2, 2}), 0, 0, false, {true, true}),
      Catch::Contains("grid_sampler_2d_backward_cuda does not have a deterministic implementation"));
}
