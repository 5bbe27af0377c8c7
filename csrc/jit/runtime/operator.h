// The operators that graphs call: those of the dispatcher, and those of TorchScript alone (numbers, strings,
// containers).
#pragma once

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/function_schema.h>
#include <aten/core/stack.h>
#include <csrc/jit/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace torch::jit {

struct Node;
using c10::AliasAnalysisKind;
/// Makes the code of one node: for operators that need its types, attributes or number of inputs.
using OperationCreator = std::function<Operation(const Node*)>;

/// One overload.
struct TORCH_API Operator {
  /// Of the dispatcher.
  explicit Operator(c10::OperatorHandle handle);
  /// From the text of its schema, which is parsed when it is first asked for.
  Operator(std::string schema, Operation operation, AliasAnalysisKind alias_analysis);
  Operator(std::string schema, OperationCreator creator, AliasAnalysisKind alias_analysis);
  /// For names without a fixed schema, such as prim::TupleConstruct.
  Operator(Symbol name, Operation operation, AliasAnalysisKind alias_analysis);
  Operator(Symbol name, OperationCreator creator, AliasAnalysisKind alias_analysis);
  Operator(FunctionSchema schema, Operation operation);
  Operator(
      std::string name,
      std::string overload_name,
      std::vector<Argument> arguments,
      std::vector<Argument> returns,
      Operation operation,
      AliasAnalysisKind alias_analysis);
  Operator(const Operator&);
  Operator& operator=(const Operator&);
  Operator(Operator&&) noexcept;
  Operator& operator=(Operator&&) noexcept;
  ~Operator();

  const FunctionSchema& schema() const;
  AliasAnalysisKind aliasAnalysisKind() const;
  /// The code; `node` is needed by those that are made for a node.
  Operation getOperation(const Node* node = nullptr) const;
  bool isC10Op() const {
    return std::holds_alternative<c10::OperatorHandle>(code_);
  }
  /// Throws if it is not the dispatcher's.
  const c10::OperatorHandle& handle() const;
  /// No conversion of arguments, no check of them: any node of that name is it.
  bool hasVarSchema() const;

 private:
  struct LazySchema;
  std::variant<c10::OperatorHandle, Operation, OperationCreator> code_;
  std::shared_ptr<LazySchema> schema_;
};

using OperatorPtr = std::shared_ptr<Operator>;

/// All overloads: TorchScript's own and the dispatcher's. The list is valid until operators of that name come or go.
// Const, so that `auto& operators = getAllOperatorsFor(name);` compiles, as programs have it.
TORCH_API const std::vector<OperatorPtr> getAllOperatorsFor(Symbol name);
/// The same list, shared: found without a copy. Never null.
TORCH_API std::shared_ptr<const std::vector<OperatorPtr>> sharedOperatorsFor(Symbol name);
TORCH_API std::vector<OperatorPtr> getAllOperators();
/// Null if there is none.
TORCH_API OperatorPtr findOperatorFor(const c10::OperatorName& full_name);
/// The names most like the given one.
TORCH_API std::vector<Symbol> findSimilarOperators(Symbol name);
/// The operator that a schema's text names. Throws if there is none.
TORCH_API const OperatorPtr& getOperatorForLiteral(const char* signature);
TORCH_API std::string canonicalSchemaString(const FunctionSchema& schema);

TORCH_API void registerOperator(Operator&& op);
TORCH_API void deregisterOperator(const FunctionSchema& schema);

/// Registers operators: those given by pointer while it lives, others for good.
struct TORCH_API RegisterOperators {
  RegisterOperators() = default;
  explicit RegisterOperators(std::vector<std::optional<Operator>> operators);
  explicit RegisterOperators(std::vector<OperatorPtr> operators);
  RegisterOperators(RegisterOperators&&) noexcept = default;
  RegisterOperators& operator=(RegisterOperators&&) noexcept = default;
  ~RegisterOperators();

 private:
  std::vector<OperatorPtr> operators_;
};

/// TorchScript's own operators of one family, as a table that registers without work before it is asked for: see
/// csrc/jit/runtime/ops. `code` runs on the stack.
struct OperatorRow {
  const char* schema;
  void (*code)(Stack&);
  AliasAnalysisKind alias_analysis = AliasAnalysisKind::FROM_SCHEMA;
};

} // namespace torch::jit
