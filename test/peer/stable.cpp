// Operators written against the stable interface alone: kernels with boxed arguments, lists, optionals, texts, devices,
// errors, memory of one's own, and calls of other operators by name.
#include <torch/torch.h>

#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/device.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/stableivalue_conversions.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/Dispatch_v2.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/core/TensorAccessor.h>
#include <torch/headeronly/util/Exception.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "report.h"

namespace steady {

using torch::headeronly::HeaderOnlyArrayRef;
using torch::headeronly::IntHeaderOnlyArrayRef;
using torch::headeronly::ScalarType;
using torch::stable::Tensor;

template <typename T>
using Matrix = torch::headeronly::HeaderOnlyTensorAccessor<T, 2>;
template <typename T>
Matrix<T> matrix(Tensor t) {
  return Matrix<T>(reinterpret_cast<T*>(t.data_ptr()), t.sizes().data(), t.strides().data());
}

Tensor overdrive(const Tensor& waveform, double gain) {
  STD_TORCH_CHECK(waveform.is_cpu() && waveform.dim() == 2, "overdrive: a matrix on the CPU is needed");
  Tensor input = torch::stable::contiguous(waveform), output = torch::stable::empty_like(input);
  THO_DISPATCH_V2(
      waveform.scalar_type(), "overdrive", AT_WRAP([&]() {
        const auto in = matrix<scalar_t>(input);
        auto out = matrix<scalar_t>(output);
        torch::stable::parallel_for(0, input.size(0), 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            for (int64_t k = 0; k < input.size(1); ++k) {
              const auto x = static_cast<scalar_t>(in[i][k] * gain);
              out[i][k] = x < -1 ? scalar_t(-2) / 3 : x > 1 ? scalar_t(2) / 3 : x - x * x * x / 3;
            }
          }
        });
      }),
      AT_EXPAND(AT_FLOATING_TYPES));
  return output;
}

std::tuple<Tensor, Tensor, int64_t> parts(
    const Tensor& self, std::optional<Tensor> weight, std::vector<int64_t> dims, bool flag, std::string mode) {
  Tensor sum = torch::stable::sum(self, dims, flag);
  Tensor scaled = weight.has_value() ? torch::stable::matmul(self, *weight) : torch::stable::clone(self);
  return {sum, scaled, static_cast<int64_t>(mode.size())};
}

Tensor stack_all(std::vector<Tensor> tensors, std::optional<double> fill) {
  Tensor out = torch::stable::new_zeros(tensors[0], {static_cast<int64_t>(tensors.size()), tensors[0].size(0)});
  if (fill) {
    torch::stable::fill_(out, *fill);
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    Tensor row = torch::stable::select(out, 0, static_cast<int64_t>(i));
    torch::stable::copy_(row, tensors[i]);
  }
  return out;
}

