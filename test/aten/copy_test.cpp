// Copies between layouts, against a walk over all places: every element size, ragged and tiny shapes, conversions, and
// nothing written beside the destination.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/parallel/Parallel.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <string>
#include <vector>

#include "test/support/elements.h"

using at::IntArrayRef;
using at::ScalarType;
using at::Tensor;

namespace {

// Small whole numbers: exact in every dtype, and different among neighbours.
Tensor filled(IntArrayRef sizes, ScalarType dtype) {
  const Tensor t = at::empty(sizes, dtype);
  auto* bytes = static_cast<std::byte*>(t.mutable_data_ptr());
  for (int64_t i = 0; i < t.numel(); ++i) {
    test::write_number(
        dtype, static_cast<double>(dtype == at::kBool ? i * 7 % 3 % 2 : i * 7 % 127), bytes + i * t.itemsize());
  }
  return t;
}

std::complex<double> element(const Tensor& t, const std::vector<int64_t>& at) {
  int64_t offset = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    offset += at[d] * t.stride(static_cast<int64_t>(d));
  }
  return test::read_number(
      t.scalar_type(), static_cast<const std::byte*>(t.const_data_ptr()) + offset * static_cast<int64_t>(t.itemsize()));
}

// Places where two tensors of one shape differ.
int64_t differences(const Tensor& a, const Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  std::vector<int64_t> at(a.dim(), 0);
  int64_t wrong = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    wrong += element(a, at) != element(b, at);
    for (int64_t d = a.dim() - 1; d >= 0 && ++at[d] == a.size(d); --d) {
      at[d] = 0;
    }
  }
  return wrong;
}

struct Case {
  std::vector<int64_t> sizes, order;
};

const Case kCases[] = {
    {{64, 64}, {1, 0}},
    {{128, 256}, {1, 0}},
    {{131, 67}, {1, 0}},
    {{3, 1000}, {1, 0}},
    {{1000, 3}, {1, 0}},
    {{1, 300}, {1, 0}},
    {{17, 5}, {1, 0}},
    {{2, 32}, {1, 0}},
    {{2, 3, 37, 41}, {0, 2, 3, 1}},
    {{2, 37, 41, 3}, {0, 3, 1, 2}},
    {{2, 48, 9, 9}, {0, 2, 3, 1}},
    {{5, 33, 70}, {2, 1, 0}},
    {{5, 33, 70}, {1, 2, 0}},
    {{5, 33, 70}, {0, 2, 1}},
    {{4, 6, 8, 10}, {3, 1, 2, 0}},
    {{0, 70, 70}, {0, 2, 1}},
};

} // namespace

TEST_CASE("contiguous writes down every permutation of every element size", "[copy]") {
  const auto dtype = GENERATE(
      at::kBool, at::kByte, at::kShort, at::kHalf, at::kBFloat16, at::kInt, at::kFloat, at::kDouble, at::kLong,
      at::kComplexFloat, at::kComplexDouble);
  for (const Case& c : kCases) {
    const Tensor from = filled(c.sizes, dtype).permute(c.order);
    const Tensor to = from.contiguous();
    INFO(test::dtype_name(dtype) << " " << from.sizes() << " of strides " << from.strides());
    CHECK(to.is_contiguous());
    CHECK(differences(to, from) == 0);
  }
}

TEST_CASE("copy_ fills a destination of any strides and nothing else", "[copy]") {
  const auto dtype = GENERATE(at::kByte, at::kHalf, at::kFloat, at::kDouble, at::kComplexDouble);
  const Tensor from = filled({150, 90}, dtype).t();
  SECTION("a part of each row") {
    const Tensor whole = at::zeros({90, 170}, dtype);
    const Tensor part = whole.narrow(1, 7, 150);
    part.copy_(from);
    CHECK(differences(part, from) == 0);
    CHECK(whole.narrow(1, 0, 7).count_nonzero().item<int64_t>() == 0);
    CHECK(whole.narrow(1, 157, 13).count_nonzero().item<int64_t>() == 0);
  }
  SECTION("every second element") {
    const Tensor whole = at::zeros({90, 300}, dtype);
    const Tensor part = whole.slice(1, 0, 300, 2);
    part.copy_(from);
    CHECK(differences(part, from) == 0);
    CHECK(whole.slice(1, 1, 300, 2).count_nonzero().item<int64_t>() == 0);
  }
  SECTION("a transposed view") {
    const Tensor whole = at::zeros({150, 90}, dtype);
    const Tensor source = filled({90, 150}, dtype);
    whole.t().copy_(source);
    CHECK(differences(whole.t(), source) == 0);
  }
  SECTION("not itself, transposed") {
    const Tensor square = filled({100, 100}, dtype);
    const Tensor before = square.clone();
    CHECK_THROWS_AS(square.copy_(square.t()), c10::Error);
    CHECK(differences(square, before) == 0);
  }
}

