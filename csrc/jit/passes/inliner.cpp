#include <csrc/jit/passes/inliner.h>

#include <aten/core/class_type.h>
#include <aten/core/interface_type.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace torch::jit {

namespace {

// Functions that call functions that call functions: beyond these bounds calls stay calls.
constexpr size_t kMaxNestedCalls = 100;
constexpr size_t kMaxInlinedNodes = 20000;

size_t count_nodes(const Block* block) {
  size_t count = 0;
  for (const Node* node : block->nodes()) {
    ++count;
    for (const Block* inner : node->blocks()) {
      count += count_nodes(inner);
    }
  }
  return count;
}

const Value* self_of(const Graph& graph) {
  return graph.inputs().empty() ? nullptr : graph.inputs()[0];
}

/// The object whose method is called; `self` is that of the method, if it is one, which calls.
std::optional<ModuleInstanceInfo> called_instance(const Node* call, const Value* self) {
  if (call->kind() != prim::CallMethod) {
    return std::nullopt;
  }
  const Value* object = call->input(0);
  const Node* maker = object->node();
  return ModuleInstanceInfo(
      object->type()->cast<ClassType>(),
      object == self                       ? "SELF"
          : maker->kind() == prim::GetAttr ? maker->s(attr::name)
                                           : "INSTANCE_NAME_UNKNOWN");
}

/// Gives copied nodes the calls that lead to them.
class CallStackBuilder {
 public:
  CallStackBuilder(const Node* call, const Value* self, GraphFunction& callee) {
    if (const std::optional<InlinedCallStackPtr> outer = call->callstack()) {
      calls_ = (*outer)->vec();
    }
    calls_.emplace_back(&callee, call->sourceRange(), called_instance(call, self));
  }

  void apply(Node* node) {
    node->setCallStack(from_here(node->callstack().value_or(InlinedCallStackPtr())));
    for (Block* block : node->blocks()) {
      for (Node* inner : block->nodes()) {
        apply(inner);
      }
    }
  }

 private:
  // The same calls, made from within this one.
  InlinedCallStackPtr from_here(const InlinedCallStackPtr& inner) {
    InlinedCallStackPtr& known = known_[inner.get()];
    if (!known) {
      known = inner;
      for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
        const auto& [function, range, instance] = *call;
        known = c10::make_intrusive<InlinedCallStack>(std::move(known), function, range, instance);
      }
    }
    return known;
  }

  std::vector<InlinedCallStackEntry> calls_; // outermost first
  std::unordered_map<const InlinedCallStack*, InlinedCallStackPtr> known_;
};

std::vector<Value*> replace_by_body(Node* call, const Value* self, GraphFunction& callee, Graph& callee_graph) {
  Graph& graph = *call->owningGraph();
  const at::ArrayRef<Value*> arguments = call->inputs().slice(call->kind() == prim::CallFunction ? 1 : 0);
  Node* before = call->prev();
  std::unordered_map<Value*, Value*> value_map;
  std::vector<Value*> results;
  {
    const WithInsertPoint guard(call);
    results = insertGraph(graph, callee_graph, arguments, value_map);
  }
  CallStackBuilder calls(call, self, callee);
  for (Node* node = before->next(); node != call; node = node->next()) {
    calls.apply(node);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Value* old = call->output(i);
    if (old->hasDebugName()) {
      results[i]->setDebugName(std::string(old->debugName()));
    }
    old->replaceAllUsesWith(results[i]);
  }
  call->destroy();
  return results;
}

/// The functions whose graphs are being inlined in this thread.
std::vector<const GraphFunction*>& open_calls() {
  thread_local std::vector<const GraphFunction*> functions;
  return functions;
}

struct OpenCall {
  explicit OpenCall(const GraphFunction* function) {
    open_calls().push_back(function);
  }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;
  ~OpenCall() {
    open_calls().pop_back();
  }
};

class Inliner {
 public:
  /// Callees come optimized, or as they were written, with the calls in them inlined where they stand.
  explicit Inliner(bool optimized) : optimized_(optimized) {}

  void inline_calls(Graph& graph) {
    self_ = self_of(graph);
    inline_calls(graph.block());
  }

 private:
  void inline_calls(Block* block) {
    inline_calls(block->return_node()->next(), block->return_node());
  }

  void inline_calls(Node* first, const Node* end) {
    for (Node* node = first; node != end;) {
      Node* next = node->next();
      if (GraphFunction* callee = tryToGraphFunction(node)) {
        inline_call(node, *callee);
      } else {
        for (Block* inner : node->blocks()) {
          inline_calls(inner);
        }
      }
      node = next;
    }
  }

  void inline_call(Node* call, GraphFunction& callee) {
    const auto& open = open_calls();
    if (open.size() >= kMaxNestedCalls || std::find(open.begin(), open.end(), &callee) != open.end()) {
      return;
    }
    const OpenCall guard(&callee);
    const std::shared_ptr<Graph> graph = optimized_ ? callee.optimized_graph() : callee.graph();
    const size_t arguments = call->inputs().size() - (call->kind() == prim::CallFunction ? 1 : 0);
    if (graph->inputs().size() != arguments || graph->outputs().size() != call->outputs().size()) {
      return; // the interpreter says what is wrong
    }
    inserted_ += count_nodes(graph->block());
    if (inserted_ > kMaxInlinedNodes) {
      return;
    }
    Node* before = call->prev();
    const Node* after = call->next();
    const Value* object = call->kind() == prim::CallMethod ? call->input(0) : nullptr;
    replace_by_body(call, self_, callee, *graph);
    if (!optimized_) {
      const Value* caller = std::exchange(self_, object);
      inline_calls(before->next(), after);
      self_ = caller;
    }
  }

  bool optimized_;
  const Value* self_ = nullptr; // of the method whose nodes are gone through
  size_t inserted_ = 0;
};

} // namespace

GraphFunction* tryToGraphFunction(Node* node) {
  if (node->inputs().empty()) {
    return nullptr;
  }
  const TypePtr& type = node->input(0)->type();
  if (node->kind() == prim::CallFunction) {
    const FunctionType* function = type->castRaw<FunctionType>();
    return function ? tryToGraphFunction(*function->function()) : nullptr;
  }
  if (node->kind() == prim::CallMethod && node->hasAttribute(attr::name)) {
    const ClassType* owner = type->castRaw<ClassType>();
    Function* method = owner ? owner->findMethod(node->s(attr::name)) : nullptr;
    return method ? tryToGraphFunction(*method) : nullptr;
  }
  return nullptr;
}

std::vector<Value*> inlineCallTo(Node* call, GraphFunction* callee, Graph& callee_graph) {
  return replace_by_body(call, self_of(*call->owningGraph()), *callee, callee_graph);
}

void Inline(Graph& graph) {
  Inliner(/*optimized=*/true).inline_calls(graph);
}

void inlineAsWritten(Graph& graph) {
  Inliner(/*optimized=*/false).inline_calls(graph);
}

} // namespace torch::jit
