#include <csrc/jit/runtime/operator.h>

#include <aten/core/schema_parser.h>
#include <aten/core/type_matching.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/ir/ir.h>
#include <csrc/jit/runtime/ops/tables.h>
#include <csrc/jit/runtime/overload_order.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <sstream>
#include <unordered_map>

namespace torch::jit {

// ---- one operator ---------------------------------------------------------------------------------------------------

struct Operator::LazySchema {
  explicit LazySchema(std::string text) : text(std::move(text)) {}
  explicit LazySchema(FunctionSchema known) : schema(std::move(known)) {}

  std::string text;
  AliasAnalysisKind alias_analysis = AliasAnalysisKind::FROM_SCHEMA;
  std::once_flag once;
  std::optional<FunctionSchema> schema;
};

Operator::Operator(c10::OperatorHandle handle) : code_(std::move(handle)) {}

Operator::Operator(std::string schema, Operation operation, AliasAnalysisKind alias_analysis)
    : code_(std::move(operation)), schema_(new LazySchema(std::move(schema))) {
  schema_->alias_analysis = alias_analysis;
}

Operator::Operator(std::string schema, OperationCreator creator, AliasAnalysisKind alias_analysis)
    : code_(std::move(creator)), schema_(new LazySchema(std::move(schema))) {
  schema_->alias_analysis = alias_analysis;
}

namespace {

FunctionSchema schema_of_any_arguments(Symbol name, AliasAnalysisKind alias_analysis) {
  FunctionSchema schema(name, "", {}, {}, true, true);
  schema.setAliasAnalysis(alias_analysis);
  return schema;
}

} // namespace

Operator::Operator(Symbol name, Operation operation, AliasAnalysisKind alias_analysis)
    : code_(std::move(operation)), schema_(new LazySchema(schema_of_any_arguments(name, alias_analysis))) {}

Operator::Operator(Symbol name, OperationCreator creator, AliasAnalysisKind alias_analysis)
    : code_(std::move(creator)), schema_(new LazySchema(schema_of_any_arguments(name, alias_analysis))) {}

Operator::Operator(FunctionSchema schema, Operation operation)
    : code_(std::move(operation)), schema_(new LazySchema(std::move(schema))) {}

Operator::Operator(
    std::string name,
    std::string overload_name,
    std::vector<Argument> arguments,
    std::vector<Argument> returns,
    Operation operation,
    AliasAnalysisKind alias_analysis)
    : Operator(
          FunctionSchema(std::move(name), std::move(overload_name), std::move(arguments), std::move(returns)),
          std::move(operation)) {
  schema_->schema->setAliasAnalysis(alias_analysis);
}

Operator::Operator(const Operator&) = default;
Operator& Operator::operator=(const Operator&) = default;
Operator::Operator(Operator&&) noexcept = default;
Operator& Operator::operator=(Operator&&) noexcept = default;
Operator::~Operator() = default;

const FunctionSchema& Operator::schema() const {
  if (isC10Op()) {
    return handle().schema();
  }
  std::call_once(schema_->once, [this] {
    if (!schema_->schema) {
      schema_->schema.emplace(parseSchema(schema_->text));
      schema_->schema->setAliasAnalysis(schema_->alias_analysis);
    }
  });
  return *schema_->schema;
}

AliasAnalysisKind Operator::aliasAnalysisKind() const {
  const FunctionSchema& known = schema();
  TORCH_CHECK(
      known.isDefaultAliasAnalysisKind() || known.aliasAnalysis() == AliasAnalysisKind::FROM_SCHEMA || !isC10Op() ||
          !known.hasAnyAliasInfo(),
      "Tried to register operator ", known,
      " with aliasing information in the schema but without AliasAnalysisKind::FROM_SCHEMA. Register it with that "
      "kind, "
      "or take the annotations out of its schema");
  return known.aliasAnalysis();
}

const c10::OperatorHandle& Operator::handle() const {
  return std::get<c10::OperatorHandle>(code_);
}

bool Operator::hasVarSchema() const {
  return !isC10Op() && (schema().is_vararg() || schema().is_varret());
}

Operation Operator::getOperation(const Node* node) const {
  if (isC10Op()) {
    return [handle = handle()](Stack& stack) { handle.callBoxed(stack); };
  }
  if (const OperationCreator* creator = std::get_if<OperationCreator>(&code_)) {
    TORCH_INTERNAL_ASSERT(node, "the code of ", schema().name(), " is made for a node, and none was given");
    Operation made = (*creator)(node);
    if (!schema().is_vararg()) {
      return made;
    }
    // Who makes code for one node knows how many inputs it has: the count, which other such operators get, goes.
    return [made = std::move(made)](Stack& stack) {
      drop(stack, 1);
      made(stack);
    };
  }
  return std::get<Operation>(code_);
}

// ---- all operators --------------------------------------------------------------------------------------------------

namespace {

using Overloads = std::shared_ptr<const std::vector<OperatorPtr>>;

class Registry {
 public:
  static Registry& get() {
    static Registry& registry = *new Registry();
    return registry;
  }