TEST_CASE("a copy of complex numbers to real ones warns", "[copy]") {
  struct Collector : c10::WarningHandler {
    std::vector<std::string> messages;
    void process(const c10::Warning& warning) override {
      messages.push_back(warning.msg());
    }
  } collector;
  const c10::WarningUtils::WarningHandlerGuard guard(&collector);
  const c10::WarningUtils::WarnAlways always;
  const Tensor z = at::complex(at::ones({2}), at::ones({2}));
  z.to(at::kBool);
  z.to(at::kComplexDouble);
  CHECK(collector.messages.empty());
  CHECK(z.to(at::kFloat).equal(at::ones({2})));
  at::zeros({2}, at::kInt).copy_(z);
  const std::string text = "Casting complex values to real discards the imaginary part";
  REQUIRE_FALSE(collector.messages.empty());
  for (const std::string& message : collector.messages) {
    CHECK(message == text);
  }
}

TEST_CASE("transposed copies convert", "[copy]") {
  const auto from_dtype = GENERATE(at::kByte, at::kBFloat16, at::kFloat, at::kLong);
  const auto to_dtype = GENERATE(
      at::kByte, at::kHalf, at::kBFloat16, at::kInt, at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble);
  const Tensor from = filled({131, 67}, from_dtype).t();
  const Tensor to = at::empty({67, 131}, to_dtype);
  to.copy_(from);
  INFO(test::dtype_name(from_dtype) << " to " << test::dtype_name(to_dtype));
  CHECK(differences(to, from) == 0);
}

TEST_CASE("transposed copies do not depend on the number of threads", "[copy]") {
  const int before = at::get_num_threads();
  const Tensor from = filled({3, 400, 500}, at::kFloat).permute({0, 2, 1});
  at::set_num_threads(4);
  const Tensor to = from.contiguous();
  at::set_num_threads(before);
  CHECK(differences(to, from) == 0);
}

TEST_CASE("a repeated element is copied and converted", "[copy]") {
  const auto to_dtype = GENERATE(at::kBool, at::kByte, at::kHalf, at::kFloat, at::kDouble, at::kComplexDouble);
  const Tensor from = filled({37, 1}, at::kFloat).expand({37, 101});
  const Tensor to = at::empty({37, 101}, to_dtype);
  to.copy_(to_dtype == at::kBool ? from.ne(0) : from);
  CHECK(differences(to, to_dtype == at::kBool ? from.ne(0) : from) == 0);
}

TEST_CASE("a column broadcasts along rows of every length", "[copy]") {
  const auto dtype = GENERATE(at::kByte, at::kBFloat16, at::kInt, at::kFloat, at::kDouble, at::kComplexDouble);
  for (const int64_t width : {1, 3, 63, 64, 65, 255, 257, 1000, 5000}) {
    const Tensor column = filled({5, 1}, dtype);
    const Tensor grid = at::ones({5, width}, dtype);
    INFO(test::dtype_name(dtype) << " width " << width);
    CHECK(differences(grid * column, column.expand({5, width})) == 0);
    CHECK(differences(column * grid, column.expand({5, width})) == 0);
  }
}

TEST_CASE("long runs are joined and copied whole", "[aten][copy]") {
  for (const int64_t width : {511, 512, 700, 1'100'001}) {
    const at::Tensor a = at::arange(2 * width, at::kFloat).view({2, width}), b = a + 0.5;
    const at::Tensor joined = at::cat({a, b}, 1);
    CHECK(at::equal(joined.slice(1, 0, width), a));
    CHECK(at::equal(joined.slice(1, width), b));
    CHECK(at::equal(a.clone(), a));
  }
}
