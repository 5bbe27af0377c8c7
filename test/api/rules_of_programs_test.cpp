// Small things that programs written for libtorch rely on.
// Names that are deprecated are called on purpose.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <torch/script.h>
#include <torch/torch.h>

#include <ATen/NumericUtils.h>
#include <ATen/Operators.h>
#include <ATen/Utils.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/SmallVector.h>
#include <c10/util/tempfile.h>
#include <catch2/catch.hpp>
#include <torch/csrc/api/include/torch/torch.h>

#include <unistd.h>

#include <limits>

namespace {

// Without a header of its own: libtorch's bring these.
[[maybe_unused]] void standard_headers(const std::set<int>& numbers) {
  C10_LOG_API_USAGE_ONCE("rules_of_programs");
  std::cout << std::setprecision(3) << std::accumulate(numbers.begin(), numbers.end(), 0) << '\n';
}

} // namespace

TEST_CASE("a tensor goes to another's device and dtype", "[programs]") {
  const at::Tensor x = torch::tensor({1.5, 2.5});
  const at::Tensor other = torch::zeros({1}, torch::kLong);
  const at::Tensor y = x.to(other.device(), other.dtype());
  CHECK(y.scalar_type() == torch::kLong);
  CHECK(y[1].item<int64_t>() == 2);
  CHECK(y.to(other.device(), other.dtype()).is_same(y));
  CHECK_FALSE(y.to(other.device(), other.dtype(), /*non_blocking=*/false, /*copy=*/true).is_same(y));
}

TEST_CASE("nested braces of numbers print as they are written", "[programs]") {
  using torch::detail::TensorDataContainer;
  CHECK(c10::str(TensorDataContainer(1.1)) == "1.1");
  CHECK(c10::str(TensorDataContainer({{1, 2}, {3, 4}})) == "{{1, 2}, {3, 4}}");
  CHECK(c10::str(TensorDataContainer(std::vector<double>{1.1, 2.2})) == "{1.1, 2.2}");
  CHECK(c10::str(TensorDataContainer({{{}}})) == "{{{}}}");
  CHECK_THROWS_AS(TensorDataContainer(1.1).init_list(), c10::Error);
  CHECK_THROWS_AS(TensorDataContainer({1.1, 2.2}).scalar(), c10::Error);
  CHECK_THROWS_AS(TensorDataContainer({1.1, 2.2}).tensor(), c10::Error);
}

TEST_CASE("makeArrayRef of a small vector or a view is a view of its elements", "[programs]") {
  const c10::SmallVector<int, 2> values = {1, 2, 3};
  CHECK(c10::makeArrayRef(values).equals({1, 2, 3}));
  const c10::SmallVectorImpl<int>& base = values;
  CHECK(c10::makeArrayRef(base).size() == 3);
  CHECK(c10::makeArrayRef(c10::ArrayRef<int>(values)).size() == 3);
}

TEST_CASE("an operator's function is named by a macro", "[programs]") {
  at::Tensor (*const sine)(const at::Tensor&) = &ATEN_FN(sin);
  CHECK(sine(torch::zeros({1})).item<float>() == 0);
  CHECK(ATEN_FN2(mul, Tensor)(torch::full({1}, 3.), torch::full({1}, 2.)).item<float>() == 6);
}

TEST_CASE("a borrowed value is the value itself", "[programs]") {
  const c10::IValue value(3);
  const auto borrowed = c10::MaybeOwned<c10::IValue>::borrowed(value);
  CHECK(&*borrowed == &value);
  CHECK(c10::MaybeOwned<c10::IValue>::owned(c10::IValue(4))->toInt() == 4);
}

TEST_CASE("inference mode has a name beside the gradient modes", "[programs]") {
  torch::autograd::InferenceMode guard;
  CHECK(torch::zeros({1}).is_inference());
}

TEST_CASE("numbers of all dtypes may be asked for NaN and infinity", "[programs]") {
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(at::_isnan(inf - inf));
  CHECK(at::_isnan(c10::Half(inf - inf)));
  CHECK(at::_isnan(c10::complex<double>(0, inf - inf)));
  CHECK_FALSE(at::_isnan(3));
  CHECK(at::_isinf(c10::BFloat16(inf)));
  CHECK(at::_isinf(c10::complex<float>(-inf, 0)));
  CHECK_FALSE(at::_isinf(2.0));
  CHECK(at::check_intlist<2>({7}, "size", 1) == std::array<int64_t, 2>{7, 7});
  CHECK_THROWS_AS(at::check_intlist<2>({1, 2, 3}, "size", 1), c10::Error);
}

TEST_CASE("temporary files and folders go with their objects", "[programs]") {
  std::string file_name, folder_name;
  {
    c10::TempFile file = c10::make_tempfile();
    c10::TempDir folder = c10::make_tempdir();
    file_name = file.name;
    folder_name = folder.name;
    const c10::TempFile moved = std::move(file);
    CHECK(access(file_name.c_str(), R_OK | W_OK) == 0);
    CHECK(access(folder_name.c_str(), X_OK) == 0);
  }
  CHECK(access(file_name.c_str(), F_OK) != 0);
  CHECK(access(folder_name.c_str(), F_OK) != 0);
}

