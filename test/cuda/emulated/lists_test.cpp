// Kernels over lists of tensors: foreach and cat.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/cuda/foreach.h>
#include <aten/native/cuda/join.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

using at::Tensor;
using at::native::ForeachFunction;
using at::native::ForeachPart;

namespace {

/// Tensors of several sizes; one begins where wide accesses cannot.
std::vector<Tensor> list_of(at::ScalarType dtype) {
  std::vector<Tensor> result;
  for (const int64_t size : {1, 7, 4099, 16384, 40000}) {
    result.push_back(at::rand({size}, dtype == at::kHalf ? at::kFloat : dtype).add(0.5).to(dtype));
  }
  result.push_back(at::rand({1001}).to(dtype).slice(0, 1));
  for (int i = 0; i < 170; ++i) { // more than a launch takes
    result.push_back(at::rand({3, 5}).to(dtype));
  }
  return result;
}

void check_foreach(
    ForeachFunction function,
    double number,
    at::ScalarType dtype,
    const std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>& expected) {
  const std::vector<Tensor> x = list_of(dtype), y = list_of(dtype), z = list_of(dtype);
  std::vector<Tensor> out;
  std::vector<ForeachPart> parts;
  for (size_t i = 0; i < x.size(); ++i) {
    out.push_back(at::empty_like(x[i]));
    parts.push_back(
        {out[i].mutable_data_ptr(),
         {x[i].const_data_ptr(), y[i].const_data_ptr(), z[i].const_data_ptr()},
         x[i].numel(),
         number});
  }
  at::native::cuda::launch_foreach(function, dtype, parts.data(), parts.size(), nullptr);
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(at::allclose(
        out[i].to(at::kDouble), expected(x[i], y[i], z[i]).to(at::kDouble), dtype == at::kHalf ? 2e-3 : 1e-6, 1e-6));
  }
}

} // namespace

TEST_CASE("functions of whole lists are those of each tensor", "[emulated][foreach]") {
  const auto dtype = GENERATE(at::kFloat, at::kHalf, at::kDouble);
  using F = ForeachFunction;
  check_foreach(F::AddScalar, 0.5, dtype, [](auto& x, auto&, auto&) { return x + 0.5; });
  check_foreach(F::SubScalar, 0.5, dtype, [](auto& x, auto&, auto&) { return x - 0.5; });
  check_foreach(F::AddTensor, 0.25, dtype, [](auto& x, auto& y, auto&) { return x.add(y, 0.25); });
  check_foreach(F::SubTensor, 0.25, dtype, [](auto& x, auto& y, auto&) { return x.sub(y, 0.25); });
  check_foreach(F::MulScalar, 3, dtype, [](auto& x, auto&, auto&) { return x * 3; });
  check_foreach(F::MulTensor, 0, dtype, [](auto& x, auto& y, auto&) { return x * y; });
  check_foreach(F::DivScalar, 3, dtype, [](auto& x, auto&, auto&) { return x / 3; });
  check_foreach(F::DivTensor, 0, dtype, [](auto& x, auto& y, auto&) { return x / y; });
  check_foreach(F::Addcmul, 0.5, dtype, [](auto& x, auto& y, auto& z) { return x.addcmul(y, z, 0.5); });
  check_foreach(F::Addcdiv, 0.5, dtype, [](auto& x, auto& y, auto& z) { return x.addcdiv(y, z, 0.5); });
  check_foreach(F::LerpScalar, 0.7, dtype, [](auto& x, auto& y, auto&) { return x.lerp(y, 0.7); });
  check_foreach(F::LerpTensor, 0, dtype, [](auto& x, auto& y, auto& z) { return x.lerp(y, z); });
  check_foreach(F::Neg, 0, dtype, [](auto& x, auto&, auto&) { return x.neg(); });
  check_foreach(F::Abs, 0, dtype, [](auto& x, auto&, auto&) { return x.abs(); });
  check_foreach(F::Sqrt, 0, dtype, [](auto& x, auto&, auto&) { return x.sqrt(); });
  check_foreach(F::Reciprocal, 0, dtype, [](auto& x, auto&, auto&) { return x.reciprocal(); });
  check_foreach(F::Zero, 0, dtype, [](auto& x, auto&, auto&) { return at::zeros_like(x); });
  check_foreach(F::Copy, 0, dtype, [](auto&, auto& y, auto&) { return y; });
}

