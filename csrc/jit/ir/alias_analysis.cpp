// How the facts of an AliasDb are found. alias_queries.cpp answers questions by them.
#include <csrc/jit/ir/alias_analysis.h>

#include <csrc/jit/ir/constants.h>
#include <csrc/jit/runtime/operator.h>

#include <algorithm>

namespace torch::jit {

// ---- types ----------------------------------------------------------------------------------------------------------

namespace {

constexpr int kMaxTypeDepth = 64;

// Whether a list of that element type may be taken for one of another element type (an Any, a type variable).
bool is_number(TypeKind kind) {
  switch (kind) {
    case TypeKind::IntType:
    case TypeKind::FloatType:
    case TypeKind::BoolType:
    case TypeKind::ComplexType:
    case TypeKind::NumberType:
    case TypeKind::SymIntType:
    case TypeKind::SymFloatType:
    case TypeKind::SymBoolType:
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
    case TypeKind::DeviceObjType:
      return true;
    default:
      return false;
  }
}

bool holds_mutable(const Type& type, int depth) {
  if (depth > kMaxTypeDepth) {
    return true;
  }
  const auto any_contained = [&] {
    const auto contained = type.containedTypes();
    return std::any_of(
        contained.begin(), contained.end(), [&](const TypePtr& each) { return holds_mutable(*each, depth + 1); });
  };
  switch (type.kind()) {
    case TypeKind::TensorType:
    case TypeKind::ListType:
    case TypeKind::DictType:
    case TypeKind::ClassType:
    case TypeKind::InterfaceType:
    case TypeKind::AnyType:
    case TypeKind::AnyListType:
    case TypeKind::AnyTupleType:
    case TypeKind::AnyClassType:
    case TypeKind::PyObjectType:
    case TypeKind::CapsuleType:
    case TypeKind::StorageType:
    case TypeKind::VarType:
    case TypeKind::RRefType:
      return true;
    case TypeKind::OptionalType:
    case TypeKind::UnionType:
    case TypeKind::TupleType:
    case TypeKind::FutureType:
    case TypeKind::AwaitType:
      return any_contained();
    default:
      return false;
  }
}

} // namespace

bool AliasDb::isMutableType(const TypePtr& type) {
  return holds_mutable(*type, 0);
}

bool AliasDb::isMutableType(const Value* value) {
  return isMutableType(value->type());
}

AliasDb::Kinds AliasDb::kindsOf(const Type& type) {
  constexpr Kinds kAll = (Kinds{1} << NumKinds) - 1;
  constexpr auto bit = [](Kind kind) { return Kinds{1} << kind; };
  switch (type.kind()) {
    case TypeKind::TensorType:
      return bit(TensorKind);
    case TypeKind::ListType: {
      const TypeKind element = type.containedType(0)->kind();
      return bit(
          element == TypeKind::TensorType       ? TensorListKind
              : is_number(element)              ? NumberListKind
              : element == TypeKind::StringType ? StringListKind
                                                : OtherListKind);
    }
    case TypeKind::AnyListType:
      return bit(TensorListKind) | bit(NumberListKind) | bit(StringListKind) | bit(OtherListKind);
    case TypeKind::DictType:
      return bit(DictKind);
    case TypeKind::ClassType:
    case TypeKind::InterfaceType:
    case TypeKind::AnyClassType:
    case TypeKind::PyObjectType:
    case TypeKind::CapsuleType:
      return bit(ObjectKind);
    case TypeKind::TupleType:
    case TypeKind::AnyTupleType:
      return bit(TupleKind);
    case TypeKind::FutureType:
    case TypeKind::AwaitType:
    case TypeKind::RRefType:
      return bit(FutureKind);
    case TypeKind::OptionalType:
    case TypeKind::UnionType: {
      Kinds kinds = 0;
      for (const TypePtr& each : type.containedTypes()) {
        if (isMutableType(each)) {
          kinds |=
              each->kind() == TypeKind::OptionalType || each->kind() == TypeKind::UnionType ? kAll : kindsOf(*each);
        }
      }
      return kinds;
    }
    default:
      return kAll;
  }
}

// ---- facts ----------------------------------------------------------------------------------------------------------

AliasDb::AliasDb(std::shared_ptr<Graph> graph, bool isFrozen, bool) : graph_(std::move(graph)), is_frozen_(isFrozen) {
  unknown_ = memory_.add();
  for (Element& wildcard : wildcards_) {
    wildcard = memory_.add();
  }
  for (size_t kind = 0; kind < NumKinds; ++kind) {
    memory_.point(unknown_, wildcards_[kind]);
    if (kind == TensorListKind) {
      memory_.contain(wildcards_[kind], wildcards_[TensorKind]);
    } else if (kind != TensorKind && kind != NumberListKind && kind != StringListKind) {
      memory_.contain(wildcards_[kind], unknown_);
    }
  }
  for (const Value* input : graph_->inputs()) {
    setWildcard(input);
  }
  analyze(graph_->block());
  settleWildcards();
}

AliasDb::~AliasDb() = default;

AliasDb::Element AliasDb::elementOf(const Value* value) {
  const auto [found, fresh] = elements_.try_emplace(value, 0);
  if (fresh) {
    found->second = memory_.add();
  }
  return found->second;
}

void AliasDb::giveFresh(const Value* value, bool contents_are_wildcards) {
  if (!isMutableType(value) || elements_.count(value) > 0) {
    return;
  }
  const Element element = elementOf(value);
  if (!contents_are_wildcards) {
    return;
  }
  const Kinds kinds = kindsOf(*value->type());
  for (size_t kind = 0; kind < NumKinds; ++kind) {
    if ((kinds >> kind & 1) == 0 || kind == TensorKind || kind == NumberListKind || kind == StringListKind) {
      continue;
    }
    memory_.contain(element, kind == TensorListKind ? wildcards_[TensorKind] : unknown_);
  }
}

void AliasDb::setWildcard(const Value* value) {
  if (isMutableType(value)) {
    elementOf(value);
    pending_wildcards_.insert(value);
  }
}

void AliasDb::pointTo(const Value* from, const Value* to) {
  if (!isMutableType(from)) {
    return;
  }
  // A value that cannot be written to has no element, and is none of what the other may be.
  const Element element = elementOf(from);
  if (isMutableType(to)) {
    memory_.point(element, elementOf(to));
  }
}

void AliasDb::pointTo(at::ArrayRef<Value*> from, at::ArrayRef<Value*> to) {
  for (size_t i = 0; i < from.size() && i < to.size(); ++i) {
    pointTo(from[i], to[i]);
  }
}

void AliasDb::registerWrite(const Value* value, Node* node, bool contents) {
  if (isMutableType(value)) {
    writes_[node].push_back(Write{value, contents});
  }
}

// Whatever a wildcard shares memory with is a wildcard. All pointers are known now.
void AliasDb::settleWildcards() {
  std::vector<std::pair<Element, Kinds>> places;
  for (const Value* value : pending_wildcards_) {
    const Kinds kinds = kindsOf(*value->type());
    for (const uint32_t place : memory_.locations(elements_.at(value)).places()) {
      places.emplace_back(place, kinds);
    }
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const auto& [place, kinds] : places) {
    if (place == unknown_ || std::find(wildcards_.begin(), wildcards_.end(), place) != wildcards_.end()) {
      continue;
    }
    for (size_t kind = 0; kind < NumKinds; ++kind) {
      if (kinds >> kind & 1) {
        memory_.point(place, wildcards_[kind]);
      }
    }
  }
}

// ---- nodes ----------------------------------------------------------------------------------------------------------

void AliasDb::analyze(Block* block) {
  for (Node* node : block->nodes()) {
    analyze(node);
  }
}

void AliasDb::analyze(Node* node) {
  if (analyzeByKind(node)) {
    return;
  }
  const Operator* op = node->maybeOperator();
  if (!op) {
    for (Block* inner : node->blocks()) {
      analyze(inner);
    }
    analyzeConservative(node);
    return;
  }
  const bool of_library = node->kind().is_aten() || node->kind().is_prim() || node->kind().is_cuda();
  switch (op->aliasAnalysisKind()) {
    case AliasAnalysisKind::PURE_FUNCTION:
      for (const Value* output : node->outputs()) {
        giveFresh(output);
      }
      return;
    case AliasAnalysisKind::FROM_SCHEMA:
      analyzeSchema(node, op->schema());
      return;
    case AliasAnalysisKind::CONSERVATIVE:
      if (of_library && op->schema().isDefaultAliasAnalysisKind()) {
        analyzeSchema(node, op->schema());
        return;
      }
      [[fallthrough]];
    default:
      analyzeConservative(node);
  }
}

bool AliasDb::analyzeByKind(Node* node) {
  switch (static_cast<uint32_t>(node->kind())) {
    case prim::If:
      analyzeIf(node);
      return true;
    case prim::Loop:
      analyzeLoop(node);
      return true;
    case prim::ListConstruct:
    case prim::DictConstruct:
    case prim::TupleConstruct:
      analyzeConstruct(node);
      return true;
    case prim::Constant:
    case prim::Uninitialized:
    case prim::CreateObject:
    case prim::isinstance:
    case prim::AutogradZero:
      for (const Value* output : node->outputs()) {
        giveFresh(output);
      }
      return true;
    case prim::GetAttr:
      if (is_frozen_ && node->input(0)->type()->is_module()) {
        giveFresh(node->output());
      } else {
        setWildcard(node->output());
      }
      return true;
    case prim::SetAttr:
      registerWrite(node->input(0), node);
      setWildcard(node->input(1));
      return true;
    case prim::TupleUnpack:
    case prim::TupleIndex:
    case prim::TupleSlice:
    case prim::ListUnpack:
      for (const Value* output : node->outputs()) {
        setWildcard(output);
      }
      return true;
    case prim::unchecked_cast:
    case prim::unchecked_unwrap_optional:
    case prim::profile:
      if (node->inputs().size() == 1 && node->outputs().size() == 1) {
        pointTo(node->output(), node->input());
        return true;
      }
      return false;
    case prim::TypeCheck:
      for (size_t i = 0; i < std::min(node->inputs().size(), node->outputs().size()); ++i) {
        pointTo(node->output(i), node->input(i));
      }
      return true;
    case prim::fork:
    case prim::awaitable:
      // What it runs may write to what it is given, now or later.
      analyzeConservative(node);
      return true;
    case aten::wait:
    case prim::awaitable_wait:
      writes_to_all_wildcards_.insert(node);
      for (const Value* output : node->outputs()) {
        setWildcard(output);
      }
      return true;
    case prim::Enter:
    case prim::Exit:
    case prim::CallFunction:
    case prim::CallMethod:
      analyzeConservative(node);
      return true;
    default:
      analyzeRunningStatistics(node);
      return false;
  }
}

void AliasDb::analyzeIf(Node* node) {
  for (Block* block : node->blocks()) {
    analyze(block);
    pointTo(node->outputs(), block->outputs());
  }
}

void AliasDb::analyzeLoop(Node* node) {
  if (node->blocks().size() != 1 || node->inputs().size() < 2 || node->blocks()[0]->inputs().empty() ||
      node->blocks()[0]->outputs().empty()) {
    for (Block* block : node->blocks()) {
      analyze(block);
    }
    analyzeConservative(node);
    return;
  }
  Block* body = node->blocks()[0];
  const at::ArrayRef<Value*> state = body->inputs().slice(1);
  pointTo(state, node->inputs().slice(2));
  analyze(body);
  // The next turn takes what this one gives; without any turn the state is as it was.
  const at::ArrayRef<Value*> next = body->outputs().slice(1);
  pointTo(state, next);
  pointTo(node->outputs(), next);
  pointTo(node->outputs(), node->inputs().slice(2));
}

// A list that one operator reads as a whole, whose result is memory of its own, keeps nothing.
bool AliasDb::onlyReadWhole(const Value* list) {
  static const auto& readers = *new std::unordered_set<Symbol>{
      aten::cat,
      aten::stack,
      aten::index,
      aten::index_put_,
      aten::format,
      Symbol::aten("concat"),
      Symbol::aten("concatenate"),
      Symbol::aten("hstack"),
      Symbol::aten("vstack"),
      Symbol::aten("dstack"),
      Symbol::aten("index_put"),
      prim::Print,
  };
  return list->uses().size() == 1 && readers.count(list->uses()[0].user->kind()) > 0;
}

void AliasDb::analyzeConstruct(Node* node) {
  const Value* container = node->output();
  if (!isMutableType(container)) {
    return;
  }
  if (onlyReadWhole(container)) {
    giveFresh(container, false);
    for (const Value* input : node->inputs()) {
      if (isMutableType(input)) {
        memory_.contain(elementOf(container), elementOf(input));
      }
    }
    return;
  }
  giveFresh(container);
  for (const Value* input : node->inputs()) {
    setWildcard(input);
  }
}

void AliasDb::analyzeConservative(Node* node) {
  for (const Value* input : node->inputs()) {
    registerWrite(input, node, true);
    setWildcard(input);
  }
  for (const Value* output : node->outputs()) {
    setWildcard(output);
  }
}

// The schemas do not say that running statistics are written in training.
void AliasDb::analyzeRunningStatistics(Node* node) {
  static const auto& names = *new std::unordered_set<Symbol>{
      Symbol::aten("batch_norm"),        Symbol::aten("instance_norm"),
      Symbol::aten("native_batch_norm"), Symbol::aten("_batch_norm_impl_index"),
      Symbol::aten("cudnn_batch_norm"),  Symbol::aten("miopen_batch_norm"),
  };
  if (names.count(node->kind()) == 0 || node->inputs().size() < 6) {
    return;
  }
  const std::optional<IValue> training = toIValue(node->input(5));
  if (training && training->isBool() && !training->toBool()) {
    return;
  }
  registerWrite(node->input(3), node);
  registerWrite(node->input(4), node);
}

// ---- schemas --------------------------------------------------------------------------------------------------------

void AliasDb::analyzeSchema(Node* node, const FunctionSchema& schema) {
  std::unordered_map<Symbol, std::vector<Value*>> bound;
  const size_t arguments = std::min(schema.arguments().size(), node->inputs().size());
  for (size_t i = 0; i < arguments; ++i) {
    const c10::AliasInfo* formal = schema.arguments()[i].alias_info();
    Value* actual = node->input(i);
    if (!formal || !isMutableType(actual)) {
      continue;
    }
    if (formal->isWrite()) {
      registerWrite(actual, node, !formal->containedTypes().empty());
    }
    if (formal->isWildcardAfter() || formal->isWildcardBefore()) {
      setWildcard(actual);
    }
    for (const Symbol set : formal->beforeSets()) {
      bound[set].push_back(actual);
    }
    for (const c10::AliasInfo& contained : formal->containedTypes()) {
      if (!contained.beforeSets().empty()) {
        // Its members are known under this name, too; they are wildcards already.
        for (const Symbol set : contained.beforeSets()) {
          bound[set];
        }
      }
    }
  }
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    const bool described = i < schema.returns().size();
    bindOutput(node->output(i), described ? schema.returns()[i].alias_info() : nullptr, bound, node);
  }
}

void AliasDb::bindOutput(
    Value* output,
    const c10::AliasInfo* formal,
    const std::unordered_map<Symbol, std::vector<Value*>>& bound,
    Node* node) {
  if (!isMutableType(output)) {
    return;
  }
  if (!formal) {
    giveFresh(output);
    return;
  }
  if (formal->isWildcardAfter() || formal->isWildcardBefore()) {
    setWildcard(output);
  }
  for (const Symbol set : formal->beforeSets()) {
    const auto found = bound.find(set);
    if (found == bound.end() || found->second.empty()) {
      continue;
    }
    for (const Value* input : found->second) {
      pointTo(output, input);
    }
  }
  // Members of the result that are, or are parts of, an argument.
  for (const c10::AliasInfo& contained : formal->containedTypes()) {
    for (const Symbol set : contained.beforeSets()) {
      const auto found = bound.find(set);
      if (found != bound.end()) {
        for (const Value* input : found->second) {
          setWildcard(input);
        }
      }
    }
  }
  if (elements_.count(output) == 0 || !formal->containedTypes().empty()) {
    giveFresh(output);
  }
  if (formal->isWrite()) {
    registerWrite(output, node);
  }
}

} // namespace torch::jit
