// What expressions stand for while they are compiled: values of the graph, and things that exist for the compiler
// alone, such as functions, classes, modules of operators and ranges.
#pragma once

#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/frontend/error_report.h>
#include <csrc/jit/frontend/resolver.h>
#include <csrc/jit/ir/ir.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::jit {

struct SugaredValue;
using SugaredValuePtr = std::shared_ptr<SugaredValue>;

/// The functions that are compiled become methods: gives what `self` stands for in them.
struct TORCH_API Self {
  virtual ~Self();
  virtual SugaredValuePtr makeSugared(Value* value) const = 0;
  virtual c10::ClassTypePtr getClassType() const = 0;
};

/// Methods of a class.
struct TORCH_API SimpleSelf final : Self {
  explicit SimpleSelf(c10::ClassTypePtr type) : type_(std::move(type)) {}
  SugaredValuePtr makeSugared(Value* value) const override;
  c10::ClassTypePtr getClassType() const override {
    return type_;
  }

 private:
  c10::ClassTypePtr type_;
};

/// What a for loop goes through: values of one kind by index, or several things side by side.
struct TORCH_API SugaredValue : std::enable_shared_from_this<SugaredValue> {
  virtual ~SugaredValue();
  /// For error messages: "value of type int", "builtin".
  virtual std::string kind() const = 0;
  /// The value of the graph; throws if it is none.
  virtual Value* asValue(const SourceRange& range, GraphFunction& method);
  /// `this.field`
  virtual SugaredValuePtr attr(const SourceRange& range, GraphFunction& method, const std::string& field);
  virtual bool hasAttr(const SourceRange& range, GraphFunction& method, const std::string& field);
  /// `this.field = value`
  virtual void setAttr(const SourceRange& range, GraphFunction& method, const std::string& field, Value* value);
  /// `this(arguments)`. `n_binders` variables take the result.
  virtual SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders);
  /// The elements, where their number is known to the compiler; `size_hint` says how many are wanted.
  virtual std::vector<SugaredValuePtr> asTuple(
      const SourceRange& range, GraphFunction& method, const std::optional<size_t>& size_hint = std::nullopt);
  virtual SugaredValuePtr asTupleValue(const SourceRange& range, GraphFunction& method);
  /// Something with len() and getitem(), for a loop.
  virtual SugaredValuePtr iter(const SourceRange& range, GraphFunction& method);
  /// Whether a loop over it is unrolled, because its elements are of different types; then staticLen() is known.
  virtual bool shouldEmitUnrolled() {
    return false;
  }
  virtual std::optional<int64_t> staticLen() {
    return std::nullopt;
  }
  virtual Value* len(const SourceRange& range, GraphFunction& method);
  virtual SugaredValuePtr getitem(
      const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type_hint = nullptr);

 protected:
  [[noreturn]] void cannot(const SourceRange& range, const std::string& what) const;
};

/// A value of the graph. Its attributes are those of its type: methods of tensors, fields of objects and named tuples.
struct TORCH_API SimpleValue : SugaredValue {
  explicit SimpleValue(Value* value) : value_(value) {}
  std::string kind() const override;
  Value* asValue(const SourceRange& range, GraphFunction& method) override;
  Value* getValue() const {
    return value_;
  }
  SugaredValuePtr attr(const SourceRange& range, GraphFunction& method, const std::string& field) override;
  bool hasAttr(const SourceRange& range, GraphFunction& method, const std::string& field) override;
  void setAttr(const SourceRange& range, GraphFunction& method, const std::string& field, Value* value) override;
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;
  std::vector<SugaredValuePtr> asTuple(
      const SourceRange& range, GraphFunction& method, const std::optional<size_t>& size_hint) override;
  SugaredValuePtr asTupleValue(const SourceRange& range, GraphFunction& method) override;
  SugaredValuePtr iter(const SourceRange& range, GraphFunction& method) override;
  Value* len(const SourceRange& range, GraphFunction& method) override;
  SugaredValuePtr getitem(
      const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type_hint) override;

 private:
  SugaredValuePtr find_attr(const SourceRange& range, GraphFunction& method, const std::string& field);
  Value* value_;
};

inline SugaredValuePtr simpleValue(Value* value) {
  return std::make_shared<SimpleValue>(value);
}

