// Note [Exits]
// A graph has no jumps: return, break and continue anywhere in a block become values. A block that may exit says
// whether it has (a bool) and with which values; what follows it in its own block is run only if it has not. Blocks
// around it hand both on, up to the block that the exit leads to: the function for return, the loop's body for break
// and continue, whose outputs they then are. Where one branch of an If always exits and the other never does, what
// follows is moved into the other branch in the end (joinConditionals), so that the usual `if x: return y` costs no
// second test. Values that are never seen are prim::Uninitialized.
//
// Values are made in the order of libtorch's compiler, so that their numbers are those of its graphs.
#include <csrc/jit/frontend/convert_to_ssa.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/serialize/stack_room.h>

#include <algorithm>
#include <optional>
#include <string>

namespace torch::jit {

namespace {

/// Whether a block has exited, and the values that it gives if so. `has_exited` may be one of the transformer's three.
struct Exit {
  Value* has_exited;
  std::vector<Value*> values;
};

enum class Status { Will, Might, Wont, Throws };

class ExitTransformer {
 public:
  ExitTransformer(Graph& graph, Symbol kind) : graph_(graph), kind_(kind) {
    const WithInsertPoint at(*graph.nodes().begin());
    true_ = graph.insertConstant(true);
    false_ = graph.insertConstant(false);
    throws_ = nothing(BoolType::get());
  }

  void run() {
    visit(graph_.block());
    for (Value* each : {true_, false_}) {
      if (!each->hasUses()) {
        each->node()->destroy();
      }
    }
    for (Value* each : nothings_) {
      if (!each->hasUses()) {
        each->node()->destroy();
      }
    }
  }

 private:
  Value* nothing(const TypePtr& type) {
    for (Value* known : nothings_) {
      if (*known->type() == *type) {
        return known;
      }
    }
    const WithInsertPoint at(*graph_.nodes().begin());
    nothings_.push_back(graph_.insertNode(graph_.createUninitialized(type))->output());
    return nothings_.back();
  }

  std::vector<Value*> nothing_like(at::ArrayRef<Value*> values) {
    std::vector<Value*> all;
    for (const Value* value : values) {
      all.push_back(nothing(value->type()));
    }
    return all;
  }

  Status status_of(const Exit& exit) const {
    return exit.has_exited == true_  ? Status::Will
        : exit.has_exited == false_  ? Status::Wont
        : exit.has_exited == throws_ ? Status::Throws
                                     : Status::Might;
  }
  Exit wont() const {
    return {false_, {}};
  }

  // What stands behind an exit is never run.
  void delete_from(Block* block, graph_node_list_iterator first) {
    if (first == block->nodes().end()) {
      return;
    }
    Node* const last = *first;
    for (;;) {
      Node* node = block->return_node()->prev();
      for (Value* output : node->outputs()) {
        if (output->hasUses()) {
          output->replaceAllUsesWith(nothing(output->type()));
        }
      }
      const bool done = node == last;
      node->destroy();
      if (done) {
        return;
      }
    }
  }

  bool is_target(const Block* block) const {
    const Node* owner = block->owningNode();
    return kind_ == prim::LoopContinuation ? owner && owner->kind() == prim::Loop : !owner;
  }

  Exit visit(Block* block) {
    check_stack_room("statements that exit early");
    Exit exit = wont();
    for (auto it = block->nodes().begin(); it != block->nodes().end();) {
      Node* node = *it;
      ++it;
      if (node->kind() == prim::RaiseException) {
        exit = Exit{throws_, {}};
      } else if (node->kind() == kind_) {
        exit = Exit{true_, node->inputs().vec()};
        node->destroy();
      } else if (node->kind() == prim::If) {
        exit = visit_if(node);
      } else if (node->kind() == prim::With) {
        exit = visit(node->blocks()[0]);
      } else if (node->kind() == prim::Loop) {
        exit = visit_loop(node);
      } else {
        continue;
      }
      const Status status = status_of(exit);
      if (status == Status::Will || status == Status::Throws) {
        delete_from(block, it);
        break;
      }
      if (status == Status::Might) {
        if (it != block->nodes().end()) {
          exit = guard(block, exit, it);
        }
        break;
      }
    }
    return is_target(block) ? leave(block, exit) : exit;
  }

