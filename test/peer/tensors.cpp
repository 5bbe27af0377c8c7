// Tensors as programs make, index, convert, read and print them.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/TensorUtils.h>
#include <c10/util/irange.h>
#include <torch/torch.h>

#include <array>
#include <numeric>
#include <vector>

#include "report.h"

using namespace torch::indexing;

namespace {

void make() {
  std::cout << torch::zeros({2, 3}) << "\n" << torch::ones({2}, torch::kInt) << "\n";
  std::cout << torch::full({2, 2}, 1.5) << "\n"
            << torch::eye(3, torch::kLong) << "\n"
            << torch::arange(0, 10, 2.5) << "\n";
  std::cout << torch::tensor({{1, 2}, {3, 4}}) << "\n" << torch::tensor({1.5, 2.5}) << "\n" << torch::tensor(3) << "\n";
  std::cout << torch::tensor({true, false}) << "\n" << torch::linspace(0, 1, 5, torch::kDouble) << "\n";
  std::cout << torch::tensor({c10::complex<float>(1, 2), c10::complex<float>(-1, 0)}) << "\n";
  std::cout << torch::tensor({1e-5, 1.0, 1e6}) << "\n" << torch::tensor({NAN, INFINITY, -INFINITY, 1.f}) << "\n";
  std::cout << torch::arange(24).view({2, 3, 4}) << "\n"
            << torch::arange(40, torch::kFloat).view({2, 20}) * 1.25 << "\n";
  std::cout << torch::empty({0, 3}) << "\n" << torch::Tensor() << "\n" << torch::ones({2}, torch::kHalf) << "\n";
  std::cout << torch::ones({2, 2}, torch::requires_grad()) << "\n";

  const auto options =
      torch::TensorOptions().dtype(torch::kFloat64).layout(torch::kStrided).device(torch::kCPU).requires_grad(true);
  report::exact("options", options);
  report::exact("default options", torch::TensorOptions());
  report::shape("with options", torch::zeros({2, 3}, options));
  report::shape("like", torch::zeros_like(torch::ones({2}, torch::kByte), torch::kFloat));
  report::shape("new_full", torch::ones({2}).new_full({3}, 7, torch::dtype(torch::kShort)));
  report::shape("from vector", torch::tensor(std::vector<double>{1, 2, 3}));
  report::shape("from floats", torch::tensor(std::vector<float>{1, 2, 3}));
  report::shape("from array", torch::tensor(at::ArrayRef<int>({1, 2, 3})));
  report::shape("from a byte", torch::tensor(uint8_t{3}));
  report::shape("from shorts", torch::tensor({short{1}, short{2}}));
  report::shape("from a complex number", torch::tensor(c10::complex<double>(1, 2)));
  report::shape("from ints", torch::tensor(std::vector<int>{1, 2}));
  report::shape("range", torch::range(1, 4, torch::kLong));
  report::exact("default dtype", torch::get_default_dtype());
  report::exact("device", torch::Device("cpu"));
  report::exact("device of index", torch::Device(torch::kCUDA, 1));
  report::exact("cuda", torch::cuda::is_available());
  report::exact("dtypes", c10::toString(torch::kBFloat16));
  report::exact("size of", torch::elementSize(torch::kComplexDouble));
  report::exact("promoted", c10::toString(torch::promote_types(torch::kInt, torch::kHalf)));
  report::exact("result type", torch::result_type(torch::ones({1}, torch::kInt), torch::Scalar(2.5)));
}

void blobs() {
  std::vector<float> data(12);
  std::iota(data.begin(), data.end(), 0.f);
  const auto view = torch::from_blob(data.data(), {3, 4}, torch::kFloat32);
  const auto strided = torch::from_blob(data.data(), {4, 3}, {1, 4}, torch::TensorOptions(torch::kFloat));
  data[5] = 50;
  std::cout << view << "\n" << strided << "\n";
  int deleted = 0;
  {
    const auto owned = torch::from_blob(
                           data.data(), {2}, [&deleted](void*) { ++deleted; }, torch::kFloat)
                           .clone();
    report::exact("deleted", deleted);
    report::exact("sum", owned.sum().item<float>());
  }
  float* pointer = view.data_ptr<float>();
  pointer[0] = -1;
  report::exact("same memory", data[0]);
  report::exact("bytes", view.nbytes());
  report::exact("element size", view.element_size());
  std::vector<float> copied(view.data_ptr<float>(), view.data_ptr<float>() + view.numel());
  report::exact("copied", copied.back());
  report::exact("const", view.const_data_ptr<float>()[1]);
  report::exact("sizes", view.sizes().vec().size());
  report::exact("storage", view.storage().nbytes());
}

void index() {
  const auto t = torch::arange(60).reshape({3, 4, 5});
  report::exact("slice", t.index({Slice(), 1, Slice(None, None, 2)}));
  report::exact("ellipsis", t.index({"...", 0}));
  report::exact("none", t.index({Ellipsis, None, 2}).sizes());
  report::exact("tensor index", t.index({torch::tensor({0, 2}), torch::tensor({1, 3})}));
  report::exact("mask", t.index({t % 7 == 0}));
  report::exact("mixed", t.index({torch::tensor({0, 2}), Slice(1, 3), 0}));
  report::exact("bool", t.index({true}).sizes());
  auto u = torch::zeros({3, 3});
  u.index_put_({Slice(), 0}, 1);
  u.index_put_({1}, torch::tensor({4., 5., 6.}));
  u.index_put_({torch::tensor({0, 2}), torch::tensor({1, 2})}, torch::tensor({7., 8.}));
  u[2][1] = 9;
  u[0] += 10;
  std::cout << u << "\n";
  report::exact("select", t.select(1, 2));
  report::exact("narrow", t.narrow(2, 1, 2).sizes());
  report::exact("item", t[2][3][4].item<int64_t>());
  report::exact("item scalar", t[0][0][1].item().toLong());
  report::exact("unbind", t.unbind(0).size());
  report::exact("chunk", t.chunk(2, 2)[1].sizes());
  report::exact("split", t.split(3, 2)[1].sizes());
  report::exact("masked_select", t.masked_select(t > 55));
  report::exact("where", torch::where(t > 55, t, torch::zeros_like(t)).sum().item<int64_t>());
  report::exact("nonzero", torch::nonzero(torch::tensor({0, 3, 0, 4})));
  report::exact("gather", t[0].gather(1, torch::tensor({{0, 1}, {2, 3}, {4, 0}, {1, 1}})));
  report::exact("scatter", torch::zeros({2, 3}).scatter_(1, torch::tensor({{0}, {2}}), 5));
  report::exact("index_select", t.index_select(1, torch::tensor({3, 0})).select(0, 0));
  report::throws("index out of range", [&] { return t[3]; });
  report::throws("too many indices", [&] { return t.index({0, 0, 0, 0}); });
  const auto accessor = t.accessor<int64_t, 3>();
  int64_t sum = 0;
  for (const auto i : c10::irange(accessor.size(0))) {
    for (int64_t j = 0; j < accessor.size(1); j++) {
      sum += accessor[i][j][4];
    }
  }
  report::exact("accessor", sum);
  auto packed = u.packed_accessor32<float, 2>();
  report::exact("packed", packed[0][0] + packed.size(0) + packed.stride(0));
  report::throws("accessor of another type", [&] { return t.accessor<float, 3>(); });
}

void convert() {
  const auto t = torch::tensor({-1.7, 0.2, 2.5, 3.5});
  report::exact("to int", t.to(torch::kInt));
  report::exact("to bool", t.toType(torch::kBool));
  report::exact("rounded", t.round());
  report::exact("byte", t.abs().to(torch::kU8));
  report::exact("type", t.type());
  report::exact("to string", t.toString());
  report::exact("dtype", t.dtype());
  report::exact("scalar type", t.scalar_type());
  report::exact("is float", t.dtype() == torch::kFloat32);
  report::exact("name", t.dtype().name());
  report::shape("permuted", torch::rand({1, 2, 3, 4}).permute({0, 2, 3, 1}));
  report::shape("contiguous", torch::rand({2, 3}).t().contiguous());
  report::shape("channels last", torch::rand({1, 2, 3, 4}).contiguous(torch::MemoryFormat::ChannelsLast));
  report::shape("viewed", torch::rand({4, 6}).view({-1, 3}));
  report::shape("squeezed", torch::rand({1, 3, 1}).squeeze());
  report::shape("unsqueezed", torch::rand({3}).unsqueeze(-1).expand({3, 4}));
  report::shape("flattened", torch::rand({2, 3, 4}).flatten(1));
  report::shape("to device", torch::rand({2}).to(torch::Device(torch::kCPU), torch::kDouble));
  report::shape("like other", torch::rand({2}).to(torch::ones({1}, torch::kHalf)));
  report::shape("dtype of other", torch::rand({2}).to(torch::ones({1}, torch::kShort).dtype()));
  report::throws("bad view", [] { return torch::rand({2, 3}).view({4}); });
  report::throws("bad item", [] { return torch::rand({2}).item<float>(); });
  report::throws("bad sum", [] { return torch::rand({2, 3}) + torch::rand({2, 4}); });
  report::throws("bad data_ptr", [&] { return t.data_ptr<int>(); });
}

void compute() {
  const auto a = torch::arange(1, 7, torch::kFloat).view({2, 3});
  const auto b = a.t() / 2;
  report::exact("mm", torch::mm(a, b));
  report::exact("matmul", a.matmul(b[0].slice(0, 0, 1).expand({3})));
  report::exact("einsum", torch::einsum("ij,jk->k", {a, b}));
  report::exact("sum", a.sum(1, /*keepdim=*/true));
  report::exact("sum of dims", a.sum({0, 1}));
  report::exact("mean", a.mean({0}));
  const auto [values, indices] = a.max(1);
  report::exact("max", values);
  report::exact("argmax", indices);
  report::exact("max of all", torch::max(a).item<float>());
  torch::Tensor top, order;
  std::tie(top, order) = torch::topk(a, 2, 1, true, true);
  report::exact("topk", order);
  report::exact("sort", std::get<1>(torch::sort(torch::tensor({3, 1, 2}), 0, true)));
  report::exact("cat", torch::cat({a, a * 10}, 1));
  report::exact("stack", torch::stack({a[0], a[1]}, 1));
  report::exact("clamp", a.clamp(2, 4));
  report::exact("norm", a.norm());
  report::exact("norm of dim", a.norm(2, 1));
  report::exact("std", a.std(0, false));
  report::exact("cumsum", a.cumsum(1));
  report::exact("flip", a.flip({0, 1}));
  report::exact("roll", a.roll(1, 1));
  report::exact("repeat", torch::tensor({1, 2}).repeat({2, 2}));
  report::exact("repeat_interleave", torch::tensor({1, 2}).repeat_interleave(2));
  report::exact("meshgrid", torch::meshgrid({torch::arange(2), torch::arange(3)}, "ij")[1]);
  report::exact("tril", torch::tril(torch::ones({3, 3})));
  report::exact("one_hot", torch::one_hot(torch::tensor({0, 2}), 3));
  report::exact("unique", std::get<0>(torch::_unique(torch::tensor({3, 1, 3}))));
  report::exact("bincount", torch::bincount(torch::tensor({0, 1, 1, 3})));
  report::exact("equal", torch::equal(a, a.clone()));
  report::exact("allclose", torch::allclose(a, a + 1e-7));
  report::exact("any", (a > 5).any().item<bool>());
  report::exact("logical", (a > 2) & ~(a > 4) | (a == 6));
  report::exact("arithmetic", 1 - a / 2 + 2 * a.pow(2) - -a);
  report::exact("integers", torch::tensor({7, -7}) / 2);
  report::exact("floor", torch::div(torch::tensor({7, -7}), 2, "floor"));
  report::exact("remainder", torch::tensor({7, -7}) % 3);
  auto in_place = a.clone();
  in_place.add_(1).mul_(2).sub_(a, 0.5).clamp_(0, 10);
  in_place /= 3;
  report::exact("in place", in_place);
  auto out = torch::empty({0});
  torch::add_out(out, a, a);
  report::exact("out", out);
  report::close("softmax", torch::softmax(a, 1));
  report::close("log_softmax", a.log_softmax(-1));
  report::close("exp", torch::exp(a.neg()).sqrt().sigmoid().tanh());
}

template <typename scalar_t>
void scale(torch::Tensor tensor, double factor) {
  auto* data = tensor.data_ptr<scalar_t>();
  at::parallel_for(0, tensor.numel(), 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      data[i] = static_cast<scalar_t>(data[i] * factor);
    }
  });
}

void dispatch() {
  for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kInt}) {
    auto t = torch::arange(6).to(dtype);
    AT_DISPATCH_ALL_TYPES_AND(torch::kHalf, t.scalar_type(), "scale", [&] { scale<scalar_t>(t, 2.5); });
    report::exact("scaled", t);
  }
  report::throws("dtype without kernel", [] {
    auto t = torch::ones({1}, torch::kInt);
    AT_DISPATCH_FLOATING_TYPES(t.scalar_type(), "scale", [&] { scale<scalar_t>(t, 2.5); });
  });
  report::throws("check", [] { TORCH_CHECK(false, "never ", 1); });
  report::throws("error", [] { AT_ERROR("old style"); });
  try {
    TORCH_CHECK_VALUE(1 > 2, "what holds: ", 1, " > ", 2);
  } catch (const c10::ValueError& error) {
    report::exact("message", error.what_without_backtrace());
  }
  report::exact("threads", at::get_num_threads());
}

} // namespace

int main() {
  torch::manual_seed(1);
  make();
  blobs();
  index();
  convert();
  compute();
  dispatch();
  return 0;
}
