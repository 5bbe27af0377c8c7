// Helpers for kernels from <ATen/native/...>, as programs written against libtorch use them.
#include <torch/torch.h>

#include <ATen/PadNd.h>
#include <ATen/SDPBackend.h>
#include <ATen/div_rtn.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/TensorAdvancedIndexing.h>
#include <ATen/native/cpu/Reduce.h>
#include <c10/core/DynamicCast.h>
#include <c10/util/Semaphore.h>
#include <c10/util/numa.h>
#include <torch/imethod.h>

#include <catch2/catch.hpp>

#include <limits>
#include <thread>
#include <vector>

using Catch::Matchers::Contains;
using Sizes = std::vector<int64_t>;
namespace native = at::native;

TEST_CASE("matrices are copied by columns", "[native_utils]") {
  const at::Tensor a = torch::arange(12, torch::kFloat).view({2, 3, 2});
  const at::Tensor by_columns = native::cloneBatchedColumnMajor(a);
  CHECK(by_columns.equal(a));
  CHECK(by_columns.strides() == Sizes{6, 1, 3});
  CHECK(native::is_blas_compatible_column_major_order(by_columns));
  CHECK_FALSE(native::is_blas_compatible_row_major_order(by_columns));
  CHECK(native::is_row_or_column_contiguous(by_columns));
  CHECK(native::batchCount(a) == 2);
  CHECK(native::matrixStride(a) == 6);

  const at::Tensor taller = native::copyBatchedColumnMajor(a, 5, Sizes{4, 2});
  CHECK(taller.sizes() == Sizes{4, 2, 5, 2});
  CHECK(taller.strides() == Sizes{20, 10, 1, 5});
  CHECK(taller.narrow(-2, 0, 3)[3].equal(a));
}

TEST_CASE("linear systems are checked and broadcast", "[native_utils]") {
  const at::Tensor a = torch::rand({2, 1, 3, 3});
  const at::Tensor b = torch::rand({4, 3, 5});
  const auto [b_broadcast, a_broadcast] = native::_linalg_broadcast_batch_dims(b, a, "solve");
  CHECK(a_broadcast.sizes() == Sizes{2, 4, 3, 3});
  CHECK(b_broadcast.sizes() == Sizes{2, 4, 3, 5});
  CHECK(native::linalg_solve_is_vector_rhs(a, torch::rand({2, 1, 3})));
  CHECK_FALSE(native::linalg_solve_is_vector_rhs(a, b));
  CHECK_THROWS_WITH(
      native::squareCheckInputs(b, "inverse"),
      Contains("inverse: A must be batches of square matrices, but they are 3 by 5 matrices"));
  CHECK_THROWS_WITH(native::checkInputsSolver(a, torch::rand({2, 2}), true, "solve"), Contains("AX = B (3x3 and 2x2)"));
  CHECK_THROWS_AS(native::checkFloatingOrComplex(torch::ones({2}, torch::kLong), "qr"), c10::NotImplementedError);
  CHECK_THROWS_WITH(native::checkUplo("upper"), Contains("'L' or 'U', but got upper"));
  CHECK(native::_parse_qr_mode("complete") == std::make_tuple(true, false));
  CHECK_THROWS_WITH(native::_parse_qr_mode("full"), Contains("unrecognized mode 'full'"));
  CHECK(std::get<2>(native::_compute_geometry_for_Q(torch::rand({5, 3}), false)) == 5);

  const Sizes order = native::create_dim_backshift_permutation(0, 2, 4);
  CHECK(order == Sizes{1, 3, 0, 2});
  CHECK(native::create_reverse_permutation(order) == Sizes{2, 0, 3, 1});
  CHECK(native::_move_to_end(torch::rand({2, 3, 4}), {0}).sizes() == Sizes{3, 4, 2});
}

TEST_CASE("each matrix of a batch meets the one that is broadcast over it", "[native_utils]") {
  const at::Tensor a = torch::tensor({1.f, 2.f}).view({2, 1, 1, 1}).clone();
  const at::Tensor b = torch::zeros({2, 3, 1, 1});
  native::batch_iterator_with_broadcasting<float>(a, b, [](float* x, float* y, int64_t i) {
    *y = *x + 10 * static_cast<float>(i);
    *x = 0;
  });
  CHECK(b.view({2, 3}).equal(torch::tensor({{1.f, 1.f, 1.f}, {12.f, 12.f, 12.f}})));
}

