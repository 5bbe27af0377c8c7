#include <csrc/jit/runtime/autodiff.h>

#include <csrc/jit/passes/constant_pooling.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/passes/lower_grad_of.h>
#include <csrc/jit/runtime/gradient_formulas.h>

#include <aten/core/tensor_type.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace torch::jit {

bool isZero(Value* v) {
  return v->node()->kind() == prim::AutogradZero;
}

bool isDifferentiable(const Node* n) {
  switch (static_cast<uint32_t>(n->kind())) {
    case prim::Constant:
    case prim::AutogradZero:
    case prim::AutogradAdd:
    case prim::ConstantChunk:
      return true;
    default:
      return hasGradientFormula(n);
  }
}

bool isDifferentiable(Graph& g) {
  const auto nodes = g.nodes();
  return std::all_of(nodes.begin(), nodes.end(), [](const Node* node) { return isDifferentiable(node); });
}

namespace {

/// One gradient that a node passes on: to `input` of f, by a graph on `arguments`, values of f. Null among these stands
/// for the gradient of the node's output.
struct Contribution {
  Value* input;
  const Graph* graph;
  std::vector<Value*> arguments;
};

/// The backward of one node of f.
struct Step {
  Symbol kind;
  std::vector<Value*> outputs;
  std::vector<Contribution> contributions;
  // Of prim::ConstantChunk, whose outputs all pass their gradients to one input.
  std::optional<int64_t> chunk_dim;
};

std::string label(Symbol kind) {
  return kind.toQualString();
}

// ---- forward --------------------------------------------------------------------------------------------------------

/// Makes f compute what the gradients need, and lists the steps of df in the order of f.
class Forward {
 public:
  explicit Forward(Graph& f) : f_(f) {}

  std::vector<Step> run() {
    std::vector<Node*> nodes(f_.nodes().begin(), f_.nodes().end());
    for (Node* node : nodes) {
      if (needs_gradient(node)) {
        add_step(node);
      }
    }
    return std::move(steps_);
  }

 private:
  static bool needs_gradient(Node* node) {
    const auto requires_grad = [](const Value* value) { return value->requires_grad(); };
    return node->kind() != prim::Constant && node->kind() != prim::AutogradZero &&
        std::any_of(node->inputs().begin(), node->inputs().end(), requires_grad) &&
        std::any_of(node->outputs().begin(), node->outputs().end(), requires_grad);
  }

  void add_step(Node* node) {
    Step step{node->kind(), {node->outputs().begin(), node->outputs().end()}, {}, std::nullopt};
    if (node->kind() == prim::ConstantChunk) {
      step.chunk_dim = node->i(attr::dim);
      step.contributions.push_back({node->input(), nullptr, {}});
    } else if (node->kind() == prim::AutogradAdd) {
      for (Value* input : node->inputs()) {
        if (input->requires_grad()) {
          step.contributions.push_back({input, nullptr, {}});
        }
      }
    } else {
      add_formula(node, *findGradientFormula(node), step);
    }
    steps_.push_back(std::move(step));
  }

  void add_formula(Node* node, const GradientFormula& formula, Step& step) {
    const std::vector<Value*> inputs(node->inputs().begin(), node->inputs().end());
    const FunctionSchema& schema = node->schema();
    const WithInsertPoint guard(node->next());
    Value* result = node->output(0);
    std::unordered_map<std::string, Value*> names;
    for (size_t i = 1; i < node->outputs().size(); ++i) {
      names.emplace("result" + std::to_string(i), node->output(i));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      names.emplace(schema.arguments()[i].name(), inputs[i]);
    }
    if (formula.forward) {
      const std::vector<Value*> results = insertGraph(f_, *formula.forward, inputs);
      results[0]->copyMetadata(result);
      result->replaceAllUsesWith(results[0]);
      node->destroy();
      result = results[0];
      step.outputs = {result};
      for (size_t i = 0; i < formula.saved.size(); ++i) {
        results[i + 1]->setType(TensorType::get()->withRequiresGrad(false));
        names.emplace(formula.saved[i], results[i + 1]);
      }
    }
    names.emplace("grad", nullptr);
    names.emplace("result", result);
    for (const InputGradient& gradient : formula.gradients) {
      if (inputs[gradient.input]->requires_grad()) {
        step.contributions.push_back({inputs[gradient.input], gradient.graph.get(), {}});
        for (const std::string& name : gradient.needs) {
          step.contributions.back().arguments.push_back(find(name, names, result));
        }
      }
    }
  }

