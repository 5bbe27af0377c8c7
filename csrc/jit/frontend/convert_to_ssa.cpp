#include <csrc/jit/frontend/convert_to_ssa.h>

#include <aten/core/function.h>
#include <csrc/jit/frontend/environment.h>
#include <csrc/jit/frontend/error_report.h>
#include <csrc/jit/ir/constants.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace torch::jit {

namespace {

constexpr size_t kConditionBlock = 0;
constexpr size_t kBodyBlock = 1;

// ---- control flow takes and gives the variables that are assigned in it ---------------------------------------------

using VariableTypes = std::map<std::string, TypePtr>;

class VariablesOfControlFlow {
 public:
  explicit VariablesOfControlFlow(Graph& graph) : graph_(graph) {}

  // Adds to `variables` those that the block assigns; returns their names.
  std::set<std::string> visit(Block* block, VariableTypes& variables) {
    std::set<std::string> assigned;
    for (auto it = block->nodes().begin(); it != block->nodes().end();) {
      Node* node = *it;
      ++it; // what is added behind the node has been thought of already
      if (node->kind() == prim::Store) {
        const std::string& name = node->s(attr::name);
        variables[name] = node->input()->type();
        assigned.insert(name);
        continue;
      }
      std::set<std::string> inner;
      if (node->kind() == prim::If) {
        inner = visit_if(node, variables);
      } else if (node->kind() == prim::Loop) {
        inner = visit_loop(node, variables);
      } else if (node->kind() == prim::With) {
        inner = visit(node->blocks()[0], variables);
      }
      assigned.insert(inner.begin(), inner.end());
    }
    return assigned;
  }

 private:
  // What stands for a variable has its name; those of comprehensions have a number in the graph.
  static Value* named(Value* value, const std::string& variable) {
    const std::string name = variable.substr(0, variable.find('@'));
    return isMeaningfulName(name) ? value->setDebugName(name) : value;
  }

  Value* load_at_end(Block* block, const std::string& name, const TypePtr& type) {
    const WithInsertPoint at(block);
    return graph_.insertNode(graph_.createLoad(name, type))->output();
  }

  void store_behind(Node* node, const std::string& name, Value* value) {
    graph_.createStore(name, value)->insertAfter(node);
  }

  std::set<std::string> visit_if(Node* node, VariableTypes& variables) {
    VariableTypes in_then = variables;
    VariableTypes in_otherwise = variables;
    std::set<std::string> assigned = visit(node->blocks()[0], in_then);
    const std::set<std::string> otherwise = visit(node->blocks()[1], in_otherwise);
    assigned.insert(otherwise.begin(), otherwise.end());
    std::set<std::string> given;
    for (const std::string& name : assigned) {
      const auto a = in_then.find(name);
      const auto b = in_otherwise.find(name);
      if (a == in_then.end() || b == in_otherwise.end()) {
        continue;
      }
      // A variable that is declared as a union takes values of its members.
      const std::optional<TypePtr> unified = unifyTypes(a->second, b->second);
      const TypePtr type = unified ? *unified : TypePtr(UnionType::create({a->second, b->second}));
      node->blocks()[0]->registerOutput(load_at_end(node->blocks()[0], name, a->second));
      node->blocks()[1]->registerOutput(load_at_end(node->blocks()[1], name, b->second));
      Value* output = named(node->addOutput()->setType(type), name);
      store_behind(node, name, output);
      variables[name] = type;
      given.insert(name);
    }
    return given;
  }

  std::set<std::string> visit_loop(Node* node, VariableTypes& variables) {
    VariableTypes inside = variables;
    visit(node->blocks()[kConditionBlock], inside);
    const std::set<std::string> assigned = visit(node->blocks()[kBodyBlock], inside);
    Block* body = node->blocks()[kBodyBlock];
    std::set<std::string> carried;
    Node* first = *body->nodes().begin();
    for (const std::string& name : assigned) {
      const auto outside = variables.find(name);
      if (outside == variables.end()) {
        continue; // exists in the body alone
      }
      // Inside, None may have become a value.
      const std::optional<TypePtr> unified = unifyTypes(outside->second, inside.at(name));
      const TypePtr type = unified ? *unified : outside->second;
      Node* before = graph_.createLoad(name, outside->second)->insertBefore(node);
      node->addInput(before->output());
      Value* state = body->addInput()->setType(type);
      if (name[0] != '$') {
        state->setDebugName(name.substr(0, name.find('@')));
      }
      graph_.createStore(name, state)->insertBefore(first);
      body->registerOutput(load_at_end(body, name, inside.at(name)));
      store_behind(node, name, named(node->addOutput()->setType(type), name));
      carried.insert(name);
    }
    return carried;
  }

  Graph& graph_;
};

// ---- break and continue ---------------------------------------------------------------------------------------------

void copy_block(Graph& graph, Block* from, std::vector<Value*>& outputs) {
  std::unordered_map<Value*, Value*> copies;
  const auto map_value = [&](Value* value) {
    const auto found = copies.find(value);
    return found == copies.end() ? value : found->second;
  };
  for (Node* node : from->nodes()) {
    Node* copy = graph.insertNode(graph.createClone(node, map_value));
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      // Names are taken twice by libtorch's copies of blocks.
      copies[node->output(i)] = copy->output(i)->copyMetadata(node->output(i));
    }
  }
  for (Value* output : from->outputs()) {
    outputs.push_back(map_value(output));
  }
}