  // The block that exits lead to gives their values.
  Exit leave(Block* block, const Exit& exit) {
    const Status status = status_of(exit);
    if (status == Status::Might) {
      Node* node = graph_.create(prim::If, {exit.has_exited}, 0)->insertBefore(block->return_node());
      node->addBlock();
      node->addBlock();
      const std::vector<Value*> otherwise = block->outputs().vec();
      add_outputs(node, exit.values, otherwise);
      replace_outputs(block, node->outputs());
    } else if (status == Status::Will) {
      replace_outputs(block, exit.values);
    }
    return wont();
  }

  static void replace_outputs(Block* block, at::ArrayRef<Value*> values) {
    TORCH_INTERNAL_ASSERT(block->outputs().size() == values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      block->replaceOutput(i, values[i]);
    }
  }

  static void add_outputs(Node* node, at::ArrayRef<Value*> first, at::ArrayRef<Value*> second) {
    for (size_t i = 0; i < first.size(); ++i) {
      node->blocks()[0]->registerOutput(first[i]);
      node->blocks()[1]->registerOutput(second[i]);
      const TypePtr &one = first[i]->type(), &other = second[i]->type();
      const std::optional<TypePtr> unified = unifyTypes(one, other);
      node->addOutput()->setType(unified ? *unified : TypePtr(UnionType::create({one, other})));
    }
  }

  // The exits of both branches as outputs of the If.
  Exit visit_if(Node* node) {
    Exit first = visit(node->blocks()[0]);
    Exit second = visit(node->blocks()[1]);
    return merge(node, std::move(first), std::move(second));
  }

  Exit merge(Node* node, Exit first, Exit second) {
    const Status one = status_of(first), other = status_of(second);
    const auto stays = [](Status status) { return status == Status::Wont || status == Status::Throws; };
    if (stays(one) && stays(other)) {
      return one == Status::Throws && other == Status::Throws ? Exit{throws_, {}} : wont();
    }
    if (stays(one)) {
      first.values = nothing_like(second.values);
    } else if (stays(other)) {
      second.values = nothing_like(first.values);
    }
    const auto leaves = [](Status status) { return status == Status::Will || status == Status::Throws; };
    Exit merged{true_, {}};
    if (!leaves(one) || !leaves(other)) {
      add_outputs(node, {first.has_exited}, {second.has_exited});
      merged.has_exited = node->outputs().back();
    }
    add_outputs(node, first.values, second.values);
    merged.values = node->outputs().slice(node->outputs().size() - first.values.size()).vec();
    return merged;
  }

  // The rest of the block is run if it has not been left. All that the block gives comes from the conditional then.
  Exit guard(Block* block, const Exit& exit, graph_node_list_iterator rest) {
    Node* node = graph_.create(prim::If, {exit.has_exited}, 0)->insertBefore(*rest);
    Block* left = node->addBlock();
    Block* guarded = node->addBlock();
    while (rest != block->nodes().end()) {
      Node* moved = *rest;
      ++rest;
      moved->moveBefore(guarded->return_node());
    }
    const std::vector<Value*> outputs = block->outputs().vec();
    const std::vector<Value*> unseen = nothing_like(outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      left->registerOutput(unseen[i]);
      guarded->registerOutput(outputs[i]);
      block->replaceOutput(i, node->addOutput()->setType(outputs[i]->type()));
    }
    graph_.create(kind_, exit.values, 0)->insertBefore(left->return_node());
    return visit_if(node);
  }

  Exit visit_loop(Node* loop) {
    Block* body = loop->blocks()[0];
    const Exit exit = visit(body);
    // An exception ends everything; and the body may never be run.
    const Status status = status_of(exit);
    if (status == Status::Wont || status == Status::Throws) {
      return wont();
    }
    {
      // Having left, the loop does not go on.
      const WithInsertPoint at(body);
      Node* go_on = graph_.insertNode(graph_.create(prim::If, {exit.has_exited}, 0));
      go_on->addBlock()->registerOutput(false_);
      go_on->addBlock()->registerOutput(body->outputs()[0]);
      body->replaceOutput(0, go_on->addOutput()->setType(BoolType::get()));
    }
    Exit outside{carry(loop, false_, exit.has_exited, BoolType::get()), {}};
    for (Value* value : exit.values) {
      outside.values.push_back(carry(loop, nothing(value->type()), value, value->type()));
    }
    return outside;
  }