/// Calls operators of a name; with `self` as their first argument, for methods of values.
struct TORCH_API BuiltinFunction final : SugaredValue {
  BuiltinFunction(Symbol symbol, std::optional<NamedValue> self) : symbol(symbol), self(std::move(self)) {}
  std::string kind() const override {
    return "builtin";
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;

  Symbol symbol;
  std::optional<NamedValue> self;
};

/// The operators of a namespace: `torch`, `torch.ops.aten`.
struct TORCH_API BuiltinModule final : SugaredValue {
  explicit BuiltinModule(std::string name) : name(std::move(name)) {}
  std::string kind() const override {
    return "builtin module";
  }
  SugaredValuePtr attr(const SourceRange& range, GraphFunction& method, const std::string& field) override;

  std::string name;
};

/// `torch.ops`: its members are namespaces of operators.
struct TORCH_API OpsValue final : SugaredValue {
  std::string kind() const override {
    return "ops";
  }
  SugaredValuePtr attr(const SourceRange& range, GraphFunction& method, const std::string& field) override;
};

/// A name that stands for a constant: `torch.float32`, `math.pi`.
struct TORCH_API ConstantValue final : SugaredValue {
  explicit ConstantValue(IValue value) : value(std::move(value)) {}
  std::string kind() const override {
    return "constant";
  }
  Value* asValue(const SourceRange& range, GraphFunction& method) override;

  IValue value;
};

/// Elements known one by one.
struct TORCH_API SugaredTupleValue final : SugaredValue {
  explicit SugaredTupleValue(std::vector<SugaredValuePtr> elements) : elements(std::move(elements)) {}
  std::string kind() const override {
    return "Tuple";
  }
  Value* asValue(const SourceRange& range, GraphFunction& method) override;
  std::vector<SugaredValuePtr> asTuple(const SourceRange&, GraphFunction&, const std::optional<size_t>&) override {
    return elements;
  }
  SugaredValuePtr iter(const SourceRange&, GraphFunction&) override {
    return shared_from_this();
  }
  bool shouldEmitUnrolled() override {
    return true;
  }
  std::optional<int64_t> staticLen() override {
    return static_cast<int64_t>(elements.size());
  }
  SugaredValuePtr getitem(
      const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type_hint) override;

  std::vector<SugaredValuePtr> elements;
};

/// A class: a call makes an object.
struct TORCH_API ClassValue final : SugaredValue {
  explicit ClassValue(c10::ClassTypePtr type) : type(std::move(type)) {}
  std::string kind() const override {
    return type->str();
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;
  SugaredValuePtr attr(const SourceRange& range, GraphFunction& method, const std::string& field) override;

  c10::ClassTypePtr type;
};

struct TORCH_API NamedTupleConstructor final : SugaredValue {
  explicit NamedTupleConstructor(c10::TupleTypePtr type) : type(std::move(type)) {}
  std::string kind() const override {
    return type->str();
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;

  c10::TupleTypePtr type;
};

/// An enumeration: its attributes are its members, and a call with a value gives the member that has it.
struct TORCH_API SugaredEnumClass final : SugaredValue {
  explicit SugaredEnumClass(c10::EnumTypePtr type) : type(std::move(type)) {}
  std::string kind() const override {
    return "EnumClass";
  }
  SugaredValuePtr attr(const SourceRange& range, GraphFunction& method, const std::string& field) override;
  SugaredValuePtr iter(const SourceRange& range, GraphFunction& method) override;