TEST_CASE("sizes of convolutions", "[native_utils]") {
  const Sizes input{2, 6, 10, 12}, weight{4, 3, 3, 5};
  const auto convolved = torch::conv2d(torch::rand(input), torch::rand(weight), {}, {2, 1}, {1, 2}, {1, 2}, 2);
  CHECK(native::conv_output_size(input, weight, {1, 2}, {2, 1}, {1, 2}) == convolved.sizes());
  const Sizes upward{6, 4, 3, 5};
  const auto transposed =
      torch::conv_transpose2d(torch::rand(input), torch::rand(upward), {}, {2, 3}, {1, 0}, {1, 2}, 2, {1, 1});
  CHECK(native::conv_input_size(input, upward, {1, 0}, {1, 2}, {2, 3}, {1, 1}, 2) == transposed.sizes());
  CHECK(native::conv_weight_size(input, {2, 4, 10, 8}, {1, 0}, {0, 0}, {1, 1}, {1, 1}, 2) == weight);
  CHECK(native::reshape_bias(4, torch::rand({3})).sizes() == Sizes{1, 3, 1, 1});
  CHECK_THROWS_WITH(native::conv_output_size(input, weight, {1}, {1, 1}), Contains("do not fit together"));

  const at::Tensor x = torch::rand(input), w = torch::rand(weight);
  const at::TensorGeometryArg xa(at::TensorGeometry(x), "input", 1), wa(at::TensorGeometry(w), "weight", 2);
  const at::TensorGeometryArg ya(at::TensorGeometry(convolved), "output", 3);
  CHECK_NOTHROW(native::convolution_shape_check("conv", xa, wa, ya, {1, 2}, {2, 1}, {1, 2}, 2));
  CHECK_THROWS_WITH(
      native::convolution_shape_check("conv", xa, wa, ya, {1, 2, 3}, {2, 1}, {1, 2}, 2),
      Contains("Too many padding values (3)"));
}

namespace {

struct Extremum {
  using acc_t = std::pair<float, int64_t>;
  acc_t reduce(acc_t acc, float x, int64_t i) const {
    return x > acc.first ? acc_t{x, i} : acc;
  }
  acc_t combine(acc_t a, acc_t b) const {
    return b.first > a.first ? b : a;
  }
  acc_t translate_idx(acc_t acc, int64_t base) const {
    return {acc.first, acc.second + base};
  }
  std::tuple<float, int64_t> project(acc_t acc) const {
    return {acc.first, acc.second};
  }
};

} // namespace

TEST_CASE("kernels of a program's own reduce", "[native_utils]") {
  torch::manual_seed(3);
  const Sizes shape = GENERATE(Sizes{3, 700}, Sizes{700, 3}, Sizes{90, 80}, Sizes{5, 1}, Sizes{0, 4}, Sizes{200, 1000});
  const bool transposed = GENERATE(false, true);
  at::Tensor x = torch::randint(-100, 100, shape).to(torch::kFloat);
  if (transposed) {
    x = x.t();
  }
  for (const int64_t dim : {0, 1}) {
    CAPTURE(shape, transposed, dim);
    at::Tensor sum;
    auto iter = native::make_reduction("sum", sum, x, dim, /*keepdim=*/false, at::kFloat);
    native::binary_kernel_reduce_vec(
        iter, [](float a, float b) { return a + b; },
        [](at::vec::Vectorized<float> a, at::vec::Vectorized<float> b) { return a + b; });
    CHECK(sum.equal(x.sum(dim)));
    if (x.size(dim) == 0) {
      continue;
    }
    at::Tensor most, where;
    auto pairs = native::make_reduction("max", most, where, x, dim, /*keepdim=*/false, at::kFloat, at::kLong);
    native::binary_kernel_reduce(pairs, Extremum{}, Extremum::acc_t{-std::numeric_limits<float>::infinity(), 0});
    CHECK(most.equal(x.amax(dim)));
    CHECK(x.gather(dim, where.unsqueeze(dim)).squeeze(dim).equal(most));
  }
}

