#include <csrc/capture/training_program.h>

#include <csrc/optim/optimizer.h>
#include <autograd/variable.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace torch::capture {

/// Cuts the graph of a recording.
class TrainingProgram::Cutter {
 public:
  Cutter(TrainingProgram& program, const fx::GraphModule& module, const TrainingStep& training)
      : program_(program), training_(training), graph_(module.graph().copy()) {
    for (fx::Node* input : graph_->placeholders()) {
      number_of({input, 0});
    }
  }

  void run() {
    copy_attributes();
    std::vector<fx::Node*> nodes;
    size_t stop = 0;
    for (fx::Node* node : graph_->nodes()) {
      const bool is_output = node->kind() == fx::NodeKind::Output;
      if (is_output || is_step(*node)) {
        add_part(nodes, *node, training_.stops.at(stop++));
        nodes.clear();
      } else if (node->kind() != fx::NodeKind::Placeholder) {
        nodes.push_back(node);
      }
    }
    program_.num_values_ = numbers_.size();
    note_last_uses();
  }

 private:
  static bool is_step(const fx::Node& node) {
    return node.is_function("optimizer_step");
  }

  /// Each part has attributes of its own.
  void copy_attributes() {
    std::map<const fx::Node*, fx::Node*> copies;
    for (fx::Node* node : graph_->nodes()) {
      for (fx::Node* input : node->all_input_nodes()) {
        if (input->kind() != fx::NodeKind::GetAttr) {
          continue;
        }
        fx::Node*& copy = copies[input];
        if (!copy) {
          const auto here = graph_->inserting_before(node);
          copy = graph_->node_copy(input, [](fx::Value value) { return fx::Arg(value); });
        }
        node->replace_input_with(input, copy);
      }
      if (is_step(*node)) {
        copies.clear();
      }
    }
    graph_->eliminate_dead_code();
  }

  size_t number_of(fx::Value value) {
    return numbers_.emplace(std::pair(value.node, value.result), numbers_.size()).first->second;
  }

  void add_part(const std::vector<fx::Node*>& nodes, const fx::Node& end, const TrainingStep::Stop& stop) {
    Part& part = program_.parts_.emplace_back();
    if (!nodes.empty()) {
      std::vector<fx::Value> inputs, results;
      part.module = std::make_shared<fx::GraphModule>(graph_->extract(nodes, inputs, results), "Captured");
      for (const auto& [path, tensor] : program_.references_) {
        part.module->set_attr(path, tensor);
      }
      for (const fx::Value& value : inputs) {
        part.inputs.push_back(number_of(value));
      }
      for (const fx::Value& value : results) {
        part.results.push_back(number_of(value));
      }
    }
    for (const TrainingStep::Grad& grad : stop.grads) {
      part.grads.push_back({grad.leaf, number_of(end.arg(grad.arg).value())});
    }
    part.resets = stop.resets;
    part.optimizer = stop.optimizer;
    if (end.kind() == fx::NodeKind::Output) {
      for (size_t i = 0; i < end.args().size() - stop.grads.size(); ++i) {
        const fx::Arg& arg = end.args()[i];
        program_.results_.push_back(arg.is_value() ? std::optional(number_of(arg.value())) : std::nullopt);
      }
    }
  }

  void note_last_uses() {
    std::vector<Part*> last(program_.num_values_);
    for (Part& part : program_.parts_) {
      for (const auto* const numbers : {&part.inputs, &part.results}) {
        for (const size_t number : *numbers) {
          last[number] = &part;
        }
      }
    }
    for (const std::optional<size_t>& result : program_.results_) {
      if (result) {
        last[*result] = nullptr;
      }
    }
    for (size_t number = 0; number < last.size(); ++number) {
      if (last[number]) {
        last[number]->last_uses.push_back(number);
      }
    }
  }

  TrainingProgram& program_;
  const TrainingStep& training_;
  const std::shared_ptr<fx::Graph> graph_;
  std::map<std::pair<const fx::Node*, uint32_t>, size_t> numbers_;
};