  // Another value that the loop's body takes and gives.
  static Value* carry(Node* loop, Value* initial, Value* given, const TypePtr& type) {
    Block* body = loop->blocks()[0];
    loop->addInput(initial);
    body->addInput()->setType(type);
    body->registerOutput(given);
    return loop->addOutput()->setType(type);
  }

  Graph& graph_;
  Symbol kind_;
  Value* true_;
  Value* false_;
  Value* throws_;
  std::vector<Value*> nothings_;
};

// ---- conditionals in a row ------------------------------------------------------------------------------------------

// libtorch copies what is moved here: values get new numbers and names. Its copies take the names of their originals
// twice, for the outputs of nodes before and after the blocks of these.
void renew(Block* block) {
  check_stack_room("nested blocks");
  for (Node* node : block->nodes()) {
    std::vector<std::string> names;
    for (Value* output : node->outputs()) {
      output->renumber();
      names.push_back(output->hasDebugName() ? output->owningGraph()->nextName(output->debugName()) : std::string());
    }
    for (Block* inner : node->blocks()) {
      for (Value* input : inner->inputs()) {
        input->renumber();
        if (input->hasDebugName()) {
          input->owningGraph()->nextName(input->debugName());
        }
      }
      renew(inner);
    }
    for (size_t i = 0; i < names.size(); ++i) {
      if (!names[i].empty()) {
        node->output(i)->setDebugName(names[i]);
        node->owningGraph()->nextName(names[i]);
      }
    }
  }
}

bool is_within(const Node* node, const Block* block) {
  const Block* at = node->owningBlock();
  while (at && at != block) {
    at = at->owningNode() ? at->owningNode()->owningBlock() : nullptr;
  }
  return at != nullptr;
}

// `second` tests an output of `first` that is a constant in both of its branches: each of its branches goes on with one
// of the second's.
bool join_next(Node* first) {
  Node* second = first->next();
  if (first->kind() != prim::If || second->kind() != prim::If || second->input()->node() != first) {
    return false;
  }
  const size_t tested = second->input()->offset();
  const auto known = [&](size_t branch) { return toIValue(first->blocks()[branch]->outputs()[tested]); };
  const std::optional<IValue> one = known(0), other = known(1);
  if (!one || !other || !one->isBool() || !other->isBool() || one->toBool() == other->toBool()) {
    return false;
  }
  for (size_t i = 0; i < 2; ++i) {
    Block* to = first->blocks()[i];
    Block* from = second->blocks()[(i == 0 ? *one : *other).toBool() ? 0 : 1];
    // What the first gives is known in its own branch.
    for (size_t j = 0; j < first->outputs().size(); ++j) {
      const use_list uses = first->output(j)->uses();
      for (const Use& use : uses) {
        if (is_within(use.user, from)) {
          use.user->replaceInput(use.offset, to->outputs()[j]);
        }
      }
    }
    renew(from);
    while (from->nodes().begin() != from->nodes().end()) {
      (*from->nodes().begin())->moveBefore(to->return_node());
    }
    for (Value* output : from->outputs()) {
      to->registerOutput(output);
    }
    from->removeAllOutputs();
  }
  for (Value* output : second->outputs()) {
    Value* joined = first->addOutput()->copyMetadata(output);
    output->replaceAllUsesWith(joined);
  }
  second->destroy();
  return true;
}

} // namespace

void transformExits(Graph& graph) {
  ExitTransformer(graph, prim::LoopContinuation).run();
  ExitTransformer(graph, prim::ReturnStmt).run();
}

void joinConditionals(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    while (join_next(*it)) {
    }
    for (Block* inner : it->blocks()) {
      joinConditionals(inner);
    }
  }
}

} // namespace torch::jit
