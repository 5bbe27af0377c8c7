// Each row of the operator table through torch::compile: as loops, in-place forms as functional graphs, and gradients
// by compiled backward graphs, the same to the last bit.

#include <ATen/Functions.h>

#include <catch2/catch.hpp>

#include <torch/compile.h>

#include "test/aot/bit_equal.h"
#include "test/ops/runner.h"

#include <cstdlib>
#include <map>

namespace test {

namespace {

torch::CompileOptions options() {
  torch::CompileOptions options;
  if (const char* const backend = std::getenv("TENSOR_TEST_BACKEND")) {
    options.backend = backend;
  }
  options.check_calls = 0;
  return options;
}

std::vector<at::Tensor> defined_tensors(const Stack& args) {
  std::vector<at::Tensor> tensors;
  with_tensors(args, [&](const at::Tensor& tensor) {
    tensors.push_back(tensor);
    return tensor;
  });
  return tensors;
}

/// The operator as a function of the tensors in its arguments.
std::vector<at::Tensor> call_with(const BoxedOp& op, const Stack& args, const std::vector<at::Tensor>& tensors) {
  size_t next = 0;
  return op.tensors(with_tensors(args, [&](const at::Tensor&) { return tensors.at(next++); }));
}

/// Why rows were not compiled, and how many were.
struct Tally {
  size_t compiled = 0;
  std::map<std::string, std::string> not_compiled; // by operator
};

void print_tally(const char* what, const Tally& tally) {
  std::printf(
      "%s: %zu samples compiled; %zu operators with samples that were not\n", what, tally.compiled,
      tally.not_compiled.size());
  if (std::getenv("TENSOR_TEST_VERBOSE") != nullptr) {
    for (const auto& [op, why] : tally.not_compiled) {
      std::printf("  %s: %s\n", op.c_str(), why.substr(0, 200).c_str());
    }
  }
}

template <class F>
bool is_compiled(const F& compiled, const std::string& op, Tally& tally) {
  if (!compiled.core().last_graph().empty() && compiled.core().last_not_compiled().empty()) {
    ++tally.compiled;
    return true;
  }
  const std::string why = compiled.core().last_not_compiled();
  tally.not_compiled.emplace(op, why.empty() ? compiled.explain().substr(0, 600) : why);
  return false;
}

void compare_all(
    const std::vector<at::Tensor>& got,
    const std::vector<at::Tensor>& wanted,
    const std::string& what,
    Failures& failures) {
  if (got.size() != wanted.size()) {
    return failures.add(what + ": another number");
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string difference = bit_difference(got[i], wanted[i]);
    if (!difference.empty()) {
      failures.add(what + " " + std::to_string(i) + ": " + difference);
    }
  }
}

/// Results of one sample, as it is and compiled.
void check_values(const BoxedOp& op, const std::string& name, const Sample& sample, Tally& tally, Failures& failures) {
  const auto function = [&](const std::vector<at::Tensor>& tensors) { return call_with(op, sample.args, tensors); };
  const std::vector<at::Tensor> inputs = defined_tensors(sample.args);
  torch::manual_seed(3);
  const std::vector<at::Tensor> wanted = function(inputs);
  const auto compiled = torch::compile(function, options());
  compiled(inputs);
  if (is_compiled(compiled, name, tally)) {
    torch::manual_seed(3);
    compare_all(compiled(inputs), wanted, sample.note + " result", failures);
  }
}

/// Writes to `args` by the in-place form, as it is and compiled.
void check_inplace(const BoxedOp& op, const std::string& name, const Sample& sample, Tally& tally, Failures& failures) {
  const auto function = [&](const std::vector<at::Tensor>& tensors) { return call_with(op, sample.args, tensors); };
  const auto fresh = [&] { return defined_tensors(with_copies(sample.args)); };
  torch::manual_seed(3);
  std::vector<at::Tensor> wanted_inputs = fresh(), wanted;
  try {
    wanted = function(wanted_inputs);
  } catch (const std::exception&) {
    return; // not every argument can be written what the operator gives
  }
  const auto compiled = torch::compile(function, options());
  compiled(fresh());
  if (!is_compiled(compiled, name, tally)) {
    return;
  }
  torch::manual_seed(3);
  const std::vector<at::Tensor> inputs = fresh();
  compare_all(compiled(inputs), wanted, sample.note + " result", failures);
  compare_all(inputs, wanted_inputs, sample.note + " argument", failures);
}

/// Results of one sample and what it writes to its arguments, as it is and in mode lazy: interpreted, then compiled.
void check_lazy(const BoxedOp& op, const Sample& sample, Failures& failures) {
  const auto function = [&](const std::vector<at::Tensor>& tensors) { return call_with(op, sample.args, tensors); };
  const auto fresh = [&] { return defined_tensors(with_copies(sample.args)); };
  torch::manual_seed(3);
  std::vector<at::Tensor> wanted_inputs = fresh(), wanted;
  try {
    wanted = function(wanted_inputs);
  } catch (const std::exception&) {
    return;
  }
  torch::CompileOptions lazy = options();
  lazy.mode = torch::CompileMode::lazy;
  const auto compiled = torch::compile(function, lazy);
  for (int i = 0; i < 3; ++i) {
    torch::manual_seed(3);
    const std::vector<at::Tensor> inputs = fresh();
    const std::string call = sample.note + " call " + std::to_string(i);
    compare_all(compiled(inputs), wanted, call + " result", failures);
    compare_all(inputs, wanted_inputs, call + " argument", failures);
  }
}

/// Results and gradients of one sample, by autograd and by compiled graphs.
void check_gradients(
    const BoxedOp& op,
    const std::string& name,
    const Stack& args,
    const std::string& note,
    Tally& tally,
    Failures& failures) {
  const auto function = [&](const std::vector<at::Tensor>& tensors) { return call_with(op, args, tensors); };
  const std::vector<at::Tensor> inputs = defined_tensors(args);
  const auto run = [&](const auto& callable, std::vector<at::Tensor>& results) {
    std::vector<at::Tensor> roots, tangents, leaves;
    torch::manual_seed(3);
    for (at::Tensor& result : results = callable(inputs)) {
      if (result.defined() && result.requires_grad()) {
        roots.push_back(result);
        tangents.push_back(at::randn_like(result.detach()));
      }
    }
    for (const at::Tensor& input : inputs) {
      if (input.requires_grad()) {
        leaves.push_back(input);
      }
    }
    return roots.empty() ? std::vector<at::Tensor>()
                         : torch::autograd::grad(roots, leaves, tangents, std::nullopt, false, /*allow_unused=*/true);
  };
  std::vector<at::Tensor> wanted, got;
  const std::vector<at::Tensor> wanted_grads = run(function, wanted);
  const auto compiled = torch::compile(function, options());
  run(compiled, got);
  if (!is_compiled(compiled, name, tally)) {
    return;
  }
  const std::vector<at::Tensor> grads = run(compiled, got);
  compare_all(got, wanted, note + " result", failures);
  compare_all(grads, wanted_grads, note + " gradient", failures);
  torch::CompileOptions lazy = options();
  lazy.mode = torch::CompileMode::lazy;
  const auto recorded = torch::compile(function, lazy);
  for (int i = 0; i < 2; ++i) {
    const std::vector<at::Tensor> lazy_grads = run(recorded, got);
    compare_all(got, wanted, note + " result in mode lazy", failures);
    compare_all(lazy_grads, wanted_grads, note + " gradient in mode lazy", failures);
  }
}

} // namespace

TEST_CASE("compiled operators give what they give when they are called", "[ops][compiled]") {
  const at::NoGradGuard no_grad;
  Tally tally;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    if (!op.written_arguments().empty() || op.schema().name().find("empty") != std::string::npos) {
      return; // memory without values has any
    }
    for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Values)) {
      size_t count = 0;
      for (const Sample& sample : samples_of(row, op, dtype, Purpose::Values)) {
        if (++count > 6) {
          break;
        }
        failures.guard(sample.note, [&] { check_values(op, row.name, sample, tally, failures); });
      }
    }
  });
  print_tally("operators", tally);
  CHECK(tally.compiled > tally.not_compiled.size());
}