TrainingProgram::TrainingProgram(
    const fx::GraphModule& module,
    std::vector<std::pair<std::string, at::Tensor>> references,
    const TrainingStep& training,
    std::optional<aot::Options> options)
    : options_(std::move(options)), references_(std::move(references)) {
  Cutter(*this, module, training).run();
  replaced_ = parts_.front().resets;
  for (const Grad& grad : parts_.front().grads) {
    replaced_.push_back(grad.leaf);
  }
}

/// Has the backend compile a graph. Where it cannot, the graph runs as it was recorded.
void TrainingProgram::compile(
    Part& part, const std::vector<at::Tensor>& inputs, const std::vector<functionalize::History>& histories) {
  std::call_once(part.once, [&] {
    if (!options_) {
      return;
    }
    try {
      part.compiled = aot::CompiledCall::make(*part.module, inputs, histories, references_, {}, *options_);
    } catch (const c10::Error& e) {
      part.not_compiled = e.what_without_backtrace();
    }
  });
}

void TrainingProgram::compile_first(
    const std::vector<at::Tensor>& inputs, const std::vector<functionalize::History>& histories) {
  Part& first = parts_.front();
  if (!first.module) {
    return;
  }
  std::vector<at::Tensor> taken;
  std::vector<functionalize::History> histories_of_taken;
  for (const size_t number : first.inputs) {
    taken.push_back(inputs.at(number));
    histories_of_taken.push_back(histories.at(number));
  }
  compile(first, taken, histories_of_taken);
}

void TrainingProgram::run_graph(Part& part, std::vector<at::Tensor>& values) {
  std::vector<at::Tensor> inputs, results;
  for (const size_t number : part.inputs) {
    inputs.push_back(values[number]);
  }
  compile(part, inputs, functionalize::histories_of(inputs));
  if (!part.compiled || !part.compiled->run(inputs, results)) {
    results.clear();
    for (c10::IValue& result : part.module->forward(std::vector<c10::IValue>(inputs.begin(), inputs.end()))) {
      results.push_back(result.isTensor() ? std::move(result).toTensor() : at::Tensor());
    }
  }
  for (size_t i = 0; i < part.results.size(); ++i) {
    values[part.results[i]] = std::move(results.at(i));
  }
}

std::vector<at::Tensor> TrainingProgram::run(
    const std::vector<at::Tensor>& inputs, const std::vector<optim::Optimizer*>& optimizers) {
  std::vector<at::Tensor> values = inputs;
  values.resize(num_values_);
  // At once, so that the new gradients may lie where they lay: the caches hold that memory.
  for (at::Tensor& leaf : replaced_) {
    leaf.mutable_grad() = at::Tensor();
  }
  for (Part& part : parts_) {
    if (part.module) {
      run_graph(part, values);
    }
    for (Grad& grad : part.grads) {
      grad.leaf.mutable_grad() = values[grad.value].detach();
    }
    for (at::Tensor& leaf : part.resets) {
      leaf.mutable_grad() = at::Tensor();
    }
    for (const size_t number : part.last_uses) {
      values[number] = at::Tensor();
    }
    if (part.optimizer) {
      optimizers.at(*part.optimizer)->step();
    }
  }
  std::vector<at::Tensor> results;
  for (const std::optional<size_t>& number : results_) {
    results.push_back(number ? values[*number] : at::Tensor());
  }
  return results;
}

std::string TrainingProgram::describe() const {
  std::string text;
  for (const Part& part : parts_) {
    if (part.compiled) {
      text += part.compiled->describe() + "\n";
    }
    if (part.optimizer) {
      text += fmt::format("step of optimizer {} with {} new gradients\n", *part.optimizer, part.grads.size());
    }
  }
  return text;
}

std::string TrainingProgram::not_compiled() const {
  const auto found =
      std::find_if(parts_.begin(), parts_.end(), [](const Part& part) { return !part.not_compiled.empty(); });
  return found == parts_.end() ? "" : found->not_compiled;
}

} // namespace torch::capture