/// What a loop's next iteration takes stands at the end of its body; break and continue give the same, earlier:
/// prim::LoopContinuation(go on?, state ...).
class LoopContinuations {
 public:
  explicit LoopContinuations(Graph& graph) : graph_(graph) {
    const WithInsertPoint at(*graph.nodes().begin());
    false_ = graph.insertConstant(false);
  }

  void run() {
    visit(graph_.block(), nullptr);
    if (!false_->hasUses()) {
      false_->node()->destroy();
    }
  }

 private:
  void visit(Block* block, Node* loop) {
    for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
      Node* node = *it;
      if (node->kind() == prim::Loop) {
        visit(node->blocks()[kBodyBlock], node);
      } else if (node->kind() == prim::BreakStmt || node->kind() == prim::ContinueStmt) {
        TORCH_INTERNAL_ASSERT(loop, "break or continue outside of a loop");
        replace(node, loop);
        it.destroyCurrent();
      } else {
        for (Block* inner : node->blocks()) {
          visit(inner, loop);
        }
      }
    }
  }

  void replace(Node* statement, Node* loop) {
    const WithInsertPoint at(statement);
    std::vector<Value*> inputs;
    if (statement->kind() == prim::BreakStmt) {
      inputs.push_back(false_);
    } else {
      copy_block(graph_, loop->blocks()[kConditionBlock], inputs);
    }
    for (Value* state : loop->blocks()[kBodyBlock]->outputs()) {
      Node* load = graph_.createClone(state->node(), [](Value* value) { return value; });
      inputs.push_back(graph_.insertNode(load)->output());
    }
    graph_.insertNode(graph_.create(prim::LoopContinuation, inputs, 0)->setSourceRange(statement->sourceRange()));
  }

  Graph& graph_;
  Value* false_;
};

// ---- loops with one block -------------------------------------------------------------------------------------------

// The condition is evaluated before the loop and at the end of its body.
void inline_conditions(Graph& graph, Block* block) {
  for (Node* node : block->nodes()) {
    for (Block* inner : node->blocks()) {
      inline_conditions(graph, inner);
    }
    if (node->kind() != prim::Loop) {
      continue;
    }
    Block* condition = node->blocks()[kConditionBlock];
    Block* body = node->blocks()[kBodyBlock];
    std::vector<Value*> at_start;
    {
      const WithInsertPoint before(node);
      copy_block(graph, condition, at_start);
    }
    node->insertInput(1, at_start.at(0));
    while (condition->nodes().begin() != condition->nodes().end()) {
      (*condition->nodes().begin())->moveBefore(body->return_node());
    }
    body->insertOutput(0, condition->outputs().at(0));
    node->eraseBlock(kConditionBlock);
  }
}

// ---- loads and stores -----------------------------------------------------------------------------------------------

using Variables = std::map<std::string, Value*>;

void erase_loads_and_stores(Block* block, Variables& variables) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    Node* node = *it;
    if (node->kind() == prim::Store) {
      variables[node->s(attr::name)] = node->input();
      it.destroyCurrent();
    } else if (node->kind() == prim::Load) {
      const auto found = variables.find(node->s(attr::name));
      TORCH_INTERNAL_ASSERT(
          found != variables.end(), "the variable ", node->s(attr::name), " has no value where it is used");
      node->output()->replaceAllUsesWith(found->second);
      it.destroyCurrent();
    } else if (node->kind() == prim::With) {
      erase_loads_and_stores(node->blocks()[0], variables);
    } else {
      for (Block* inner : node->blocks()) {
        Variables inside = variables;
        erase_loads_and_stores(inner, inside);
      }
    }
  }
}

} // namespace

void inlineWithBlocks(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    Node* node = *it;
    for (Block* inner : node->blocks()) {
      inlineWithBlocks(inner);
    }
    if (node->kind() != prim::With) {
      continue;
    }
    Graph& graph = *node->owningGraph();
    Block* body = node->blocks()[0];
    for (auto inner = body->nodes().begin(); inner != body->nodes().end();) {
      Node* moved = *inner;
      ++inner;
      moved->moveBefore(node);
    }
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      node->output(i)->replaceAllUsesWith(body->outputs()[i]);
    }
    Node* exit = graph.create(prim::Exit, {node->input()})->insertBefore(node);
    exit->setSourceRange(node->sourceRange());
    exit->output()->renumber(static_cast<size_t>(node->i(attr::value)));
    body->removeAllOutputs();
    it.destroyCurrent();
  }
}

namespace {

// Passes go through blocks by recursion.
constexpr size_t kMaxNestedBlocks = 2000;

void check_nesting(Graph& graph) {
  std::vector<std::pair<Block*, size_t>> open{{graph.block(), 1}};
  while (!open.empty()) {
    const auto [block, depth] = open.back();
    open.pop_back();
    for (Node* node : block->nodes()) {
      for (Block* inner : node->blocks()) {
        if (depth >= kMaxNestedBlocks) {
          throw ErrorReport(node->sourceRange()) << "control flow is nested more than " << kMaxNestedBlocks
                                                 << " levels deep, counting what follows each early return";
        }
        open.emplace_back(inner, depth + 1);
      }
    }
  }
}

} // namespace

void convertToSSA(Graph& graph) {
  VariableTypes types;
  VariablesOfControlFlow(graph).visit(graph.block(), types);
  LoopContinuations(graph).run();
  inline_conditions(graph, graph.block());
  Variables variables;
  erase_loads_and_stores(graph.block(), variables);
  transformExits(graph);
  check_nesting(graph);
  joinConditionals(graph.block());
  inlineWithBlocks(graph.block());
}

} // namespace torch::jit
