// Note [Exits]
// A graph has no jumps: return, break and continue anywhere in a block become values. A block that may exit says
// whether it has (a bool) and with which values; what follows it in its own block is run only if it has not. Blocks
// around it hand both on, up to the block that the exit leads to: the function for return, the loop's body for break
// and continue, whose outputs they then are. Where one branch of an If always exits and the other never does, what
// follows moves into the other branch, so that the usual `if x: return y` costs no second test. Values that are never
// seen are prim::Uninitialized.
#include <csrc/jit/frontend/convert_to_ssa.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/serialize/stack_room.h>

#include <algorithm>

namespace torch::jit {

namespace {

enum class Status { Will, Might, Wont, Throws };

/// Whether a block has exited, and the values that it gives if so.
struct Exit {
  Status status = Status::Wont;
  Value* has_exited = nullptr; // of those that might
  std::vector<Value*> values; // of those that will or might
};

class ExitTransformer {
 public:
  /// `types` are those of the values of returns; for loops they are found in each body.
  ExitTransformer(Graph& graph, Symbol kind, std::vector<TypePtr> types)
      : graph_(graph), kind_(kind), types_(std::move(types)) {
    const WithInsertPoint at(*graph.nodes().begin());
    true_ = graph.insertConstant(true);
    false_ = graph.insertConstant(false);
  }