TEST_CASE("rows are reduced by a function of addresses", "[native_utils]") {
  const at::Tensor x = torch::arange(6, torch::kFloat).view({2, 3});
  at::Tensor out;
  auto iter = native::make_reduction("last", out, x, 1, /*keepdim=*/false, at::kFloat);
  REQUIRE(native::is_reduce_lastdim(iter));
  native::binary_kernel_reduce_lastdim(iter, [](char* to, const char* from, int64_t n) {
    *reinterpret_cast<float*>(to) = reinterpret_cast<const float*>(from)[n - 1];
  });
  CHECK(out.equal(torch::tensor({2.f, 5.f})));
}

TEST_CASE("an advanced index tells where elements lie", "[native_utils]") {
  const at::Tensor x = torch::arange(24, torch::kFloat).view({2, 3, 4});
  const c10::List<std::optional<at::Tensor>> given({torch::tensor({1, 0}), std::nullopt, torch::tensor({3, 2})});
  const native::AdvancedIndex info = native::make_info(x, given);
  CHECK(info.src.sizes() == Sizes{2, 3});
  CHECK(info.src.strides() == Sizes{0, 4});
  CHECK((info.dims_before == 0 && info.dims_after == 1));
  CHECK(info.indexed_sizes == at::DimVector{2, 4});
  CHECK(info.indexed_strides == at::DimVector{48, 4});
  at::Tensor result = torch::empty({2, 3});
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      const char* address = reinterpret_cast<const char*>(info.src[i].const_data_ptr<float>() + 4 * j);
      for (size_t k = 0; k < 2; ++k) {
        address += info.indices[k][i][0].item<int64_t>() * info.indexed_strides[k];
      }
      result[i][j] = *reinterpret_cast<const float*>(address);
    }
  }
  CHECK(result.equal(x.index({torch::tensor({1, 0}), torch::indexing::Slice(), torch::tensor({3, 2})})));
  CHECK_THROWS_WITH(
      native::make_info(x, c10::List<std::optional<at::Tensor>>({torch::tensor({1, 0}), torch::tensor({1, 0, 1})})),
      Contains("could not be broadcast together with shapes [2], [3]"));
  CHECK(native::get_operator_enum("amax", true) == native::ReductionType::MAX);
  CHECK_THROWS_WITH(native::get_operator_enum("sum", false), Contains("either add or multiply"));
}

TEST_CASE("small helpers", "[native_utils]") {
  CHECK(static_cast<int64_t>(at::padding_mode::constant) == 3);
  CHECK(static_cast<int64_t>(at::SDPBackend::math) == 0);
  CHECK(div_rtn(-7, 2) == -4);
  CHECK(div_rtn(7, -2) == -4);
  CHECK(div_rtn(6, -2) == -3);
  CHECK_FALSE(c10::IsNUMAEnabled());

  const int16_t three = 3;
  CHECK(c10::fetch_and_cast<double>(at::kShort, &three) == 3);
  c10::Half half;
  c10::cast_and_store(at::kHalf, &half, 1.5);
  CHECK(half == c10::Half(1.5f));
  CHECK_THROWS_WITH(c10::fetch_and_cast<float>(at::kQInt8, &three), Contains("dtype QInt8 is not supported"));

  c10::Semaphore permits;
  CHECK_FALSE(permits.tryAcquire());
  std::thread([&] { permits.release(2); }).join();
  permits.acquire();
  CHECK(permits.tryAcquire());

  struct Twice final : torch::IMethod {
    c10::IValue operator()(IValueList args, const IValueMap&) const override {
      return 2 * args.at(0).toInt();
    }
    const std::string& name() const override {
      return name_;
    }
    void setArgumentNames(std::vector<std::string>& names) const override {
      names = {"x"};
    }
    std::string name_ = "twice";
  };
  const Twice twice;
  CHECK(twice(std::vector<c10::IValue>{4}, {}).toInt() == 8);
  CHECK(twice.getArgumentNames() == std::vector<std::string>{"x"});
}
