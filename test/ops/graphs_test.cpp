// Every operator as a graph: captured, printed, read back and run operator by operator, it gives what it gives when it
// is called, bit for bit, gradients too.

#include <ATen/ATen.h>
#include <torch/autograd.h>
#include <torch/export.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

#include "test/ops/runner.h"
#include "test/support/compare.h"

namespace test {

namespace {

using torch::fx::Graph;
using torch::fx::GraphModule;

/// The program's graph, by way of its text, with the program's attributes.
std::unique_ptr<GraphModule> read_back(const torch::ExportedProgram& program) {
  const std::string text = program.graph().to_string();
  auto module = std::make_unique<GraphModule>(Graph::parse(text));
  if (module->graph().to_string() != text) {
    throw std::runtime_error("its text reads back as another graph");
  }
  module->graph().lint();
  for (const torch::fx::Node* node : module->graph().nodes()) {
    if (node->kind() == torch::fx::NodeKind::GetAttr) {
      module->set_attr(node->target(), program.module().attr(node->target()));
    }
  }
  return module;
}

/// What a graph cannot do by design: the reason says so.
bool is_refused_by_design(const std::string& message) {
  for (const char* const reason :
       {"depends on values", "reads values", "gives a tensor other memory", "no operator has written"}) {
    if (message.find(reason) != std::string::npos) {
      return true;
    }
  }
  return false;
}

/// Empty when the tensors have the same elements, NaNs in the same places.
std::string bits_difference(const at::Tensor& got, const at::Tensor& want) {
  if (got.defined() != want.defined()) {
    return "only one of them is defined";
  }
  if (!want.defined()) {
    return {};
  }
  if (got.layout() != want.layout() || got.sizes() != want.sizes() || got.scalar_type() != want.scalar_type()) {
    return "got " + describe(got) + ", want " + describe(want);
  }
  if (got.layout() != at::kStrided) {
    return bits_difference(got.detach().to_dense(), want.detach().to_dense());
  }
  if (got.strides() != want.strides() && want.numel() != 0) {
    return "other strides";
  }
  const at::Tensor a = got.detach().resolve_conj().resolve_neg().contiguous();
  const at::Tensor b = want.detach().resolve_conj().resolve_neg().contiguous();
  if (a.numel() == 0 || std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0) {
    return {};
  }
  const std::string difference = first_difference(got.detach(), want.detach(), {});
  return difference; // NaNs of other bits are NaNs
}

/// The tensors in arguments, as one list; and the arguments with others in their places.
std::vector<at::Tensor> tensors_in(const Stack& args) {
  std::vector<at::Tensor> found;
  with_tensors(args, [&](const at::Tensor& tensor) {
    found.push_back(tensor);
    return tensor;
  });
  return found;
}

Stack replaced(const Stack& args, const std::vector<at::Tensor>& tensors) {
  size_t next = 0;
  return with_tensors(args, [&](const at::Tensor&) { return tensors.at(next++); });
}

/// Inputs for one run: what requires grad is a leaf of its own.
std::vector<at::Tensor> fresh(const std::vector<at::Tensor>& tensors, bool is_written) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) {
    at::Tensor copy = tensor;
    if (tensor.requires_grad()) {
      copy = tensor.detach().clone().requires_grad_(true);
    } else if (is_written) {
      copy = tensor.clone();
    }
    copies.push_back(copy);
  }
  return copies;
}

std::vector<at::Tensor> gradients(const std::vector<at::Tensor>& results, const std::vector<at::Tensor>& inputs) {
  at::Tensor loss;
  for (const at::Tensor& result : results) {
    if (result.defined() && result.requires_grad()) {
      const at::Tensor part = at::real(result.is_sparse() ? result.to_dense() : result).sin().sum().to(at::kDouble);
      loss = loss.defined() ? loss + part : part;
    }
  }
  std::vector<at::Tensor> leaves;
  for (const at::Tensor& input : inputs) {
    if (input.requires_grad()) {
      leaves.push_back(input);
    }
  }
  if (!loss.defined() || leaves.empty()) {
    return {};
  }
  return torch::autograd::grad(
      {loss}, leaves, {}, /*retain_graph=*/false, /*create_graph=*/false, /*allow_unused=*/true);
}

/// Memory without values has any.
bool has_values(const BoxedOp& op) {
  const std::string& name = op.schema().name();
  return name.find("::empty") == std::string::npos && name.find("::new_empty") == std::string::npos;
}

