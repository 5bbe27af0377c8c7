// torch::special, torch::fft and torch::linalg against stored values and gradients of PyTorch, and their _out forms.
#include <catch2/catch.hpp>

#include "namespace_cases.h"

#include <cmath>
#include <map>
#include <set>

using namespaces::Case;
using namespaces::Tensors;
using torch::Tensor;

namespace {

struct Expected {
  const char* name;
  std::vector<double> values;
  std::vector<double> gradients;
};

const std::vector<Expected>& stored() {
  static const std::vector<Expected> values = {
#include "namespace_values.inc"
  };
  return values;
}

/// Complex numbers as pairs.
Tensor parts(const Tensor& t) {
  return t.is_complex() ? torch::view_as_real(t.resolve_conj()) : t;
}

void append(std::vector<double>& numbers, const Tensor& t) {
  const Tensor flat = parts(t.detach()).to(torch::kDouble).reshape(-1).contiguous();
  numbers.insert(numbers.end(), flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
}

void compare(const char* what, const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO(what << " " << i << ": " << got[i] << ", PyTorch has " << want[i]);
    CHECK(std::abs(got[i] - want[i]) <= 1e-12 + 1e-9 * std::abs(want[i]));
  }
}

/// Of the sum of all outputs times waves.
std::vector<double> gradients(const Tensors& outputs, const Tensors& inputs) {
  Tensor loss = torch::zeros({}, torch::kDouble);
  for (const Tensor& output : outputs) {
    if (output.requires_grad()) {
      loss = loss + (parts(output) * namespaces::wave(parts(output).sizes(), 0.3)).sum();
    }
  }
  std::vector<double> numbers;
  for (const Tensor& gradient : torch::autograd::grad({loss}, inputs)) {
    append(numbers, gradient);
  }
  return numbers;
}

void check_out_form(const Case& item, const Tensors& values) {
  Tensors outs;
  for (const Tensor& value : values) {
    outs.push_back(torch::empty({0}, value.options()));
  }
  item.call_out(outs, item.inputs);
  for (size_t i = 0; i < values.size(); ++i) {
    INFO("_out form, output " << i);
    CHECK(outs[i].sizes() == values[i].sizes());
    CHECK(outs[i].equal(values[i]));
  }
}

void check(const std::vector<Case>& cases, const std::string& prefix) {
  std::map<std::string, const Expected*> by_name;
  for (const Expected& expected : stored()) {
    if (std::string(expected.name).rfind(prefix, 0) == 0) {
      by_name[expected.name] = &expected;
    }
  }
  std::set<std::string> seen;
  for (const Case& item : cases) {
    INFO(item.name);
    REQUIRE(by_name.count(item.name) == 1);
    REQUIRE(seen.insert(item.name).second);
    const Expected& expected = *by_name[item.name];
    Tensors inputs, leaves;
    for (const Tensor& input : item.inputs) {
      inputs.push_back(input.detach().clone());
    }
    for (const size_t i : item.wrt) {
      if (inputs[i].scalar_type() != torch::kLong) {
        leaves.push_back(inputs[i].requires_grad_());
      }
    }
    const Tensors outputs = item.call(inputs);
    std::vector<double> values;
    for (const Tensor& output : outputs) {
      append(values, output);
    }
    compare("value", values, expected.values);
    // Some functions have a gradient here that PyTorch lacks.
    if (!expected.gradients.empty()) {
      compare("gradient", gradients(outputs, leaves), expected.gradients);
    }
    if (item.call_out) {
      const torch::NoGradGuard no_grad;
      check_out_form(item, item.call(item.inputs));
    }
  }
  CHECK(seen.size() == by_name.size());
}

} // namespace

TEST_CASE("the functions of torch::special give PyTorch's values and gradients", "[api][special]") {
  check(namespaces::special_cases(), "special.");
}

TEST_CASE("the functions of torch::fft give PyTorch's values and gradients", "[api][fft]") {
  check(namespaces::fft_cases(), "fft.");
}

TEST_CASE("the functions of torch::linalg give PyTorch's values and gradients", "[api][linalg]") {
  check(namespaces::linalg_cases(), "linalg.");
}

TEST_CASE("functions of namespaces of torch have the types that libtorch declares", "[api]") {
  using torch::Scalar;
  using torch::Tensor;
  Tensor (*fft)(const Tensor&, std::optional<c10::SymInt>, int64_t, std::optional<std::string_view>) = &torch::fft::fft;
  Tensor (*hfftn)(const Tensor&, at::OptionalIntArrayRef, at::IntArrayRef, std::optional<std::string_view>) =
      &torch::fft::hfftn;
  Tensor (*fftfreq)(int64_t, const torch::TensorOptions&) = &torch::fft::fftfreq;
  Tensor (*logit)(const Tensor&) = &torch::special::logit;
  Tensor& (*xlogy_out)(Tensor&, const Scalar&, const Tensor&) = &torch::special::xlogy_out;
  Tensor& (*multi_dot_out)(at::TensorList, Tensor&) = &torch::linalg::multi_dot_out;
  Tensor& (*pinv_out)(Tensor&, const Tensor&, double, bool) = &torch::linalg::pinv_out;
  const Tensor x = torch::eye(4, torch::kDouble) * 0.5 + 0.1;
  Tensor out = torch::empty({0}, torch::kDouble);
  CHECK(torch::equal(fft(x, 3, 0, std::nullopt), at::fft_fft(x, 3, 0)));
  CHECK(torch::equal(
      hfftn(x, std::nullopt, {0, 1}, "ortho"), at::fft_hfftn(x, std::nullopt, at::IntArrayRef({0, 1}), "ortho")));
  CHECK(torch::equal(fftfreq(5, torch::kDouble), at::fft_fftfreq(5, 1.0, torch::kDouble)));
  CHECK(torch::equal(logit(x), at::logit(x)));
  CHECK(torch::equal(xlogy_out(out, 2.0, x), at::xlogy(2.0, x)));
  CHECK(torch::equal(multi_dot_out({x, x, x}, out), at::linalg_multi_dot({x, x, x})));
  CHECK(&pinv_out(out, x, 1e-15, false) == &out);
  CHECK(torch::allclose(out, at::linalg_inv(x)));
}
