#include <csrc/jit/passes/fuse_addmm.h>

#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/dead_code_elimination.h>

#include <aten/core/tensor_type.h>

namespace torch::jit {

namespace {

bool is_one(const Value* factor) {
  const std::optional<IValue> known = toIValue(factor);
  return known && (known->isInt() || known->isDouble()) && known->toScalar().toDouble() == 1;
}

/// The size of a dimension that counts from the last one; null if it is not known.
std::optional<int64_t> size_from_end(const Value* tensor, size_t dim) {
  const c10::VaryingShape<int64_t> sizes = tensor->type()->expectRef<TensorType>().sizes();
  return sizes.size() && dim < *sizes.size() ? sizes[*sizes.size() - 1 - dim] : std::nullopt;
}

bool is_broadcast_to(const Value* addend, const Node* product) {
  const std::optional<size_t> dims = addend->type()->expectRef<TensorType>().dim();
  const size_t product_dims = product->input(0)->type()->expectRef<TensorType>().dim().value_or(2);
  if (!dims || *dims > product_dims) {
    return false;
  }
  for (size_t dim = 0; dim < *dims; ++dim) {
    const std::optional<int64_t> size = size_from_end(addend, dim);
    // Columns are those of the second matrix, rows those of the first.
    const bool is_same = dim < 2 && size && size == size_from_end(product->input(dim == 0 ? 1 : 0), dim);
    if (size != 1 && !is_same) {
      return false;
    }
  }
  return true;
}

bool have_one_dtype(at::ArrayRef<const Value*> values) {
  std::optional<at::ScalarType> dtype;
  for (const Value* value : values) {
    const auto type = value->type()->cast<TensorType>();
    if (!type || !type->scalarType() || (dtype && dtype != type->scalarType())) {
      return false;
    }
    dtype = type->scalarType();
  }
  return true;
}

bool fuse(Node* sum) {
  if (!sum->matches("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor") ||
      !is_one(sum->input(2))) {
    return false;
  }
  for (const size_t side : {0, 1}) {
    Node* product = sum->input(side)->node();
    Value* addend = sum->input(1 - side);
    if (!product->matches("aten::mm(Tensor self, Tensor mat2) -> Tensor") || product->output()->uses().size() != 1 ||
        !have_one_dtype({addend, product->input(0), product->input(1)}) || !is_broadcast_to(addend, product)) {
      continue;
    }
    Graph& graph = *sum->owningGraph();
    const WithInsertPoint guard(sum);
    Value* fused =
        graph.insert(Symbol::aten("addmm"), {addend, product->input(0), product->input(1)}, {}, sum->sourceRange());
    fused->copyMetadata(sum->output());
    sum->output()->replaceAllUsesWith(fused);
    return true;
  }
  return false;
}

bool fuse(Block* block) {
  bool changed = false;
  for (Node* node : block->nodes()) {
    for (Block* inner : node->blocks()) {
      changed = fuse(inner) || changed;
    }
    changed = fuse(node) || changed;
  }
  return changed;
}

} // namespace

bool FuseAddMM(const std::shared_ptr<Graph>& graph) {
  const bool changed = fuse(graph->block());
  if (changed) {
    EliminateDeadCode(graph);
  }
  return changed;
}

} // namespace torch::jit