  void run() {
    Exit exit = visit(graph_.block());
    if (kind_ == prim::ReturnStmt) {
      // Functions that only throw give a value all the same.
      while (!graph_.outputs().empty()) {
        graph_.eraseOutput(graph_.outputs().size() - 1);
      }
      for (size_t i = 0; i < types_.size(); ++i) {
        graph_.registerOutput(exit.status == Status::Will ? exit.values[i] : nothing(types_[i]));
      }
    }
    for (Value* flag : {true_, false_}) {
      if (!flag->hasUses()) {
        flag->node()->destroy();
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
    const WithInsertPoint at(true_->node());
    nothings_.push_back(graph_.insertNode(graph_.createUninitialized(type))->output());
    return nothings_.back();
  }

  Value* flag_of(const Exit& exit) {
    switch (exit.status) {
      case Status::Will:
        return true_;
      case Status::Might:
        return exit.has_exited;
      default:
        return false_;
    }
  }

  Value* value_of(const Exit& exit, size_t i) {
    return i < exit.values.size() ? exit.values[i] : nothing(types_[i]);
  }

  // What stands behind an exit is never run.
  void delete_from(Block* block, graph_node_list_iterator first) {
    for (size_t i = 0; i < block->outputs().size(); ++i) {
      block->replaceOutput(i, nothing(block->outputs()[i]->type()));
    }
    auto last = block->nodes().rbegin();
    while (first != block->nodes().end() && *last != (*first)->prev()) {
      const bool is_first = *last == *first;
      if (is_first) {
        (*last)->destroy();
        return;
      }
      last.destroyCurrent();
      // destroyCurrent stands at the node that was seen before it, in its direction.
      ++last;
    }
  }

  Exit visit(Block* block) {
    check_stack_room("statements that exit early");
    Exit exit;
    for (auto it = block->nodes().begin(); it != block->nodes().end();) {
      Node* node = *it;
      ++it;
      if (node->kind() == prim::RaiseException) {
        exit = Exit{Status::Throws, nullptr, {}};
      } else if (node->kind() == kind_) {
        exit = Exit{Status::Will, nullptr, node->inputs().vec()};
        node->destroy();
      } else if (node->kind() == prim::If) {
        exit = visit_if(block, node, it);
      } else if (node->kind() == prim::With) {
        exit = visit(node->blocks()[0]);
      } else if (node->kind() == prim::Loop) {
        exit = visit_loop(node);
      } else {
        continue;
      }
      if (exit.status == Status::Will || exit.status == Status::Throws) {
        delete_from(block, it);
        return exit;
      }
      if (exit.status == Status::Might) {
        return guard(block, std::move(exit), it);
      }
    }
    return exit;
  }

  static void move_rest(Block* to, graph_node_list_iterator first, graph_node_list_iterator end) {
    while (first != end) {
      Node* node = *first;
      ++first;
      node->moveBefore(to->return_node());
    }
  }

  static bool is_within(const Value* value, const Block* block) {
    for (const Block* each = value->node()->owningBlock(); each;
         each = each->owningNode() ? each->owningNode()->owningBlock() : nullptr) {
      if (each == block) {
        return true;
      }
    }
    return false;
  }

  // The outputs of `block` that are computed in one branch of `node` become outputs of the node.
  void give_outputs(Block* block, Node* node, Block* computing) {
    for (size_t i = 0; i < block->outputs().size(); ++i) {
      Value* output = block->outputs()[i];
      if (!is_within(output, computing)) {
        continue;
      }
      for (Block* branch : node->blocks()) {
        branch->registerOutput(branch == computing ? output : nothing(output->type()));
      }
      block->replaceOutput(i, node->addOutput()->setType(output->type()));
    }
  }

  Exit visit_if(Block* block, Node* node, graph_node_list_iterator& rest) {
    Exit first = visit(node->blocks()[0]);
    Exit second = visit(node->blocks()[1]);
    const auto leaves = [](const Exit& exit) { return exit.status == Status::Will || exit.status == Status::Throws; };
    const bool first_leaves = leaves(first);
    if (first_leaves != leaves(second) && (first_leaves ? second : first).status == Status::Wont) {
      Block* staying = node->blocks()[first_leaves ? 1 : 0];
      for (size_t i = node->outputs().size(); i-- > 0;) {
        node->output(i)->replaceAllUsesWith(staying->outputs()[i]);
        node->blocks()[0]->eraseOutput(i);
        node->blocks()[1]->eraseOutput(i);
        node->eraseOutput(i);
      }
      move_rest(staying, rest, block->nodes().end());
      rest = block->nodes().end();
      // Outputs of this block are computed in the branch now; visiting it may put others in their place.
      give_outputs(block, node, staying);
      (first_leaves ? second : first) = visit(staying);
    }
    return merge(node, first, second);
  }

  // The exits of both branches as outputs of the If.
  Exit merge(Node* node, const Exit& first, const Exit& second) {
    if (first.status == Status::Throws || second.status == Status::Throws) {
      const Exit& other = first.status == Status::Throws ? second : first;
      if (other.status == Status::Throws || other.status == Status::Wont) {
        return Exit{other.status, nullptr, {}};
      }
    } else if (first.status == Status::Wont && second.status == Status::Wont) {
      return {};
    }
    const auto returns_surely = [](const Exit& exit) {
      return exit.status == Status::Will || exit.status == Status::Throws;
    };
    Exit merged;
    merged.status = returns_surely(first) && returns_surely(second) ? Status::Will : Status::Might;
    if (merged.status == Status::Might) {
      merged.has_exited = add_output(node, flag_of(first), flag_of(second), BoolType::get());
    }
    for (size_t i = 0; i < types_.size(); ++i) {
      merged.values.push_back(add_output(node, value_of(first, i), value_of(second, i), types_[i]));
    }
    return merged;
  }

  static Value* add_output(Node* node, Value* first, Value* second, const TypePtr& type) {
    node->blocks()[0]->registerOutput(first);
    node->blocks()[1]->registerOutput(second);
    return node->addOutput()->setType(type);
  }

  // The rest of the block is run if it has not been left.
  Exit guard(Block* block, Exit exit, graph_node_list_iterator rest) {
    if (rest == block->nodes().end()) {
      return exit;
    }
    Node* node = graph_.create(prim::If, {exit.has_exited}, 0)->insertBefore(*rest);
    Block* left = node->addBlock();
    Block* guarded = node->addBlock();
    (void)left;
    move_rest(guarded, rest, block->nodes().end());
    give_outputs(block, node, guarded);
    const Exit later = visit(guarded);
    if (later.status == Status::Wont) {
      return exit;
    }
    return merge(node, Exit{Status::Will, nullptr, exit.values}, later);
  }

  Exit visit_loop(Node* loop) {
    Block* body = loop->blocks()[0];
    if (kind_ == prim::LoopContinuation) {
      visit_target(body);
      return {};
    }
    const Exit exit = visit(body);
    // An exception ends everything; and the body may never be run.
    if (exit.status == Status::Wont || exit.status == Status::Throws) {
      return {};
    }
    Value* has_exited = flag_of(exit);
    {
      // Having left, the loop does not go on.
      const WithInsertPoint at(body);
      Node* go_on = graph_.insertNode(graph_.create(prim::If, {has_exited}, 0));
      go_on->addBlock()->registerOutput(false_);
      go_on->addBlock()->registerOutput(body->outputs()[0]);
      body->replaceOutput(0, go_on->addOutput()->setType(BoolType::get()));
    }
    Exit outside{Status::Might, carry(loop, false_, has_exited, BoolType::get()), {}};
    for (size_t i = 0; i < types_.size(); ++i) {
      outside.values.push_back(carry(loop, nothing(types_[i]), exit.values[i], types_[i]));
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

  // The body of a loop, to which its break and continue lead.
  void visit_target(Block* body) {
    std::vector<TypePtr> types;
    for (const Value* output : body->outputs()) {
      types.push_back(output->type());
    }
    std::swap(types_, types);
    const Exit exit = visit(body);
    if (exit.status == Status::Will) {
      for (size_t i = 0; i < exit.values.size(); ++i) {
        body->replaceOutput(i, exit.values[i]);
      }
    } else if (exit.status == Status::Might) {
      const WithInsertPoint at(body);
      Node* node = graph_.insertNode(graph_.create(prim::If, {exit.has_exited}, 0));
      node->addBlock();
      node->addBlock();
      for (size_t i = 0; i < types_.size(); ++i) {
        body->replaceOutput(i, add_output(node, exit.values[i], body->outputs()[i], types_[i]));
      }
    }
    std::swap(types_, types);
  }

  Graph& graph_;
  Symbol kind_;
  std::vector<TypePtr> types_;
  Value* true_;
  Value* false_;
  std::vector<Value*> nothings_;
};

} // namespace

void transformExits(Graph& graph, const TypePtr& return_type) {
  ExitTransformer(graph, prim::LoopContinuation, {}).run();
  ExitTransformer(graph, prim::ReturnStmt, {return_type}).run();
}

} // namespace torch::jit