TEST_CASE("indexing refuses what libtorch refuses, in its words", "[programs]") {
  using Catch::Matchers::Contains;
  const at::Tensor x = torch::zeros({2, 5, 10});
  CHECK_THROWS_WITH(x.index({0, 5}), Contains("index 5 is out of bounds for dimension 1 with size 5"));
  CHECK_THROWS_WITH(
      x.index({"...", torch::tensor(12)}), Contains("index 12 is out of bounds for dimension 1 with size 10"));
  CHECK_THROWS_WITH(torch::tensor(10).index({0}), Contains("invalid index of a 0-dim tensor"));
  CHECK_THROWS_WITH(torch::tensor(10).index({0, 0}), Contains("too many indices for tensor of dimension 0"));
  CHECK_THROWS_AS(x.index({}), c10::IndexError);
  at::Tensor y = x.clone();
  CHECK_THROWS_AS(y.index_put_({}, 1), c10::IndexError);
  CHECK_THROWS_AS(y.index_put_({}, x), c10::IndexError);
}

TEST_CASE("leading dimensions of size 1 of a value do not count where it is written", "[programs]") {
  at::Tensor x = torch::zeros({2, 3});
  x.index_put_({true}, torch::ones({1, 1, 1, 2, 3}));
  CHECK(x.sum().item<float>() == 6);
  x.index_put_({torch::tensor({0, 1})}, torch::full({1, 1, 2, 3}, 2.));
  CHECK(x.sum().item<float>() == 12);
  x.index_put_({0}, torch::arange(3.).view({1, 1, 3}));
  CHECK(x[0][2].item<float>() == 2);
  x.index_put_({0, 1}, torch::ones({1, 1}));
  CHECK(x[0][1].item<float>() == 1);
}

TEST_CASE("a mask of bytes warns", "[programs]") {
  struct Collect : c10::WarningHandler {
    void process(const c10::Warning& warning) override {
      text += warning.msg();
    }
    std::string text;
  } warnings;
  const at::Tensor mask = torch::tensor({1, 0}, torch::kByte);
  {
    c10::WarningUtils::WarningHandlerGuard guard(&warnings);
    CHECK(torch::ones({2, 3}).index({mask}).size(0) == 1);
  }
  CHECK_THAT(warnings.text, Catch::Matchers::Contains("indexing with dtype torch.uint8 is now deprecated"));
}

TEST_CASE("literals that make no tensor say so", "[programs]") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(
      torch::tensor({{{2, 3, 4}, {{5, 6}, {7}}}}),
      Contains("Expected all sub-lists to have sizes: 2 (e.g. {5, 6}), but got sub-list {7} with sizes: 1"));
  const std::vector<c10::complex<float>> values = {{1, 2}, {3, 4}};
  CHECK_THROWS_WITH(
      torch::tensor(values, torch::kFloat),
      Contains("can not do torch::tensor(complex, dtype=non-complex) because complex"));
  CHECK_THROWS_WITH(at::tensor(values, torch::kFloat), Contains("\"tensor_cpu\" not implemented for 'Float'"));
  CHECK(torch::tensor(values, torch::kComplexDouble).is_complex());
}

TEST_CASE("Hardtanh wants its bounds apart", "[programs]") {
  using torch::nn::HardtanhOptions;
  CHECK_THROWS_AS(torch::nn::Hardtanh(HardtanhOptions().min_val(0.42).max_val(0.42)), c10::Error);
  CHECK_NOTHROW(torch::nn::Hardtanh(HardtanhOptions().min_val(0.4).max_val(0.42)));
}

TEST_CASE("interpolation to the exactly nearest takes align_corners, which changes nothing", "[programs]") {
  namespace F = torch::nn::functional;
  const auto options = F::InterpolateFuncOptions().size(std::vector<int64_t>{3, 5}).mode(torch::kNearestExact);
  const at::Tensor x = torch::arange(4.).view({1, 1, 2, 2});
  CHECK(torch::equal(
      F::interpolate(x, F::InterpolateFuncOptions(options).align_corners(false)), F::interpolate(x, options)));
  CHECK_THROWS_AS(
      F::interpolate(x, F::InterpolateFuncOptions(options).mode(torch::kNearest).align_corners(false)), c10::Error);
}

TEST_CASE("data<T>() is data_ptr<T>(), and data() a tensor", "[programs]") {
  const at::Tensor x = torch::arange(3, torch::kFloat);
  const float* const elements = x.data<float>();
  CHECK(elements == x.data_ptr<float>());
  CHECK(x.data().data_ptr() == elements);
  CHECK_THROWS_AS(x.data<double>(), c10::Error);
}

TEST_CASE("m() calls a function on the tensor, and its result goes on", "[programs]") {
  const auto scaled = [](const at::Tensor& x, double by) { return x * by; };
  const at::Tensor x = torch::tensor({-1.0, 2.0});
  CHECK(at::equal(x.m(scaled, 3.0).m([](const at::Tensor& y) { return y.relu(); }), torch::tensor({0.0, 6.0})));
  CHECK(x.m([](const at::Tensor& y) { return y.dim(); }) == 1);
}

TEST_CASE("an optional is made in place", "[programs]") {
  const std::optional<std::vector<int>> values(c10::in_place, 3, 7);
  CHECK(*values == std::vector<int>{7, 7, 7});
}

TEST_CASE("standard containers print their elements", "[programs]") {
  std::ostringstream out;
  out << std::vector<int64_t>{2, 3} << '|' << std::map<int, std::string>{{1, "a"}, {2, "b"}} << '|'
      << std::vector<double>{} << '|' << std::set<std::string>{"x"} << '|' << std::vector<int>(101, 7);
  const std::string text = out.str();
  CHECK(text.starts_with("2 3|(1, a) (2, b)||x|7 7"));
  CHECK(text.ends_with(" 7 ..."));
  out.str("");
  out << std::vector<torch::Tensor>{torch::ones({1})};
  CHECK(out.str() == " 1\n[ CPUFloatType{1} ]");
}