  void add(OperatorPtr op) {
    const Symbol name = Symbol::fromQualString(op->schema().name());
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      own_[name].push_back(std::move(op));
    }
    forget(name);
  }

  void remove(const FunctionSchema& schema) {
    const Symbol name = Symbol::fromQualString(schema.name());
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = own_.find(name);
      TORCH_CHECK(found != own_.end(), "no operator ", schema.name(), " is registered");
      std::vector<OperatorPtr>& overloads = found->second;
      const auto same = [&](const OperatorPtr& op) { return op->schema() == schema; };
      const auto gone = std::find_if(overloads.begin(), overloads.end(), same);
      TORCH_CHECK(gone != overloads.end(), "the operator ", schema, " is not registered");
      overloads.erase(gone);
    }
    forget(name);
  }

  void add_table(at::ArrayRef<OperatorRow> rows) {
    for (const OperatorRow& row : rows) {
      const std::string_view text(row.schema);
      const std::string name(text.substr(0, text.find_first_of(".(")));
      own_[Symbol::fromQualString(name)].push_back(
          std::make_shared<Operator>(std::string(text), Operation(row.code), row.alias_analysis));
    }
  }

  void on_dispatcher_operator(const c10::OperatorHandle& handle, bool registered) {
    {
      const std::lock_guard<std::mutex> lock(dispatcher_mutex_);
      std::vector<OperatorPtr>& overloads = dispatcher_[handle.operator_name().name];
      const auto same = [&](const OperatorPtr& op) { return op->handle() == handle; };
      const auto found = std::find_if(overloads.begin(), overloads.end(), same);
      if (registered && found == overloads.end()) {
        overloads.push_back(std::make_shared<Operator>(handle));
      } else if (!registered && found != overloads.end()) {
        overloads.erase(found);
      }
    }
    if (any_known_.load(std::memory_order_acquire)) {
      forget(Symbol::fromQualString(handle.operator_name().name));
    }
  }

  Overloads overloads(Symbol name) {
    uint64_t changes = 0;
    {
      const std::lock_guard<std::mutex> lock(known_mutex_);
      any_known_.store(true, std::memory_order_release);
      if (const auto found = known_.find(name); found != known_.end()) {
        return found->second;
      }
      changes = changes_;
    }
    // Without the lock: to sort, it asks for schemas, which takes the dispatcher's.
    auto made = std::make_shared<const std::vector<OperatorPtr>>(find_overloads(name));
    const std::lock_guard<std::mutex> lock(known_mutex_);
    if (changes == changes_) {
      known_[name] = made;
    }
    return made;
  }