Tensor add_by_name(Tensor a, Tensor b) {
  std::array<StableIValue, 3> stack{
      torch::stable::detail::from(a), torch::stable::detail::from(b), torch::stable::detail::from(int64_t{0})};
  TORCH_ERROR_CODE_CHECK(torch_call_dispatcher("steady::weighted", "", stack.data(), TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}

Tensor weighted(Tensor a, Tensor b, int64_t power) {
  Tensor c = torch::stable::subtract(a, b, -2.0);
  return power ? torch::stable::transpose(c, 0, 1) : c;
}

void grow(Tensor self) {
  torch::stable::fill_(self, 7);
}

std::vector<Tensor> views(const Tensor& self, IntHeaderOnlyArrayRef at) {
  std::vector<Tensor> all;
  for (const int64_t i : at) {
    Tensor mutable_self = self;
    all.push_back(torch::stable::narrow(mutable_self, 0, i, 1));
  }
  return all;
}

Tensor dtype_of(const Tensor& self, ScalarType dtype, torch::stable::Device device) {
  return torch::stable::to(self, dtype, std::nullopt, device);
}

Tensor fails(const Tensor& self) {
  return torch::stable::matmul(self, self);
}

} // namespace steady

STABLE_TORCH_LIBRARY(steady, m) {
  m.def("overdrive(Tensor waveform, float gain) -> Tensor");
  m.def("parts(Tensor self, Tensor? weight, int[] dims, bool flag=False, str mode=\"abc\") -> (Tensor, Tensor, int)");
  m.def("stack_all(Tensor[] tensors, float? fill=None) -> Tensor");
}
STABLE_TORCH_LIBRARY_FRAGMENT(steady, m) {
  m.def("weighted(Tensor a, Tensor b, int power) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("add_by_name(Tensor a, Tensor b) -> Tensor");
  m.def("grow(Tensor(a!) self) -> ()");
  m.def("views(Tensor self, int[] at) -> Tensor[]");
  m.def("dtype_of(Tensor self, ScalarType dtype, Device device) -> Tensor");
  m.def("fails(Tensor self) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(steady, CPU, m) {
  m.impl("overdrive", TORCH_BOX(&steady::overdrive));
  m.impl("parts", TORCH_BOX(&steady::parts));
  m.impl("stack_all", TORCH_BOX(&steady::stack_all));
}
STABLE_TORCH_LIBRARY_IMPL(steady, CompositeExplicitAutograd, m) {
  m.impl("weighted", TORCH_BOX(&steady::weighted));
  m.impl("add_by_name", TORCH_BOX(&steady::add_by_name));
  m.impl("grow", TORCH_BOX(&steady::grow));
  m.impl("views", TORCH_BOX(&steady::views));
  m.impl("dtype_of", TORCH_BOX(&steady::dtype_of));
  m.impl("fails", TORCH_BOX(&steady::fails));
}

using namespace report;

std::vector<c10::IValue> call(const char* name, std::vector<c10::IValue> stack) {
  c10::Dispatcher::singleton().findSchemaOrThrow((std::string("steady::") + name).c_str(), "").callBoxed(stack);
  return stack;
}

void functions() {
  using torch::stable::Device;
  using torch::stable::Tensor;
  namespace stable = torch::stable;
  std::array<float, 6> numbers{5, 1, 4, 2, 3, 0};
  int deleted = 0;
  {
    Tensor t = stable::from_blob(
        numbers.data(), {2, 3}, {3, 1}, Device(torch::headeronly::DeviceType::CPU),
        torch::headeronly::ScalarType::Float, [&](void*) { ++deleted; });
    exact("sizes", t.sizes().vec());
    exact("strides", t.strides().vec());
    exact("dim", t.dim());
    exact("numel", t.numel());
    exact("dtype", t.scalar_type());
    exact("layout", static_cast<int>(t.layout()));
    exact("device", t.device() == Device("cpu"));
    exact("cuda", t.is_cuda());
    exact("element", t.element_size());
    exact("contiguous", stable::transpose(t, 0, 1).is_contiguous());
    exact("same data", t.mutable_data_ptr<float>() == numbers.data() && t.const_data_ptr<float>() == numbers.data());
    throws("wrong type", [&] { t.const_data_ptr<double>(); });
    exact("defined", Tensor().defined());
    const auto values = [](const Tensor& x) {
      Tensor flat = stable::contiguous(stable::to(x, torch::headeronly::ScalarType::Double));
      return std::vector<double>(flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel());
    };
    auto [sorted, order] = stable::sort(t, -1, true);
    exact("sorted", values(sorted));
    exact("order", values(order));
    exact("amax", values(stable::amax(t, 1)));
    exact("sum", values(stable::sum(t)));
    exact("sum of rows", values(stable::sum(t, torch::headeronly::IntHeaderOnlyArrayRef({int64_t{1}}), true)));
    exact("pad", values(stable::pad(t, {1, 0}, "constant", 9)));
    exact("permute", values(stable::permute(t, {1, 0})));
    exact("reshape", stable::reshape(t, {3, -1}).sizes().vec());
    exact("view", stable::view(t, {6}).sizes().vec());
    exact("flatten", stable::flatten(t).sizes().vec());
    exact("unsqueeze", stable::squeeze(stable::unsqueeze(t, 0), 0).sizes().vec());
    exact("full", values(stable::full({2}, 1.5)));
    exact("empty", stable::empty({2, 0}, torch::headeronly::ScalarType::Long).scalar_type());
    exact("index", values(stable::index_select(t, 1, order.size(0) ? stable::select(order, 0, 0) : order)));
    exact("divided", values(stable::floor_divide(t, stable::full({1}, 2))));
    Tensor longs = stable::to(t, torch::headeronly::ScalarType::Long);
    exact("and", values(stable::bitwise_and(longs, stable::full({1}, 3, torch::headeronly::ScalarType::Long))));
    exact(
        "shifted",
        values(stable::bitwise_left_shift(longs, stable::full({1}, 1, torch::headeronly::ScalarType::Long))));
    exact("zeros", values(stable::zero_(longs)));
    exact("pinned", stable::is_pinned(t));
    exact("requires", t.set_requires_grad(true).numel());
    throws("matmul", [&] { stable::matmul(t, t); });
    throws("device", [] { Device("nothing"); });
    throws("index", [] { Device(torch::headeronly::DeviceType::CPU, 3); });
  }
  exact("deleted", deleted);
}

int main() {
  functions();
  torch::manual_seed(0);
  const auto x = torch::randn({2, 3});
  for (const char* name : {"overdrive", "parts", "stack_all", "weighted", "views", "dtype_of"}) {
    exact(name, c10::Dispatcher::singleton().findSchemaOrThrow((std::string("steady::") + name).c_str(), "").schema());
  }
  close("overdrive", call("overdrive", {x, 1.7})[0].toTensor());
  close("in double", call("overdrive", {x.to(torch::kDouble).t(), 1.7})[0].toTensor());
  throws("no such dtype", [&] { call("overdrive", {x.to(torch::kInt), 1.0}); });
  auto results = call("parts", {x, torch::ones({3, 2}), std::vector<int64_t>{0, 1}, true, std::string("mode")});
  close("sum", results[0].toTensor());
  close("product", results[1].toTensor());
  exact("length", results[2].toInt());
  close("without", call("parts", {x, c10::IValue(), std::vector<int64_t>{1}, false, std::string("")})[1].toTensor());
  close("stacked", call("stack_all", {std::vector<torch::Tensor>{x[0], x[1], x[0]}, c10::IValue()})[0].toTensor());
  const auto typed = c10::Dispatcher::singleton()
                         .findSchemaOrThrow("steady::stack_all", "")
                         .typed<at::Tensor(at::TensorList, std::optional<double>)>();
  close("unboxed", typed.call(std::vector<at::Tensor>{x[0]}, 3.0));
  close("by name", call("add_by_name", {x, x})[0].toTensor());
  auto grown = torch::zeros({2});
  exact("nothing", call("grow", {grown}).size());
  close("grown", grown);
  const auto views = call("views", {x, std::vector<int64_t>{1, 0}})[0].toTensorVector();
  exact("views", views.size());
  exact("alias", views[0].is_alias_of(x));
  exact("dtype", call("dtype_of", {x, torch::kHalf, torch::Device("cpu")})[0].toTensor().dtype());
  throws("inside", [&] { call("fails", {x}); });
  exact(
      "tag", c10::Dispatcher::singleton().findSchemaOrThrow("steady::weighted", "").hasTag(at::Tag::pt2_compliant_tag));
}