  c10::EnumTypePtr type;
};

/// One function, or several that are tried in order.
struct TORCH_API FunctionValue final : SugaredValue {
  explicit FunctionValue(std::vector<Function*> callees) : callees(std::move(callees)) {}
  explicit FunctionValue(Function* callee) : callees{callee} {}
  std::string kind() const override {
    return "function";
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;

  std::vector<Function*> callees;
};

/// A function of a closure: what lambda-like constructs give to fork.
struct TORCH_API ClosureValue final : SugaredValue {
  explicit ClosureValue(Value* value) : value(value) {}
  std::string kind() const override {
    return "closure";
  }
  Value* asValue(const SourceRange&, GraphFunction&) override {
    return value;
  }
  Value* value;
};

/// Methods of an object, by name.
struct TORCH_API MethodValue final : SugaredValue {
  MethodValue(Value* self, std::vector<std::string> names) : self(self), names(std::move(names)) {}
  MethodValue(Value* self, std::string name) : MethodValue(self, std::vector<std::string>{std::move(name)}) {}
  std::string kind() const override {
    return "method";
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;

  Value* self;
  std::vector<std::string> names;
};

struct TORCH_API PrintValue final : SugaredValue {
  std::string kind() const override {
    return "print";
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;
};

/// `int(x)`, `float(x)`, `bool(x)`: nothing happens to what is of the type already.
struct TORCH_API CastValue final : SugaredValue {
  CastValue(TypePtr type, Symbol op) : type(std::move(type)), op(op) {}
  std::string kind() const override {
    return "cast";
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;

  TypePtr type;
  Symbol op;
};

/// `x.float()`, `x.long()`, ...: aten::to with a dtype.
struct TORCH_API TensorCastValue final : SugaredValue {
  TensorCastValue(at::ScalarType dtype, NamedValue self) : dtype(dtype), self(std::move(self)) {}
  std::string kind() const override {
    return "value";
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;

  at::ScalarType dtype;
  NamedValue self;
};

/// `len(x)`, `str(x)`, ...: the method with underscores of an object, the operator for everything else.
struct TORCH_API MagicMethod final : SugaredValue {
  MagicMethod(std::string name, SugaredValuePtr base) : name(std::move(name)), base(std::move(base)) {}
  std::string kind() const override {
    return name;
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;

  std::string name;
  SugaredValuePtr base;
};

/// Names whose calls the compiler treats in ways of their own: annotate, isinstance, fork, range, getattr, ...
struct TORCH_API SpecialFormValue final : SugaredValue {
  explicit SpecialFormValue(Symbol form) : form(form) {}
  static SugaredValuePtr create(Symbol form) {
    return std::make_shared<SpecialFormValue>(form);
  }
  std::string kind() const override {
    return form.toUnqualString();
  }

  Symbol form;
};

/// An exception's class; a call keeps its message.
struct TORCH_API ExceptionValue final : SugaredValue {
  explicit ExceptionValue(std::string name) : name(std::move(name)) {}
  std::string kind() const override {
    return "exception";
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;

  std::string name;
};

struct TORCH_API ExceptionMessageValue final : SugaredValue {
  ExceptionMessageValue(Value* message, Value* class_name) : message(message), class_name(class_name) {}
  std::string kind() const override {
    return "exception message";
  }
  Value* asValue(const SourceRange&, GraphFunction&) override {
    return message;
  }

  Value* message;
  Value* class_name; ///< null for exceptions that are not classes of their own
};

/// `range(...)` of a loop.
struct TORCH_API RangeValue final : SugaredValue {
  RangeValue(const SourceRange& range, GraphFunction& method, std::vector<Value*> arguments);
  std::string kind() const override {
    return "range";
  }
  SugaredValuePtr iter(const SourceRange&, GraphFunction&) override {
    return shared_from_this();
  }
  Value* len(const SourceRange& range, GraphFunction& method) override;
  SugaredValuePtr getitem(
      const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type_hint) override;

 private:
  Value* start_ = nullptr;
  Value* stop_ = nullptr;
  Value* step_ = nullptr;
};

/// Several things that a loop goes through side by side: zip, and enumerate as a zip with a range.
struct TORCH_API IterableTree final : SugaredValue {
  IterableTree(const SourceRange& range, GraphFunction& method, std::vector<SugaredValuePtr> children);
  std::string kind() const override {
    return "iterabletree";
  }
  SugaredValuePtr iter(const SourceRange&, GraphFunction&) override {
    return shared_from_this();
  }
  bool shouldEmitUnrolled() override {
    return unrolled_;
  }
  std::optional<int64_t> staticLen() override;
  Value* len(const SourceRange& range, GraphFunction& method) override;
  SugaredValuePtr getitem(
      const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type_hint) override;

 private:
  std::vector<SugaredValuePtr> children_;
  bool unrolled_ = false;
};

/// The values of arguments: tuples of the compiler become tuples of the graph.
TORCH_API std::vector<Value*> toValues(Graph& graph, at::ArrayRef<NamedValue> values);

/// What a name stands for in every function: `print`, `len`, `range`, ...; null if it is none of them.
TORCH_API SugaredValuePtr builtinName(const std::string& name);
/// What a name stands for in the code of archives, whose importer asks for it: `torch`, `ops`, `annotate`,
/// `unchecked_cast`, `uninitialized`, `fork`, `awaitable`; null if it is none of them.
TORCH_API SugaredValuePtr archiveName(const std::string& name);

} // namespace torch::jit