TEST_CASE("in-place forms write the same as functional graphs", "[ops][compiled]") {
  const at::NoGradGuard no_grad;
  Tally tally;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    const auto inplace = BoxedOp::find(row.inplace);
    if (!inplace || traits_of(row).random) {
      return;
    }
    for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Values)) {
      size_t count = 0;
      for (const Sample& sample : samples_of(row, op, dtype, Purpose::Values)) {
        if (++count > 6) {
          break;
        }
        failures.guard(sample.note, [&] { check_inplace(*inplace, row.inplace, sample, tally, failures); });
      }
    }
  });
  print_tally("in-place forms", tally);
  CHECK(tally.compiled > tally.not_compiled.size());
}

TEST_CASE(
    "operators and their in-place forms give in mode lazy what they give when they are called", "[ops][compiled]") {
  const at::NoGradGuard no_grad;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    if (!op.written_arguments().empty() || op.schema().name().find("empty") != std::string::npos) {
      return; // memory without values has any
    }
    const auto inplace = BoxedOp::find(row.inplace);
    for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Values)) {
      size_t count = 0;
      for (const Sample& sample : samples_of(row, op, dtype, Purpose::Values)) {
        if (++count > 3) {
          break;
        }
        failures.guard(sample.note, [&] { check_lazy(op, sample, failures); });
        if (inplace) {
          failures.guard(sample.note, [&] { check_lazy(*inplace, sample, failures); });
        }
      }
    }
  });
}

TEST_CASE("gradients of compiled operators are those of autograd", "[ops][compiled]") {
  Tally tally;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    const SampleTraits traits = traits_of(row);
    if (!row.differentiable || !traits.gradient || traits.random) {
      return;
    }
    for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Gradient)) {
      for (const Sample& sample : samples_of(row, op, dtype, Purpose::Gradient)) {
        failures.guard(sample.note, [&] {
          check_gradients(op, row.name, with_grad(sample.args, traits.constants), sample.note, tally, failures);
        });
      }
    }
  });
  print_tally("gradients", tally);
  CHECK(tally.compiled > tally.not_compiled.size());
}

} // namespace test
