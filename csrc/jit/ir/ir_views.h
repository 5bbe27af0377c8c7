// Nodes of control flow, by the names of their parts.
#pragma once

#include <csrc/jit/ir/constants.h>
#include <csrc/jit/ir/ir.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace torch::jit {

/// A node prim::If.
struct IfView {
  /// Throws if it is another node.
  explicit IfView(Node* node) : node_(node) {
    TORCH_INTERNAL_ASSERT(node->kind() == prim::If);
  }
  Value* cond() const {
    return node_->input(0);
  }
  Block* thenBlock() const {
    return node_->blocks()[0];
  }
  Block* elseBlock() const {
    return node_->blocks()[1];
  }
  at::ArrayRef<Value*> thenOutputs() const {
    return thenBlock()->outputs();
  }
  at::ArrayRef<Value*> elseOutputs() const {
    return elseBlock()->outputs();
  }
  at::ArrayRef<Value*> outputs() const {
    return node_->outputs();
  }
  Node* node() const {
    return node_;
  }
  operator Node*() const {
    return node_;
  }
  /// New output i is old output new_output_order[i], in both branches.
  void permuteOutputs(const std::vector<size_t>& new_output_order) {
    node_->permuteOutputs(new_output_order);
    thenBlock()->permuteOutputs(new_output_order);
    elseBlock()->permuteOutputs(new_output_order);
  }

 private:
  Node* node_;
};

/// A node prim::Loop: (most rounds, condition, carried...) with a block (round, carried...) -> (condition, carried...).
struct LoopView {
  /// What it was in the source, as far as it shows.
  enum LoopType { While, For, ModifiedLoop };

  /// Throws if it is another node.
  explicit LoopView(Node* node) : node_(node) {
    TORCH_INTERNAL_ASSERT(node->kind() == prim::Loop);
  }
  Block* bodyBlock() const {
    return node_->blocks()[0];
  }
  Value* cond() const {
    return node_->input(0);
  }
  Value* maxTripCount() const {
    return node_->input(0);
  }
  Value* inputCond() const {
    return node_->input(1);
  }
  Value* nextCond() const {
    return bodyBlock()->outputs()[0];
  }
  Value* currentTripCount() const {
    return bodyBlock()->inputs()[0];
  }
  at::ArrayRef<Value*> carriedInputs() const {
    return node_->inputs().slice(2);
  }
  at::ArrayRef<Value*> carriedInputsWithCond() const {
    return node_->inputs().slice(1);
  }
  at::ArrayRef<Value*> carriedOutputs() const {
    return node_->outputs();
  }
  at::ArrayRef<Value*> bodyCarriedInputs() const {
    return bodyBlock()->inputs().slice(1);
  }
  at::ArrayRef<Value*> bodyCarriedOutputs() const {
    return bodyBlock()->outputs().slice(1);
  }
  Node* node() const {
    return node_;
  }
  operator Node*() const {
    return node_;
  }
  void replaceMaxTripCount(Value* new_max_trip_count) {
    node_->replaceInput(0, new_max_trip_count);
  }
  void replaceInputCondition(Value* new_input_condition) {
    node_->replaceInput(1, new_input_condition);
  }
  /// New carried value i is old carried value new_output_order[i].
  void permuteLoopCarried(const std::vector<size_t>& new_output_order) {
    node_->permuteOutputs(new_output_order);
    node_->permuteInputs(behind(2, new_output_order));
    bodyBlock()->permuteOutputs(behind(1, new_output_order));
    bodyBlock()->permuteInputs(behind(1, new_output_order));
  }
  LoopType loopType() {
    const std::optional<IValue> count = toIValue(maxTripCount());
    const bool counts =
        !count || count->toInt() != std::numeric_limits<int64_t>::max() || currentTripCount()->hasUses();
    const bool always = is_true(inputCond()) && is_true(nextCond());
    return !counts ? While : always ? For : ModifiedLoop;
  }

 private:
  static bool is_true(const Value* condition) {
    const std::optional<IValue> known = toIValue(condition);
    return known && known->toBool();
  }
  // The order with so many in front that stay.
  static std::vector<size_t> behind(size_t count, const std::vector<size_t>& order) {
    std::vector<size_t> all;
    for (size_t i = 0; i < count; ++i) {
      all.push_back(i);
    }
    for (const size_t i : order) {
      all.push_back(i + count);
    }
    return all;
  }

  Node* node_;
};

} // namespace torch::jit
