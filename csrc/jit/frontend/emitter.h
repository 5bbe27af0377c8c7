// Syntax trees as graphs.
#pragma once

#include <csrc/jit/frontend/environment.h>
#include <csrc/jit/frontend/syntax.h>
#include <csrc/jit/frontend/type_parser.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace torch::jit {

/// What is known of a variable behind a test: `x is not None` makes an Optional[int] an int.
struct Refinement {
  std::string name;
  TypePtr type;
};

/// The refinements that hold where a condition is true, and where it is false.
struct Refinements {
  std::vector<Refinement> when_true;
  std::vector<Refinement> when_false;

  /// Of `a and b`.
  Refinements And(const Refinements& other) const;
  /// Of `a or b`.
  Refinements Or(const Refinements& other) const;
  Refinements Not() const {
    return {when_false, when_true};
  }
};

/// A condition, which may be known to the compiler: then only one branch is compiled.
struct Condition {
  Value* value;
  Refinements refinements;
  std::optional<bool> known;
};

/// Emits one function. Used once; see compileFunction.
class Emitter {
 public:
  Emitter(GraphFunction& method, ResolverPtr resolver, const Self* self, const Syntax& function);
  void emit();

 private:
  // emit_function.cpp
  FunctionSchema emit_parameters();
  std::vector<IValue> evaluate_defaults(const std::vector<TypePtr>& types);
  [[noreturn]] void refuse_default(size_t wrong, const std::vector<TypePtr>& types, const TypePtr& actual) const;
  void emit_return(const Syntax& statement);
  void finish_returns(FunctionSchema schema);
  void push_frame(Block* block);
  std::shared_ptr<Environment> pop_frame();
  Value* emit_closure_call(
      const SourceRange& range,
      Symbol kind,
      const SugaredValuePtr& callee,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keywords);

  // emit_local_function.cpp
  Value* emit_local_function(const SourceRange& range, Symbol kind, const Syntax& function);

  // emit_statements.cpp
  void emit_statements(const Syntax& statements);
  void emit_statement(const Syntax& statement);
  void emit_assign(const Syntax& statement);
  void emit_assign_to(const Syntax& target, const SugaredValuePtr& value, const SourceRange& range);
  void emit_unpack(const Syntax& target, const SugaredValuePtr& value, const SourceRange& range);
  void emit_subscript_assign(const Syntax& target, Value* value, const SourceRange& range);
  void emit_augmented_assign(const Syntax& statement);
  void emit_augmented_subscript(const Syntax& statement);
  void emit_raise(const Syntax& statement);
  void emit_raise_message(const SourceRange& range, Value* message, Value* class_name);
  void emit_assert(const Syntax& statement);
  void emit_delete(const Syntax& statement);
  void emit_if(const Syntax& statement);
  void emit_if(const SourceRange& range, const Condition& condition, const Syntax& then, const Syntax& otherwise);
  std::shared_ptr<Environment> emit_branch(
      Block* block, const Syntax& statements, const std::vector<Refinement>& refinements);
  void merge_branches(
      const SourceRange& range,
      Node* node,
      const std::shared_ptr<Environment>& then,
      const std::shared_ptr<Environment>& otherwise);
  void emit_while(const Syntax& statement);
  void emit_for(const Syntax& statement);
  void emit_loop(
      const SourceRange& range,
      const SugaredValuePtr& iterable,
      const Syntax* condition,
      const Syntax* target,
      const std::function<void()>& body);
  /// While it lives, the next loop is that of a comprehension: its variables are its own.
  class WithOwnVariables {
   public:
    explicit WithOwnVariables(Emitter& emitter) : emitter_(emitter) {
      emitter_.own_variables_ = true;
    }
    WithOwnVariables(const WithOwnVariables&) = delete;
    WithOwnVariables& operator=(const WithOwnVariables&) = delete;
    ~WithOwnVariables() {
      emitter_.own_variables_ = false;
    }

   private:
    Emitter& emitter_;
  };
  void emit_unrolled(
      const SourceRange& range, const SugaredValuePtr& iterable, const Syntax& target, const Syntax& body);
  void emit_with(const Syntax& statement);
  void insert_refinements(const SourceRange& range, const std::vector<Refinement>& refinements);

