#include <csrc/fx/interpreter.h>

#include <csrc/fx/graph_module.h>
#include <csrc/fx/plan.h>
#include <c10/util/Exception.h>

namespace torch::fx {

/// One run of one graph.
class Run {
 public:
  Run(Interpreter& interpreter, const Plan& plan) : interpreter_(interpreter), plan_(plan), values_(plan.num_slots) {}

  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs) {
    TORCH_CHECK(
        inputs.size() == plan_.num_inputs, "the graph takes ", plan_.num_inputs, " inputs, got ", inputs.size());
    bind_sizes(inputs);
    size_t next_input = 0;
    for (const Plan::Step& step : plan_.steps) {
      const Node& node = *step.node;
      switch (node.kind()) {
        case NodeKind::Placeholder:
          slot(node) = interpreter_.placeholder(node, std::move(inputs[next_input++]));
          break;
        case NodeKind::GetAttr:
          slot(node) = interpreter_.get_attr(node);
          break;
        case NodeKind::CallOperator:
          call_operator(step);
          break;
        case NodeKind::CallFunction:
          call_function(node);
          break;
        case NodeKind::Output:
          return results(node);
      }
      for (const uint32_t done : step.last_uses) {
        values_[done] = c10::IValue();
      }
    }
    return {};
  }

 private:
  c10::IValue& slot(const Node& node) {
    return values_[plan_.slots[node.id()]];
  }

  /// Symbols get their values from the sizes of the inputs.
  void bind_sizes(const std::vector<c10::IValue>& inputs) {
    const SizeTable& sizes = plan_.graph->sizes();
    if (sizes.size() == 0) {
      return;
    }
    // Twice: an expression may be known only when a later input has given its symbols.
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        const TensorInfo* const info = plan_.steps[i].node->info();
        if (!info || !inputs[i].isTensor() || !inputs[i].toTensor().defined() ||
            inputs[i].toTensor().dim() != static_cast<int64_t>(info->sizes.size())) {
          continue;
        }
        for (size_t dim = 0; dim < info->sizes.size(); ++dim) {
          sizes.bind(info->sizes[dim], inputs[i].toTensor().size(static_cast<int64_t>(dim)), symbols_);
        }
      }
    }
  }

  c10::IValue load_value(Value value) const {
    return values_[plan_.slots[value.node->id()] + value.result];
  }

  int64_t load_size(Dim dim) const {
    const auto size = plan_.graph->sizes().evaluate(dim, symbols_);
    TORCH_CHECK(size, "size ", plan_.graph->sizes().print(dim), " is not known from the sizes of the inputs");
    return *size;
  }

  c10::IValue load(const Arg& arg, const Plan::Load& how) const {
    switch (arg.kind()) {
      case Arg::Kind::Constant:
        return convert(arg.constant(), how.conversion);
      case Arg::Kind::Value:
        return convert(load_value(arg.value()), how.conversion);
      case Arg::Kind::Size:
        return convert(load_size(arg.size()), how.conversion);
      case Arg::Kind::Graph:
        TORCH_CHECK(false, "an operator takes no graph");
      case Arg::Kind::List:
        break;
    }
    return make_list(load_items(arg.list(), how.element), how.list_type);
  }

  std::vector<c10::IValue> load_items(const std::vector<Arg>& args, Conversion conversion) const {
    std::vector<c10::IValue> items;
    items.reserve(args.size());
    for (const Arg& arg : args) {
      if (arg.is_list()) {
        // A list in a list: its elements' type is not kept, and says no more than the values do.
        c10::List<c10::IValue> inner(c10::AnyType::get());
        for (c10::IValue& item : load_items(arg.list(), Conversion::None)) {
          inner.push_back(std::move(item));
        }
        items.emplace_back(std::move(inner));
      } else {
        items.push_back(load(arg, {conversion, Conversion::None, nullptr}));
      }
    }
    return items;
  }

  void call_operator(const Plan::Step& step) {
    const Node& node = *step.node;
    torch::jit::Stack stack;
    stack.reserve(std::max<size_t>(node.args().size(), node.num_results()));
    for (size_t i = 0; i < node.args().size(); ++i) {
      stack.push_back(load(node.args()[i], step.loads[i]));
    }
    interpreter_.call_operator(node, stack);
    store(node, stack);
  }

  Operand operand(const Arg& arg) const {
    switch (arg.kind()) {
      case Arg::Kind::Graph:
        return {c10::IValue(), arg.graph().get()};
      case Arg::Kind::List: {
        std::vector<c10::IValue> items;
        for (const Arg& item : arg.list()) {
          Operand part = operand(item);
          TORCH_CHECK(!part.graph, "a graph in a list of arguments");
          items.push_back(std::move(part.value));
        }
        return {c10::ivalue::Tuple::create(std::move(items)), nullptr};
      }
      default:
        return {load(arg, {}), nullptr};
    }
  }

  void call_function(const Node& node) {
    std::vector<Operand> operands;
    operands.reserve(node.args().size());
    for (const Arg& arg : node.args()) {
      operands.push_back(operand(arg));
    }
    std::vector<c10::IValue> results = interpreter_.call_function(node, operands);
    store(node, results);
  }

  void store(const Node& node, std::vector<c10::IValue>& results) {
    TORCH_CHECK(
        results.size() == node.num_results(), node.target(), " gave ", results.size(), " results, node %", node.name(),
        " has ", node.num_results());
    for (size_t i = 0; i < results.size(); ++i) {
      values_[plan_.slots[node.id()] + i] = std::move(results[i]);
    }
  }

  std::vector<c10::IValue> results(const Node& output) const {
    std::vector<c10::IValue> out;
    out.reserve(output.args().size());
    for (const Arg& arg : output.args()) {
      out.push_back(operand(arg).value);
    }
    return out;
  }

  Interpreter& interpreter_;
  const Plan& plan_;
  std::vector<c10::IValue> values_;
  SymbolValues symbols_;
};

Interpreter::Interpreter(const GraphModule& module) : module_(module), plan_(module.plan()) {}
Interpreter::~Interpreter() = default;

std::vector<c10::IValue> Interpreter::run(std::vector<c10::IValue> inputs) {
  return Run(*this, *plan_).run(std::move(inputs));
}

std::vector<c10::IValue> Interpreter::run_graph(const Graph& graph, std::vector<c10::IValue> inputs) {
  // The plan that is being run is put back afterwards: the graph's own graphs are looked for in its own plan.
  const std::shared_ptr<const Plan> outer = plan_;
  const auto found = outer->inner.find(&graph);
  TORCH_CHECK(found != outer->inner.end(), "run_graph() got a graph that is no argument");
  struct Restore {
    std::shared_ptr<const Plan>& place;
    const std::shared_ptr<const Plan>& plan;
    ~Restore() {
      place = plan;
    }
  } restore{plan_, outer};
  plan_ = found->second;
  return Run(*this, *plan_).run(std::move(inputs));
}

c10::IValue Interpreter::placeholder(const Node&, c10::IValue input) {
  return input;
}

c10::IValue Interpreter::get_attr(const Node& node) {
  return module_.attr(node.target());
}

void Interpreter::call_operator(const Node& node, torch::jit::Stack& stack) {
  node.operator_handle().callBoxed(&stack);
}

std::vector<c10::IValue> Interpreter::call_function(const Node& node, std::vector<Operand>& operands) {
  return node.function().run(*this, operands);
}

} // namespace torch::fx
