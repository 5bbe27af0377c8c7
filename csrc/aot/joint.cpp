#include <csrc/aot/joint.h>

#include <csrc/capture/recorder.h>
#include <csrc/fx/interpreter.h>
#include <autograd/edge.h>
#include <autograd/engine.h>
#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <map>
#include <utility>

namespace torch::aot {

namespace {

using autograd::Edge;
using functionalize::Functional;
using functionalize::History;
using functionalize::ResultSpec;

/// Runs a graph without data, keeps some of its values, and notes which nodes of another graph each node made.
class ForwardRun : public fx::Interpreter {
 public:
  ForwardRun(const fx::GraphModule& module, capture::Recorder& recorder, const std::vector<fx::Value>& wanted)
      : Interpreter(module), recorder_(recorder) {
    for (const fx::Value& value : wanted) {
      kept_[{value.node, value.result}];
    }
  }

  const at::Tensor& kept(fx::Value value) const {
    return kept_.at({value.node, value.result});
  }
  /// By id of a node that the recorder made: the node that made it.
  std::vector<const fx::Node*> makers;

 protected:
  void call_operator(const fx::Node& node, torch::jit::Stack& stack) override {
    functionalize::use_meta_device(node.schema(), stack);
    const uint32_t first = recorder_.num_ids();
    Interpreter::call_operator(node, stack);
    makers.resize(first);
    makers.resize(recorder_.num_ids(), &node);
    for (uint32_t i = 0; i < node.num_results(); ++i) {
      keep(node, i, stack.at(i));
    }
  }
  std::vector<c10::IValue> call_function(const fx::Node& node, std::vector<fx::Operand>& operands) override {
    std::vector<c10::IValue> results = Interpreter::call_function(node, operands);
    for (uint32_t i = 0; i < results.size(); ++i) {
      keep(node, i, results[i]);
    }
    return results;
  }

 private:
  void keep(const fx::Node& node, uint32_t index, const c10::IValue& value) {
    const auto found = kept_.find({&node, index});
    if (found != kept_.end()) {
      found->second = value.toTensor();
    }
  }

  capture::Recorder& recorder_;
  std::map<std::pair<const fx::Node*, uint32_t>, at::Tensor> kept_;
};

/// Tensors without data like the results of a functional graph; undefined for those that can have no gradient.
std::vector<at::Tensor> tangents_like(const Functional& functional) {
  std::vector<at::Tensor> tangents;
  for (const fx::Arg& result : functional.graph->output_node()->args()) {
    const fx::Value value = result.value();
    const fx::TensorInfo* const info = value.node->info(value.result);
    const bool has_gradient = info && autograd::isDifferentiableType(info->dtype);
    tangents.push_back(has_gradient ? functionalize::meta_of(*info) : at::Tensor());
  }
  return tangents;
}

class Trace {
 public:
  Trace(const CallInputs& inputs, const std::vector<History>& histories)
      : inputs_(inputs),
        device_(inputs.device()),
        histories_(histories),
        plain_(functionalize::meta_like(inputs.recorded())),
        forward_(functionalize::functionalize(*inputs.graph(), plain_, device_, /*grad_mode=*/true)),
        tangents_(tangents_like(forward_)),
        metas_(functionalize::meta_like(inputs.recorded(), histories)),
        module_(inputs.graph(), "Joint") {
    made_.num_inputs = metas_.size();
    all_ = metas_;
    all_.insert(all_.end(), tangents_.begin(), tangents_.end());
    for (const fx::Node* input : inputs.graph()->placeholders()) {
      names_.push_back(input->name());
    }
    for (size_t i = 0; i < tangents_.size(); ++i) {
      names_.push_back("tangent" + std::to_string(i));
    }
  }

  Joint run(const std::vector<uint32_t>& checkpoints) {
    for (const fx::Node* node : inputs_.graph()->nodes()) {
      for (const char* const name : {"aten::_lstm_steps", "aten::_gru_steps", "aten::_rnn_steps"}) {
        TORCH_CHECK(!node->is_operator(name), "the derivative of ", name, " is a kernel that is no operator");
      }
    }
    capture::Recorder recorder(all_, names_, known_);
    recorder.record_backward();
    ForwardRun forward(module_, recorder, forward_.root_sources);
    const capture::Recording recording = recorder.record([&] { return run_both(forward, recorder); });
    TORCH_CHECK(recording.module, "its backward pass: ", recording.refused);
    TORCH_CHECK(recording.references.empty(), "its backward pass takes a tensor that no operator made");
    std::vector<at::Tensor> plain = plain_;
    plain.insert(plain.end(), tangents_.begin(), tangents_.end());
    made_.functional = functionalize::functionalize(recording.module->graph(), plain, device_, /*grad_mode=*/true);
    note_results();
    note_origins(forward.makers, checkpoints);
    return std::move(made_);
  }