  // What a name in a formula stands for: see InputGradient.
  Value* find(const std::string& name, std::unordered_map<std::string, Value*>& names, Value* result) {
    const auto found = names.find(name);
    if (found != names.end()) {
      return found->second;
    }
    const bool is_sizes = name.back() == 's';
    Value* of = names.at(name.substr(0, name.size() - std::string(is_sizes ? "_sizes" : "_size").size()));
    Value* value = sizes_of(of);
    if (!is_sizes) {
      value = f_.insert(Symbol::aten("_size_if_not_equal"), {value, sizes_of(result)});
    }
    names.emplace(name, value);
    return value;
  }

  Value* sizes_of(Value* tensor) {
    Value*& sizes = sizes_[tensor];
    if (!sizes) {
      sizes = f_.insert(aten::size, {tensor});
    }
    return sizes;
  }

  Graph& f_;
  std::vector<Step> steps_;
  std::unordered_map<Value*, Value*> sizes_;
};

// ---- backward -------------------------------------------------------------------------------------------------------

/// Makes df of the steps.
class Backward {
 public:
  Backward(Gradient& gradient, std::vector<Step> steps)
      : gradient_(gradient), f_(*gradient.f), steps_(std::move(steps)) {}

  void run() {
    gradient_.f_real_outputs = f_.outputs().size();
    gradient_.df = std::make_shared<Graph>();
    collect();
    add_inputs();
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      add(*step);
    }
    add_outputs();
    EliminateDeadCode(gradient_.df);
    ConstantPooling(gradient_.df);
  }

 private:
  Graph& df() {
    return *gradient_.df;
  }

