// A program may have functions of its own with the names of Tensor's methods. Argument-dependent lookup finds at::NAME
// beside them, so at:: must hold only the functions that libtorch has there: otherwise this file does not compile.
#include <torch/torch.h>

// Before any other header: what torch.h itself brings.
static_assert(sizeof(abs(1.5)) == sizeof(double), "abs without std:: must not be C's, which drops the fraction");
static_assert(sizeof(std::ifstream) > 0 && sizeof(torch::RegisterOperators) > 0);

#include <catch2/catch.hpp>

#include <vector>

namespace program {

double item(const at::Tensor& t) {
  return t.item<double>() + 1;
}
std::vector<double> values(const at::Tensor& t) {
  return {t.data_ptr<double>(), t.data_ptr<double>() + t.numel()};
}
at::Tensor view(const at::Tensor& t, at::IntArrayRef size) {
  return t.view(size) + 1;
}
at::Tensor expand(const at::Tensor& t, at::IntArrayRef size, bool implicit = false) {
  return t.expand(size, implicit) + 1;
}
at::Tensor repeat(const at::Tensor& t, at::IntArrayRef repeats) {
  return t.repeat(repeats) + 1;
}
at::Tensor contiguous(const at::Tensor& t) {
  return t.contiguous() + 1;
}
at::Tensor to(const at::Tensor& t, at::ScalarType dtype) {
  return t.to(dtype) + 1;
}
at::Tensor& add_(at::Tensor& t, const at::Tensor& other) {
  return t.add_(other).add_(1);
}
at::Tensor& copy_(at::Tensor& t, const at::Tensor& source) {
  return t.copy_(source).add_(1);
}

} // namespace program

using namespace program;

TEST_CASE("a program's own functions are not hidden by those of at::", "[names]") {
  at::Tensor x = torch::arange(4, torch::kDouble);
  CHECK(item(x[2]) == 3);
  CHECK(values(x) == std::vector<double>{0, 1, 2, 3});
  CHECK(view(x, {2, 2})[1][1].item<double>() == 4);
  CHECK(expand(x, {2, 4})[1][3].item<double>() == 4);
  CHECK(repeat(x, {2}).numel() == 8);
  CHECK(contiguous(x)[0].item<double>() == 1);
  CHECK(to(x, torch::kFloat)[0].item<float>() == 1);
  CHECK(add_(x, torch::ones({4}, torch::kDouble))[0].item<double>() == 2);
  CHECK(copy_(x, torch::zeros({4}, torch::kDouble))[3].item<double>() == 1);
}

namespace {

// What libtorch declares in namespace torch alone is found, and nothing is found twice.
at::ScalarType with_using_directives() {
  using namespace torch;
  using namespace torch::indexing;
  const Tensor x = torch::zeros({2}, TensorOptions(kBool).device(kCPU));
  const std::vector<Dtype> dtypes = {kBFloat16, kComplexFloat, kComplexDouble, kFloat8_e5m2, kFloat32, kU16, kByte};
  return x.index({Slice(None, 1)}).scalar_type() == kBool ? dtypes.back() : dtypes.front();
}

} // namespace

TEST_CASE("dtypes are named without torch:: after a using directive", "[names]") {
  CHECK(with_using_directives() == torch::kUInt8);
}