  std::vector<OperatorPtr> find_overloads(Symbol name) {
    std::vector<OperatorPtr> all;
    {
      const std::lock_guard<std::mutex> lock(dispatcher_mutex_);
      const auto found = dispatcher_.find(name.toQualString());
      if (found != dispatcher_.end()) {
        all = found->second;
      }
    }
    const size_t from_dispatcher = all.size();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = own_.find(name);
      if (found != own_.end()) {
        all.insert(all.end(), found->second.begin(), found->second.end());
      }
    }
    sort_overloads(all, from_dispatcher);
    return all;
  }

  std::vector<Symbol> names() {
    std::vector<Symbol> all;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [name, ops] : own_) {
        all.push_back(name);
      }
    }
    const std::lock_guard<std::mutex> lock(dispatcher_mutex_);
    for (const auto& [name, ops] : dispatcher_) {
      const Symbol symbol = Symbol::fromQualString(name);
      if (own_.count(symbol) == 0) {
        all.push_back(symbol);
      }
    }
    return all;
  }

 private:
  struct Listener final : c10::OpRegistrationListener {
    explicit Listener(Registry& registry) : registry(registry) {}
    void onOperatorRegistered(const c10::OperatorHandle& op) override {
      registry.on_dispatcher_operator(op, true);
    }
    void onOperatorDeregistered(const c10::OperatorHandle& op) override {
      registry.on_dispatcher_operator(op, false);
    }
    Registry& registry;
  };

  Registry() {
    for (const at::ArrayRef<OperatorRow> table : ops::all_tables()) {
      add_table(table);
    }
    const auto add = [this](Operator&& op) {
      own_[Symbol::fromQualString(op.schema().name())].push_back(std::make_shared<Operator>(std::move(op)));
    };
    ops::for_each_node_operator(add);
    ops::for_each_gradient_operator(add);
    listening_.emplace(c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Listener>(*this)));
  }

  // After the operators have changed: a list that is being made meanwhile is not kept.
  void forget(Symbol name) {
    const std::lock_guard<std::mutex> lock(known_mutex_);
    ++changes_;
    known_.erase(name);
  }

  // What was found for each name that was asked for, be it nothing.
  std::mutex known_mutex_;
  std::unordered_map<Symbol, Overloads> known_;
  uint64_t changes_ = 0;
  std::atomic<bool> any_known_ = false;
  // Two locks: the dispatcher calls the listener with its own lock held, and own operators may ask for schemas.
  std::mutex mutex_;
  std::unordered_map<Symbol, std::vector<OperatorPtr>> own_;
  std::mutex dispatcher_mutex_;
  std::unordered_map<std::string, std::vector<OperatorPtr>> dispatcher_;
  std::optional<c10::RegistrationHandleRAII> listening_;
};

} // namespace

const std::vector<OperatorPtr> getAllOperatorsFor(Symbol name) {
  return *sharedOperatorsFor(name);
}

std::shared_ptr<const std::vector<OperatorPtr>> sharedOperatorsFor(Symbol name) {
  return Registry::get().overloads(name);
}

std::vector<OperatorPtr> getAllOperators() {
  std::vector<OperatorPtr> all;
  for (const Symbol name : Registry::get().names()) {
    const std::vector<OperatorPtr> overloads = getAllOperatorsFor(name);
    all.insert(all.end(), overloads.begin(), overloads.end());
  }
  return all;
}

OperatorPtr findOperatorFor(const c10::OperatorName& full_name) {
  for (const OperatorPtr& op : getAllOperatorsFor(Symbol::fromQualString(full_name.name))) {
    if (op->schema().overload_name() == full_name.overload_name) {
      return op;
    }
  }
  return nullptr;
}

namespace {

// Letters to insert, delete or change, or more than `limit`.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) {
    return limit + 1;
  }
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

} // namespace

std::vector<Symbol> findSimilarOperators(Symbol name) {
  constexpr size_t kMaxDistance = 2;
  std::vector<std::pair<size_t, Symbol>> near;
  for (const Symbol other : Registry::get().names()) {
    const size_t distance = edit_distance(name.toQualString(), other.toQualString(), kMaxDistance);
    if (distance <= kMaxDistance) {
      near.emplace_back(distance, other);
    }
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Symbol> names;
  for (const auto& [distance, other] : near) {
    names.push_back(other);
  }
  return names;
}

namespace {

// The overload of that name; where none is given, the one with the same arguments. Defaults may be left out.
OperatorPtr operator_of_schema(const FunctionSchema& wanted) {
  const OperatorPtr named = findOperatorFor(wanted.operator_name());
  const bool has_overload_name = !wanted.overload_name().empty();
  const std::string text = named && has_overload_name ? std::string() : canonicalSchemaString(wanted);
  if (named && (has_overload_name || canonicalSchemaString(named->schema()) == text)) {
    return named;
  }
  for (const OperatorPtr& op : getAllOperatorsFor(Symbol::fromQualString(wanted.name()))) {
    if (canonicalSchemaString(op->schema()) == text) {
      return op;
    }
  }
  return nullptr;
}

} // namespace

const OperatorPtr& getOperatorForLiteral(const char* signature) {
  // Literals live as long as the library that has them; their operators are never forgotten.
  static std::mutex& mutex = *new std::mutex();
  static auto& known = *new std::map<std::string, OperatorPtr>();
  const std::lock_guard<std::mutex> lock(mutex);
  OperatorPtr& op = known[signature];
  if (!op) {
    op = operator_of_schema(parseSchema(signature));
    TORCH_CHECK(op, "Couldn't find an operator for ", signature, ". Do you have to update a set of hardcoded JIT ops?");
  }
  return op;
}

std::string canonicalSchemaString(const FunctionSchema& schema) {
  std::ostringstream out;
  out << schema.name() << '(';
  bool seen_kwarg_only = false;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    out << (i > 0 ? ", " : "");
    if (argument.kwarg_only() && !seen_kwarg_only) {
      out << "*, ";
      seen_kwarg_only = true;
    }
    out << argument.type()->str() << ' ' << argument.name();
  }
  out << ") -> ";
  if (schema.returns().size() == 1) {
    out << schema.returns()[0].type()->str();
    return out.str();
  }
  out << '(';
  for (size_t i = 0; i < schema.returns().size(); ++i) {
    out << (i > 0 ? ", " : "") << schema.returns()[i].type()->str();
  }
  out << ')';
  return out.str();
}