  // emit_expressions.cpp
  Value* emit(const Syntax& expression, const TypePtr& hint = nullptr);
  SugaredValuePtr emit_sugared(const Syntax& expression, const TypePtr& hint = nullptr);
  Value* emit_simple(const Syntax& expression, const TypePtr& hint);
  Value* emit_number(const Syntax& expression, bool negative = false);
  Value* emit_binary(const Syntax& expression);
  Value* emit_unary(const Syntax& expression);
  Value* emit_conditional(const Syntax& expression, const TypePtr& hint);
  Value* emit_short_circuit(const Syntax& expression);
  Value* emit_tuple(const Syntax& expression);
  Value* emit_list(const Syntax& expression, const TypePtr& hint);
  Value* emit_dict(const Syntax& expression, const TypePtr& hint);
  Value* emit_list_comprehension(const Syntax& expression, const TypePtr& hint);
  Value* emit_dict_comprehension(const Syntax& expression, const TypePtr& hint);
  Value* emit_branches(
      const SourceRange& range,
      const Condition& condition,
      const std::function<Value*()>& when_true,
      const std::function<Value*()>& when_false);
  Condition emit_condition(const Syntax& expression);
  Condition emit_none_test(const Syntax& expression);
  Condition emit_isinstance(const Syntax& call);
  Condition emit_hasattr(const Syntax& call);
  Value* emit_condition_value(const Syntax& expression);
  Value* emit_builtin(const SourceRange& range, Symbol name, at::ArrayRef<Value*> arguments);
  /// The operator itself, or the method of an object on the left.
  Value* emit_operator(
      const SourceRange& range, const std::string& method_name, Symbol name, at::ArrayRef<Value*> arguments);

  // emit_calls.cpp
  SugaredValuePtr emit_call(const Syntax& expression, const TypePtr& hint);
  SugaredValuePtr emit_special_form(const Syntax& expression, Symbol form, const TypePtr& hint);
  SugaredValuePtr emit_container_constructor(const Syntax& expression, Symbol form, const TypePtr& hint);
  SugaredValuePtr emit_getattr(const Syntax& call);
  SugaredValuePtr emit_fork(const Syntax& call, Symbol form);
  Value* emit_annotate(const Syntax& call);
  Value* emit_tolist(const Syntax& call, Value* tensor, const TypePtr& hint);
  Value* emit_dict_of_pairs(const SourceRange& range, const SugaredValuePtr& pairs);
  Value* emit_unchecked_cast(const Syntax& call);
  std::vector<NamedValue> emit_arguments(const Syntax& arguments);
  std::vector<NamedValue> emit_keywords(const Syntax& keywords);
  const Syntax& only_argument(const Syntax& call, const char* name) const;

  // emit_subscript.cpp
  SugaredValuePtr emit_subscript(const Syntax& expression, const TypePtr& hint);
  Value* emit_slice(const SourceRange& range, Value* value, Value* dim, const Syntax& slice);
  SugaredValuePtr emit_tuple_slice(const SourceRange& range, const SugaredValuePtr& tuple, const Syntax& slice);
  /// Integers and slices are applied one by one; returns what remains and the tensors that index it (null for whole
  /// dimensions).
  std::pair<Value*, std::vector<Value*>> emit_indices(const SourceRange& range, Value* tensor, const Syntax& indices);
  Value* emit_tensor_index(const SourceRange& range, Value* tensor, const std::vector<Value*>& indices);
  Value* index_list(const SourceRange& range, const std::vector<Value*>& indices);
  Value* emit_tensor_subscript(const SourceRange& range, Value* tensor, const Syntax& indices);

  Graph& graph() {
    return *graph_;
  }
  Value* constant(const IValue& value, const SourceRange& range) {
    return graph_->insertConstant(value, range);
  }
  /// A number that the source has: one constant for equal ones, at the beginning of the graph.
  Value* number(const IValue& value, const SourceRange& range);

  GraphFunction& method_;
  std::shared_ptr<Graph> graph_;
  ResolverPtr resolver_;
  const Self* self_;
  const Syntax& function_;
  TypeParser types_;
  std::shared_ptr<Environment> environment_;
  // Blocks that always end in return, raise, break or continue.
  std::unordered_set<const Block*> exit_blocks_;
  size_t loop_depth_ = 0;
  bool own_variables_ = false;
  size_t comprehensions_ = 0;
  // By the bits of the ints and floats that the source has.
  std::unordered_map<int64_t, Value*> ints_;
  std::unordered_map<uint64_t, Value*> floats_;
  TypePtr declared_return_;
  TypePtr merged_return_;
};

/// Compiles a function's definition into its graph and sets its schema. Throws ErrorReport.
TORCH_API void compileFunction(
    const Syntax& function, const Self* self, GraphFunction& method, const ResolverPtr& resolver);

} // namespace torch::jit