class GraphCheck {
 public:
  GraphCheck(const BoxedOp& op, const Stack& args, bool is_written)
      : op_(op), args_(args), inputs_(tensors_in(args)), is_written_(is_written) {}

  /// Empty, or what is wrong.
  std::string run() const {
    const auto function = [&](const std::vector<at::Tensor>& tensors) { return op_.tensors(replaced(args_, tensors)); };
    std::unique_ptr<GraphModule> module;
    try {
      module = read_back(torch::export_(function, std::make_tuple(fresh(inputs_, is_written_))));
    } catch (const c10::Error& e) {
      return is_refused_by_design(e.what()) ? std::string()
                                            : std::string("cannot be captured: ") + e.what_without_backtrace();
    }
    const std::vector<at::Tensor> eager_inputs = fresh(inputs_, is_written_),
                                  graph_inputs = fresh(inputs_, is_written_);
    at::manual_seed(1);
    const std::vector<at::Tensor> wanted = function(eager_inputs);
    at::manual_seed(1);
    std::vector<at::Tensor> got;
    for (const c10::IValue& value : module->forward({graph_inputs.begin(), graph_inputs.end()})) {
      got.push_back(value.isTensor() ? value.toTensor() : at::Tensor());
    }
    if (!has_values(op_)) {
      return {};
    }
    std::string difference = compare("result", got, wanted);
    if (difference.empty() && is_written_) {
      difference = compare("argument", graph_inputs, eager_inputs);
    }
    return difference.empty() ? compare("gradient", gradients(got, graph_inputs), gradients(wanted, eager_inputs))
                              : difference;
  }

 private:
  static std::string compare(
      const std::string& what, const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& wanted) {
    if (got.size() != wanted.size()) {
      return "has another number of " + what + "s";
    }
    for (size_t i = 0; i < got.size(); ++i) {
      const std::string difference = bits_difference(got[i], wanted[i]);
      if (!difference.empty()) {
        return what + " " + std::to_string(i) + " of the graph: " + difference;
      }
    }
    return {};
  }

  const BoxedOp& op_;
  const Stack& args_;
  std::vector<at::Tensor> inputs_;
  bool is_written_;
};

/// The in-place form called with the same arguments.
void check_inplace(const OpRow& row, const BoxedOp& op, const Sample& sample, Failures& failures) {
  const auto inplace = *row.inplace == '\0' ? std::nullopt : BoxedOp::find(row.inplace);
  if (!inplace || inplace->argument_count() != op.argument_count()) {
    return;
  }
  const Stack args = with_copies(sample.args);
  try {
    inplace->tensors(with_copies(args)); // some samples have results of another shape or dtype than the argument
  } catch (const c10::Error&) {
    return;
  }
  const std::string difference = GraphCheck(*inplace, args, /*is_written=*/true).run();
  if (!difference.empty()) {
    failures.add(std::string(row.inplace) + " " + sample.note + ": " + difference);
  }
}

} // namespace

TEST_CASE("operators are the same in graphs", "[ops][graphs]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    const auto dtypes = dtypes_of(row, Purpose::Values);
    // One dtype: that graphs call the operators that they name does not depend on it.
    for (size_t i = 0; i < std::min<size_t>(dtypes.size(), 1); ++i) {
      for (Sample& sample : samples_of(row, op, dtypes[i], Purpose::Values)) {
        failures.guard(sample.note, [&] {
          const std::string difference = GraphCheck(op, sample.args, !op.written_arguments().empty()).run();
          if (!difference.empty()) {
            failures.add(sample.note + ": " + difference);
          }
          check_inplace(row, op, sample, failures);
        });
      }
    }
  });
}

TEST_CASE("gradients of operators are the same in graphs", "[ops][graphs]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    const SampleTraits traits = traits_of(row);
    if (!row.differentiable || !traits.gradient) {
      return;
    }
    for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Gradient)) {
      for (Sample& sample : samples_of(row, op, dtype, Purpose::Gradient)) {
        failures.guard(sample.note, [&] {
          const Stack args = with_grad(sample.args, traits.constants);
          const std::string difference = GraphCheck(op, args, /*is_written=*/false).run();
          if (!difference.empty()) {
            failures.add(sample.note + ": " + difference);
          }
        });
      }
    }
  });
}

} // namespace test