void registerOperator(Operator&& op) {
  Registry::get().add(std::make_shared<Operator>(std::move(op)));
}

void deregisterOperator(const FunctionSchema& schema) {
  Registry::get().remove(schema);
}

RegisterOperators::RegisterOperators(std::vector<std::optional<Operator>> operators) {
  for (std::optional<Operator>& op : operators) {
    if (op) {
      registerOperator(*std::move(op));
    }
  }
}

RegisterOperators::RegisterOperators(std::vector<OperatorPtr> operators) : operators_(std::move(operators)) {
  for (const OperatorPtr& op : operators_) {
    Registry::get().add(op);
  }
}

RegisterOperators::~RegisterOperators() {
  for (const OperatorPtr& op : operators_) {
    Registry::get().remove(op->schema());
  }
}

// ---- operators of nodes ---------------------------------------------------------------------------------------------

namespace {

bool matches_schema(const Node& node, const FunctionSchema& schema) {
  if (node.inputs().size() < schema.arguments().size() ||
      (node.inputs().size() > schema.arguments().size() && !schema.is_vararg())) {
    return false;
  }
  c10::TypeEnv type_env;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const TypePtr& actual = node.input(i)->type();
    TypePtr formal = withoutSymInts(schema.arguments()[i].type());
    if (formal->hasFreeVariables()) {
      const c10::MatchTypeReturn matched = c10::matchTypeVariables(formal, actual, type_env);
      if (!matched.success()) {
        return false;
      }
      formal = c10::tryEvalTypeVariables(formal, type_env);
      if (!formal) {
        return false;
      }
    }
    if (!actual->isSubtypeOf(*formal)) {
      return false;
    }
  }
  return true;
}

} // namespace

bool Node::matches(const FunctionSchema& schema) const {
  return Symbol::fromQualString(schema.name()) == kind_ && matches_schema(*this, schema);
}

bool Node::matches(const char* schema_literal, at::ArrayRef<Symbol> const_inputs) const {
  if (!matches(getOperatorForLiteral(schema_literal)->schema())) {
    return false;
  }
  return std::all_of(const_inputs.begin(), const_inputs.end(), [this](Symbol name) { return is_constant(name); });
}

const Operator* Node::maybeOperator() const {
  // Threads that only look at a graph may ask at once: all of them find the same.
  const std::atomic_ref<const Operator*> known(operator_);
  if (const Operator* found = known.load(std::memory_order_relaxed)) {
    return found;
  }
  const auto candidates = sharedOperatorsFor(kind_);
  for (const OperatorPtr& candidate : *candidates) {
    if (matches_schema(*this, candidate->schema())) {
      known.store(candidate.get(), std::memory_order_relaxed);
      return candidate.get();
    }
  }
  return nullptr;
}

const Operator& Node::getOperator() const {
  if (const Operator* found = maybeOperator()) {
    return *found;
  }
  std::ostringstream message;
  message << "Schema not found for node. File a bug report.\nNode: " << *this << "\nInput types:";
  for (size_t i = 0; i < inputs_.size(); ++i) {
    message << (i > 0 ? ", " : "") << *inputs_[i]->type();
  }
  const std::vector<OperatorPtr> candidates = getAllOperatorsFor(kind_);
  if (!candidates.empty()) {
    message << "\ncandidates were:\n";
    for (const OperatorPtr& candidate : candidates) {
      message << "  " << candidate->schema() << '\n';
    }
  } else {
    message << "\nno candidates found\n";
  }
  TORCH_CHECK(false, message.str());
}

Operation Node::getOperation() const {
  return getOperator().getOperation(this);
}

const FunctionSchema* Node::maybeSchema() const {
  const Operator* op = maybeOperator();
  return op ? &op->schema() : nullptr;
}

const FunctionSchema& Node::schema() const {
  return getOperator().schema();
}

} // namespace torch::jit