 private:
  /// Gives the roots and the gradients of inputs.
  std::vector<at::Tensor> run_both(ForwardRun& forward, capture::Recorder& recorder) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const c10::AutoGradMode on(true);
    autograd::edge_list wanted;
    for (size_t i = 0; i < metas_.size(); ++i) {
      if (metas_[i].defined() && metas_[i].requires_grad()) {
        made_.grad_inputs.push_back(i);
        wanted.push_back(autograd::impl::gradient_edge(metas_[i]));
      }
    }
    const autograd::edge_list before = wanted;
    const std::vector<c10::IValue> outputs = forward.run(std::vector<c10::IValue>(metas_.begin(), metas_.end()));
    boundary_ = recorder.num_ids();
    // A root through whose results no gradient flows (detached ones) needs none.
    std::vector<bool> is_wanted(forward_.num_roots);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ResultSpec& spec = forward_.results[i];
      if (spec.of == ResultSpec::Of::Root && outputs[i].isTensor() && outputs[i].toTensor().requires_grad()) {
        is_wanted[spec.index] = true;
      }
    }
    std::vector<at::Tensor> results;
    autograd::edge_list roots;
    autograd::variable_list tangents;
    for (size_t i = 0; i < forward_.num_roots; ++i) {
      const at::Tensor& root = forward.kept(forward_.root_sources[i]);
      results.push_back(root);
      made_.root_requires_grad.push_back(is_wanted[i]);
      add_tangent(i, root, is_wanted[i], roots, tangents);
    }
    for (size_t i = 0; i < forward_.written.size(); ++i) {
      const at::Tensor& input = metas_[forward_.written[i]];
      const bool is_tracked = has_new_history(forward_.written[i], before);
      if (is_tracked) {
        made_.tracked_writes.push_back(i);
      }
      add_tangent(forward_.num_roots + i, input, is_tracked, roots, tangents);
    }
    if (!roots.empty()) {
      for (at::Tensor& grad : autograd::Engine::get_default_engine().execute(
               roots, tangents, /*keep_graph=*/false, /*create_graph=*/false, /*accumulate_grad=*/false, wanted)) {
        results.push_back(std::move(grad));
      }
    }
    return results;
  }

  void add_tangent(
      size_t index,
      const at::Tensor& of,
      bool is_needed,
      autograd::edge_list& roots,
      autograd::variable_list& tangents) {
    if (is_needed) {
      TORCH_CHECK(tangents_[index].defined(), "a result without a floating dtype requires grad");
      made_.tangents.push_back(made_.num_inputs + index);
      roots.push_back(autograd::impl::gradient_edge(of));
      tangents.push_back(tangents_[index]);
    }
  }

  /// Whether the function gave an input another history.
  bool has_new_history(size_t input, const autograd::edge_list& before) const {
    if (!metas_[input].requires_grad()) {
      return false;
    }
    const History history = input < histories_.size() ? histories_[input] : History::None;
    if (history == History::None) {
      return true;
    }
    for (size_t i = 0; i < made_.grad_inputs.size(); ++i) {
      if (made_.grad_inputs[i] == input) {
        const Edge now = autograd::impl::gradient_edge(metas_[input]);
        return now.function != before[i].function || now.input_nr != before[i].input_nr;
      }
    }
    return false;
  }

  void note_results() {
    const Functional& functional = made_.functional;
    made_.results = forward_.results;
    for (size_t i = 0; i < forward_.num_roots; ++i) {
      const ResultSpec& spec = functional.results.at(i);
      TORCH_CHECK(
          spec.of == ResultSpec::Of::Root && spec.steps.empty(),
          "a result lies in memory in another way when gradients "
          "are recorded");
      made_.roots.push_back(spec.index);
    }
    TORCH_CHECK(functional.written == forward_.written, "inputs are written to by the backward pass");
    made_.grads.assign(
        functional.results.begin() + static_cast<std::ptrdiff_t>(forward_.num_roots), functional.results.end());
  }

  void note_origins(const std::vector<const fx::Node*>& makers, const std::vector<uint32_t>& checkpoints) {
    for (const fx::Node* origin : made_.functional.origins) {
      made_.is_backward.push_back(origin && origin->id() >= boundary_);
      const fx::Node* const maker = origin && origin->id() < makers.size() ? makers[origin->id()] : nullptr;
      const auto id = maker ? inputs_.recorded_id(*maker) : std::optional<uint32_t>();
      made_.checkpoints.push_back(id && *id < checkpoints.size() ? checkpoints[*id] : 0);
    }
  }

  const CallInputs& inputs_;
  const c10::Device device_;
  const std::vector<History>& histories_;
  const std::vector<at::Tensor> plain_;
  const Functional forward_;
  const std::vector<at::Tensor> tangents_;
  const std::vector<at::Tensor> metas_; // with histories
  const fx::GraphModule module_;
  std::vector<at::Tensor> all_;
  std::vector<std::string> names_;
  const capture::KnownTensors known_;
  uint32_t boundary_ = 0;
  Joint made_;
};

} // namespace

Joint trace_joint(
    const CallInputs& inputs, const std::vector<History>& histories, const std::vector<uint32_t>& checkpoints) {
  return Trace(inputs, histories).run(checkpoints);
}

} // namespace torch::aot