  // Finds the steps that gradients come through, and what these need of f. From the end, so that what uses a value
  // comes before what makes it. A value that is kept gets a gradient by that, too.
  void collect() {
    std::unordered_set<const Value*> with_gradient;
    for (const Value* output : f_.outputs()) {
      if (output->requires_grad()) {
        with_gradient.insert(output);
      }
    }
    std::vector<Step> reached;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      const auto is_reached = [&](const Value* output) { return with_gradient.count(output) > 0; };
      if (!std::any_of(step->outputs.begin(), step->outputs.end(), is_reached)) {
        continue;
      }
      for (const Contribution& contribution : step->contributions) {
        with_gradient.insert(contribution.input);
        for (Value* argument : contribution.arguments) {
          if (argument && argument->node()->kind() != prim::Constant && captured_.insert(argument).second &&
              argument->requires_grad()) {
            with_gradient.insert(argument);
          }
        }
      }
      reached.push_back(std::move(*step));
    }
    std::reverse(reached.begin(), reached.end());
    steps_ = std::move(reached);
  }

  void add_inputs() {
    std::vector<size_t> captured_outputs = register_captured();
    for (size_t i = 0; i < f_.outputs().size(); ++i) {
      Value* output = f_.outputs()[i];
      const bool is_captured = std::count(captured_outputs.begin(), captured_outputs.end(), i) > 0;
      if (output->requires_grad() && (i < gradient_.f_real_outputs || is_captured)) {
        gradient_.df_input_vjps.push_back(i);
        accumulate(output, df().addInput()->setType(TensorType::get()));
      }
    }
    for (size_t i = 0; i < f_.inputs().size(); ++i) {
      if (captured_.count(f_.inputs()[i]) > 0) {
        gradient_.df_input_captured_inputs.push_back(i);
        in_df_[f_.inputs()[i]] = df().addInput()->copyMetadata(f_.inputs()[i]);
      }
    }
    for (const size_t i : captured_outputs) {
      in_df_[f_.outputs()[i]] = df().addInput()->copyMetadata(f_.outputs()[i]);
    }
    gradient_.df_input_captured_outputs = std::move(captured_outputs);
  }

  // What is captured and no input of f becomes an output of it, in the order in which it is computed.
  std::vector<size_t> register_captured() {
    std::vector<Value*> kept;
    for (Node* node : f_.nodes()) {
      for (Value* output : node->outputs()) {
        if (captured_.count(output) > 0) {
          kept.push_back(output);
        }
      }
    }
    std::vector<size_t> offsets;
    for (Value* value : kept) {
      const auto outputs = f_.outputs();
      const auto found = std::find(outputs.begin(), outputs.end(), value);
      offsets.push_back(found == outputs.end() ? outputs.size() : static_cast<size_t>(found - outputs.begin()));
      if (found == outputs.end()) {
        f_.registerOutput(value);
      }
    }
    std::sort(offsets.begin(), offsets.end());
    return offsets;
  }

  void add(const Step& step) {
    std::vector<Value*> grads;
    for (Value* output : step.outputs) {
      const auto found = grads_.find(output);
      grads.push_back(found == grads_.end() ? zero() : found->second);
    }
    if (std::all_of(grads.begin(), grads.end(), isZero) || step.contributions.empty()) {
      return;
    }
    if (step.kind == prim::AutogradAdd) {
      for (const Contribution& contribution : step.contributions) {
        accumulate(contribution.input, grads[0]);
      }
      return;
    }
    add_grad_of(step, grads);
  }

  // A node that gives undefined tensors where all that it is given are undefined: see LowerGradOf().
  void add_grad_of(const Step& step, const std::vector<Value*>& grads) {
    Node* node = df().insertNode(df().create(gradOf(), grads, 0));
    node->s_(attr::name, label(step.kind));
    Block* block = node->addBlock();
    {
      const WithInsertPoint guard(block);
      for (const Contribution& contribution : step.contributions) {
        block->registerOutput(step.chunk_dim ? joined(grads, *step.chunk_dim) : result_of(contribution, grads[0]));
      }
    }
    for (size_t i = 0; i < step.contributions.size(); ++i) {
      accumulate(step.contributions[i].input, node->addOutput()->setType(TensorType::get()));
    }
  }

  Value* joined(const std::vector<Value*>& grads, int64_t dim) {
    Value* list = df().insertNode(df().createList(TensorType::get(), grads))->output();
    return df().insert(aten::cat, {list, dim});
  }

  Value* result_of(const Contribution& contribution, Value* grad) {
    std::vector<Value*> arguments;
    for (Value* argument : contribution.arguments) {
      arguments.push_back(argument ? in_df(argument) : grad);
    }
    return insertGraph(df(), const_cast<Graph&>(*contribution.graph), arguments).at(0);
  }

  Value* in_df(Value* value) {
    Value*& copy = in_df_[value];
    if (!copy) {
      copy = df().prependNode(df().createClone(value->node(), nullptr))->output();
    }
    return copy;
  }

  Value* zero() {
    return df().insertNode(df().create(prim::AutogradZero))->output()->setType(TensorType::get());
  }

  void accumulate(Value* value, Value* grad) {
    Value*& sum = grads_[value];
    if (!sum) {
      sum = grad;
      return;
    }
    sum = df().insertNode(df().create(prim::AutogradAdd, {sum, grad}))->output()->setType(TensorType::get());
  }

  void add_outputs() {
    std::vector<Value*> results;
    for (size_t i = 0; i < f_.inputs().size(); ++i) {
      const auto found = grads_.find(f_.inputs()[i]);
      if (f_.inputs()[i]->requires_grad() && found != grads_.end()) {
        gradient_.df_output_vjps.push_back(i);
        results.push_back(found->second);
      }
    }
    df().registerOutput(df().insertNode(df().createTuple(results))->output());
  }

  Gradient& gradient_;
  Graph& f_;
  std::vector<Step> steps_;
  std::unordered_set<const Value*> captured_;
  std::unordered_map<const Value*, Value*> in_df_;
  std::unordered_map<const Value*, Value*> grads_;
};

// f runs without recording.
void clear_requires_grad(at::ArrayRef<Value*> values) {
  for (Value* value : values) {
    if (const auto type = value->type()->cast<TensorType>()) {
      value->setType(type->withRequiresGrad(false));
    }
  }
}

} // namespace

Gradient differentiate(std::shared_ptr<Graph>& graph) {
  TORCH_CHECK(graph, "differentiate: got no graph");
  for (const Node* node : graph->nodes()) {
    TORCH_CHECK(
        isDifferentiable(node),
        "differentiate: the graph must consist of operators that isDifferentiable() knows, and ", label(node->kind()),
        " is not among them; CreateAutodiffSubgraphs() finds the parts that can be differentiated. "
        "The graph was:\n",
        *graph);
  }
  Gradient gradient;
  gradient.f = std::move(graph);
  graph = nullptr;
  std::vector<Step> steps = Forward(*gradient.f).run();
  Backward(gradient, std::move(steps)).run();
  EliminateDeadCode(gradient.f);
  clear_requires_grad(gradient.f->inputs());
  for (Node* node : gradient.f->nodes()) {
    clear_requires_grad(node->outputs());
  }
  return gradient;
}

} // namespace torch::jit
