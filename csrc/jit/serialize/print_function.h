// Prints the source text of one function.
#pragma once

#include <csrc/jit/ir/ir.h>
#include <csrc/jit/serialize/print_context.h>
#include <csrc/jit/serialize/print_inlining.h>
#include <csrc/jit/serialize/ranged_text.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torch::jit {

/// One function, at some level of indentation.
///
/// Nodes are gone through in their order. One that has a line of its own is written as an assignment to names; one that
/// is printed in place (Note [Printed in place]) waits as an expression for the node that uses it. Expressions wait in
/// the order in which they are to be evaluated, and a node always uses the last ones.
class FunctionPrinter {
 public:
  FunctionPrinter(PrintContext& context, size_t level) : context_(context), level_(level) {}

  /// `def` and body.
  RangedText print(const Function& function);

 private:
  // Signatures.
  void print_signature(const FunctionSchema& schema, at::ArrayRef<const Value*> inputs);
  std::string parameter(const Argument& argument, const Value* value);

  // Names and expressions of values.
  const std::string& name(const Value* value);
  std::string wished_name(const Value* value) const;
  RangedText use(const Value* value);
  bool waits(const Value* value) const {
    return expressions_.count(value) > 0;
  }
  bool is_long(const RangedText& expression) const;
  void name_long_inputs(at::ArrayRef<const Value*> inputs);
  void name_waiting(size_t count);
  void print_constants(const Block* block);

  // Statements.
  void indent();
  void print_block(const Block* block);
  void print_nodes(const Block* block);
  void print_node(const Node* node);
  void print_assignment(at::ArrayRef<const Value*> targets, const RangedText& expression, bool unpacks = false);
  void assign(at::ArrayRef<const Value*> targets, at::ArrayRef<const Value*> values);
  void print_if(const Node* node);
  void assign_branch(const Node* node, const Block* block, bool annotate);
  void print_loop(const Node* node);
  void print_enter(const Node* node);
  void print_set_attribute(const Node* node);
  void print_closure(const Node* node, std::string_view form);
  void print_return(const Block* block);

  // Expressions, in print_expressions.cpp.
  RangedText expression(const Node* node);
  RangedText special_expression(const Node* node);
  RangedText operator_call(const Node* node);
  size_t number_of_arguments(const Node* node) const;
  RangedText function_call(const Node* node, RangedText callee);
  RangedText list_of(const Node* node, std::string_view open, std::string_view close, size_t first = 0);
  RangedText typed(const Node* node, RangedText container, bool inferable);
  RangedText list_construct(const Node* node);
  RangedText dict_construct(const Node* node);
  RangedText tuple_construct(const Node* node);
  RangedText get_attribute(const Node* node);
  RangedText is_instance(const Node* node);
  RangedText cast_call(const Node* node, std::string_view function);
  RangedText operand(const Value* value);

  PrintContext& context_;
  size_t level_;
  RangedText text_;
  size_t statements_ = 0;
  int depth_ = 0;
  const PlacedNodes* placed_ = nullptr;
  std::unordered_map<const Value*, std::string> names_;
  std::unordered_map<const Value*, RangedText> expressions_;
  std::vector<const Value*> waiting_;
};

/// Two types that the reader cannot tell apart: tensors are all the same to it.
bool same_printed_type(const Type& a, const Type& b);
/// The type that the reader finds for the value: a constant None is just that, of whatever optional type it was.
TypePtr printed_type(const Value* value);

} // namespace torch::jit