TEST_CASE("whole lists are cast", "[emulated][foreach]") {
  const auto narrow = GENERATE(at::kHalf, at::kBFloat16);
  const bool widens = GENERATE(false, true);
  const at::ScalarType from = widens ? narrow : at::kFloat, to = widens ? at::kFloat : narrow;
  const std::vector<Tensor> x = list_of(from);
  std::vector<Tensor> out;
  std::vector<ForeachPart> parts;
  for (const Tensor& t : x) {
    out.push_back(at::empty_like(t, t.options().dtype(to)));
    parts.push_back({out.back().mutable_data_ptr(), {t.const_data_ptr()}, t.numel(), 0});
  }
  at::native::cuda::launch_foreach_cast(from, to, parts.data(), parts.size(), nullptr);
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(out[i].equal(x[i].to(to)));
  }
}

TEST_CASE("a list is multiplied by a number on the device", "[emulated][foreach]") {
  const std::vector<Tensor> x = list_of(at::kFloat);
  const Tensor by = at::full({}, 0.25);
  std::vector<Tensor> out;
  std::vector<ForeachPart> parts;
  for (const Tensor& t : x) {
    out.push_back(at::empty_like(t));
    parts.push_back({out.back().mutable_data_ptr(), {t.const_data_ptr(), by.const_data_ptr()}, t.numel(), 0});
  }
  at::native::cuda::launch_foreach(ForeachFunction::MulByOne, at::kFloat, parts.data(), parts.size(), nullptr);
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(at::equal(out[i], x[i] * 0.25));
  }
}

TEST_CASE("norms of a list are those of each tensor", "[emulated][foreach]") {
  const auto dtype = GENERATE(at::kFloat, at::kHalf, at::kDouble);
  std::vector<Tensor> x = list_of(dtype), out;
  x.push_back(at::rand({200000}).to(dtype).mul(0.01));
  x.push_back(at::full({10}, std::nan("")).to(dtype));
  std::vector<ForeachPart> parts;
  int64_t chunks = 0;
  for (const Tensor& t : x) {
    out.push_back(at::empty({}, dtype));
    parts.push_back({out.back().mutable_data_ptr(), {t.const_data_ptr()}, t.numel(), 0});
    chunks += at::native::cuda::foreach_norm_chunks(t.numel());
  }
  const Tensor sums = at::empty({chunks}, dtype == at::kDouble ? at::kDouble : at::kFloat);
  using at::native::ForeachNorm;
  const std::pair<ForeachNorm, double> norms[] = {
      {ForeachNorm::One, 1}, {ForeachNorm::Two, 2}, {ForeachNorm::Infinity, std::numeric_limits<double>::infinity()}};
  for (const auto& [norm, order] : norms) {
    at::native::cuda::launch_foreach_norm(norm, dtype, parts.data(), parts.size(), sums.mutable_data_ptr(), nullptr);
    for (size_t i = 0; i < x.size(); ++i) {
      const Tensor expected = at::linalg_vector_norm(x[i].to(at::kDouble), order);
      CHECK(at::allclose(
          out[i].to(at::kDouble), expected.to(dtype).to(at::kDouble), dtype == at::kHalf ? 2e-3 : 1e-5, 0, true));
    }
  }
}

TEST_CASE("pieces of rows are put side by side", "[emulated][join]") {
  const int64_t rows = GENERATE(1, 37);
  const int word = GENERATE(1, 2, 4, 8, 16);
  std::vector<Tensor> pieces;
  at::native::cuda::Join join;
  join.pieces = 0;
  join.word = word;
  join.rows = rows;
  int64_t begin = 0;
  for (const int64_t length : {3, 1000, 1, 129}) {
    pieces.push_back(at::randint(0, 256, {rows, length * word}, at::kByte));
    join.piece[join.pieces++] = {pieces.back().const_data_ptr(), length, begin};
    begin += length;
  }
  join.out_length = begin + 5; // of a row there may be more
  const Tensor out = at::zeros({rows, (begin + 5) * word}, at::kByte);
  join.out = out.mutable_data_ptr();
  at::native::cuda::launch_join(join, nullptr);
  pieces.push_back(at::zeros({rows, 5 * word}, at::kByte));
  CHECK(at::equal(out, at::cat(pieces, 1)));
}
