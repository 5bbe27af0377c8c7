#include <csrc/jit/passes/peephole.h>

#include <aten/core/tensor_type.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/passes/peephole_alias_sensitive.h>
#include <csrc/jit/passes/peephole_dict_idioms.h>
#include <csrc/jit/passes/peephole_list_idioms.h>
#include <csrc/jit/passes/peephole_non_tensor.h>

namespace torch::jit {

namespace {

class Peephole {
 public:
  explicit Peephole(bool shapes) : shapes_(shapes) {}

  bool run(Block* block) {
    for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
      Node* node = *it;
      for (Block* inner : node->blocks()) {
        run(inner);
      }
      optimize(node);
    }
    return changed_;
  }

 private:
  void optimize(Node* node) {
    switch (static_cast<uint32_t>(node->kind())) {
      case aten::__is__:
      case aten::__isnot__:
        compare_with_none(node);
        break;
      case prim::unchecked_unwrap_optional:
      case aten::_unwrap_optional:
        if (node->input(0)->mustNotBeNone() && node->input(0)->type()->kind() != TypeKind::AnyType) {
          replace(node, node->input(0));
        }
        break;
      case prim::unchecked_cast:
        remove_cast(node);
        break;
      case aten::t:
        transpose_twice(node);
        break;
      case aten::Float:
      case aten::Int:
      case aten::FloatImplicit:
      case aten::IntImplicit:
      case aten::ScalarImplicit:
        number_of_tensor_of_number(node);
        break;
      case aten::size:
      case aten::dim:
      case aten::is_floating_point:
      case prim::dtype:
      case prim::device:
        if (shapes_) {
          known_by_type(node);
        }
        break;
      default:
        break;
    }
  }

  void replace(Node* node, Value* by) {
    node->output()->replaceAllUsesWith(by);
    changed_ = true;
  }

  void replace_by_constant(Node* node, const IValue& value) {
    const WithInsertPoint guard(node);
    Value* constant = node->owningGraph()->insertConstant(value, node->sourceRange(), node->scope());
    constant->node()->copyMetadata(node);
    replace(node, constant);
  }

  static bool is_none(const Value* value) {
    return value->node()->kind() == prim::Constant && value->mustBeNone();
  }

  void compare_with_none(Node* node) {
    if (node->inputs().size() != 2 || node->outputs().size() != 1) {
      return;
    }
    for (const size_t i : {size_t{0}, size_t{1}}) {
      // A variable that begins as None may have its type and yet be something else later: only constants count.
      if (!is_none(node->input(i))) {
        continue;
      }
      if (node->input(1 - i)->mustNotBeNone() && node->input(1 - i)->type()->kind() != TypeKind::AnyType) {
        replace_by_constant(node, node->kind() == aten::__isnot__);
        return;
      }
      if (is_none(node->input(1 - i))) {
        replace_by_constant(node, node->kind() == aten::__is__);
        return;
      }
    }
  }

  static TypePtr without_shape(const TypePtr& type) {
    return type->kind() == TypeKind::TensorType ? TypePtr(TensorType::get()) : type;
  }

  void remove_cast(Node* node) {
    if (without_shape(node->input()->type())->isSubtypeOf(*without_shape(node->output()->type()))) {
      node->output()->replaceAllUsesWith(node->input());
      changed_ = true;
    }
  }

  void transpose_twice(Node* node) {
    Node* inner = node->input(0)->node();
    // The second view shares memory with the first value, as the value itself does.
    if (inner->kind() == aten::t && inner->inputs().size() == 1 && is_matrix(inner->input(0))) {
      replace(node, inner->input(0));
    }
  }

  static bool is_matrix(const Value* value) {
    const TensorType* type = value->type()->castRaw<TensorType>();
    return type && type->dim() == size_t{2};
  }

  void number_of_tensor_of_number(Node* node) {
    if (node->inputs().size() != 1 || node->input(0)->node()->kind() != prim::NumToTensor) {
      return;
    }
    Value* number = node->input(0)->node()->input(0);
    if (*number->type() == *node->output()->type()) {
      replace(node, number);
    }
  }

  void known_by_type(Node* node) {
    const TensorType* type = node->input(0)->type()->castRaw<TensorType>();
    if (!type || node->outputs().size() != 1) {
      return;
    }
    switch (static_cast<uint32_t>(node->kind())) {
      case aten::size:
        if (const auto sizes = type->sizes().concrete_sizes()) {
          known_size(node, *sizes);
        }
        break;
      case aten::dim:
        if (type->dim()) {
          replace_by_constant(node, static_cast<int64_t>(*type->dim()));
        }
        break;
      case aten::is_floating_point:
        if (type->scalarType()) {
          replace_by_constant(node, c10::isFloatingType(*type->scalarType()));
        }
        break;
      case prim::dtype:
        if (type->scalarType()) {
          replace_by_constant(node, static_cast<int64_t>(*type->scalarType()));
        }
        break;
      default:
        if (type->device()) {
          replace_by_constant(node, *type->device());
        }
        break;
    }
  }

  void known_size(Node* node, const std::vector<int64_t>& sizes) {
    if (node->inputs().size() == 1) {
      replace_by_constant(node, c10::List<int64_t>(sizes));
      return;
    }
    const std::optional<IValue> dim = toIValue(node->input(1));
    if (!dim || !dim->isInt()) {
      return;
    }
    const int64_t rank = static_cast<int64_t>(sizes.size());
    const int64_t place = dim->toInt() + (dim->toInt() < 0 ? rank : 0);
    if (place >= 0 && place < rank) {
      replace_by_constant(node, sizes[static_cast<size_t>(place)]);
    }
  }

  bool shapes_;
  bool changed_ = false;
};

} // namespace

bool PeepholeOptimize(Block* block, bool disable_shape_peepholes) {
  const bool changed = Peephole(!disable_shape_peepholes).run(block);
  if (changed) {
    EliminateDeadCode(block);
  }
  return changed;
}

bool applyPeepholes(const std::shared_ptr<Graph>& graph, bool disable_shape_peepholes) {
  bool changed = Peephole(!disable_shape_peepholes).run(graph->block());
  changed |= PeepholeOptimizeListIdioms(graph);
  changed |= PeepholeOptimizeDictIdioms(graph);
  changed |= PeepholeOptimizeAliasSensitive(graph, !disable_shape_peepholes);
  changed |= PeepholeOptimizeNonTensor(graph);
  return changed;
}

bool PeepholeOptimize(const std::shared_ptr<Graph>& graph, bool disable_shape_peepholes) {
  const bool changed = applyPeepholes(graph, disable_shape_peepholes);
  if (changed) {
    EliminateDeadCode(graph);
  }
  return changed;
}

} // namespace torch::jit
