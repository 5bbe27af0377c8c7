// What nodes do beside computing outputs, and whether the same inputs give the same outputs.
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/ir/ir.h>
#include <csrc/jit/ir/node_kinds.h>
#include <csrc/jit/runtime/operator.h>

#include <unordered_set>

namespace torch::jit {

namespace {

const std::unordered_set<Symbol>& random_operators() {
  static const auto& names = *new std::unordered_set<Symbol>([] {
    std::unordered_set<Symbol> symbols;
    for (const char* name :
         {"_fused_dropout",
          "_standard_gamma",
          "alpha_dropout",
          "bernoulli",
          "bernoulli_",
          "binomial",
          "cauchy_",
          "dropout",
          "dropout_",
          "exponential_",
          "feature_alpha_dropout",
          "feature_dropout",
          "geometric_",
          "log_normal_",
          "multinomial",
          "native_dropout",
          "normal",
          "normal_",
          "poisson",
          "rand",
          "rand_like",
          "randint",
          "randint_like",
          "randn",
          "randn_like",
          "random",
          "random_",
          "randperm",
          "rrelu",
          "rrelu_",
          "rrelu_with_noise",
          "scaled_dot_product_attention",
          "uniform_"}) {
      symbols.insert(Symbol::aten(name));
    }
    return symbols;
  }());
  return names;
}

const std::unordered_set<Symbol>& operators_with_effects() {
  static const auto& names = *new std::unordered_set<Symbol>{
      prim::CallFunction,
      prim::CallMethod,
      prim::Enter,
      prim::Exit,
      prim::PythonOp,
      prim::IgnoredPythonOp,
      prim::Print,
      prim::RaiseException,
      prim::SetAttr,
      prim::AddStatValue,
      prim::BreakStmt,
      prim::ContinueStmt,
      prim::ReturnStmt,
      prim::Store,
      prim::rpc_async,
      prim::rpc_remote,
      prim::rpc_sync,
      aten::warn,
      aten::save,
      aten::manual_seed,
      aten::backward,
      aten::wait,
      prim::fork,
      prim::awaitable,
      prim::awaitable_wait,
      Symbol::prim("TimePoint"),
      Symbol::prim("rpc_async"),
      Symbol::aten("seed"),
      Symbol::aten("requires_grad_"),
      Symbol::aten("retain_grad"),
      Symbol::aten("set_data"),
      Symbol::aten("_set_grad_enabled"),
      Symbol::aten("set_grad_enabled"),
      Symbol::aten("set_"),
      Symbol::aten("resize_"),
      Symbol::aten("record_stream"),
      Symbol::aten("_assert"),
      Symbol::aten("_assert_async"),
      Symbol::aten("_assert_scalar"),
  };
  return names;
}

} // namespace

bool isStructural(Symbol kind) {
  switch (static_cast<uint32_t>(kind)) {
    case prim::Constant:
    case prim::Uninitialized:
    case prim::Param:
    case prim::Return:
    case prim::If:
    case prim::Loop:
    case prim::Load:
    case prim::GetAttr:
    case prim::CreateObject:
    case prim::TupleConstruct:
    case prim::TupleUnpack:
    case prim::TupleIndex:
    case prim::TupleSlice:
    case prim::ListConstruct:
    case prim::ListUnpack:
    case prim::DictConstruct:
    case prim::isinstance:
    case prim::unchecked_cast:
    case prim::profile:
    case prim::profile_ivalue:
      return true;
    default:
      return false;
  }
}

bool mayWrite(const Node* node) {
  if (isStructural(node->kind())) {
    return false;
  }
  const FunctionSchema* schema = node->maybeSchema();
  return schema && schema->is_mutable();
}

bool Node::hasSideEffects() const {
  if (isStructural(kind_)) {
    return false;
  }
  if (operators_with_effects().count(kind_) > 0) {
    return true;
  }
  const Operator* op = maybeOperator();
  if (!op) {
    // Nothing is known of it. What belongs to graphs themselves has no effect unless it is listed, as in libtorch.
    return !kind_.is_prim();
  }
  if (op->aliasAnalysisKind() != AliasAnalysisKind::CONSERVATIVE) {
    return false;
  }
  // Operators of the library say nothing, and mean what their schema says; others are taken to do anything.
  return !(kind_.is_aten() || kind_.is_prim() || kind_.is_cuda()) || !op->schema().isDefaultAliasAnalysisKind();
}

bool drawsRandomNumbers(const FunctionSchema& schema) {
  if (random_operators().count(Symbol::fromQualString(schema.name())) > 0) {
    return true;
  }
  const std::optional<c10::OperatorHandle> op = c10::Dispatcher::singleton().findOp(schema.operator_name());
  return op && op->hasTag(at::Tag::nondeterministic_seeded);
}

bool Node::isNondeterministic() const {
  if (random_operators().count(kind_) == 0) {
    const Operator* op = kind_.is_aten() || kind_.is_prim() ? nullptr : maybeOperator();
    return op && op->isC10Op() && op->handle().hasTag(at::Tag::nondeterministic_seeded);
  }
  // Dropout that is off draws nothing.
  if (inputs_.size() == 3 &&
      (kind_ == aten::dropout || kind_ == aten::feature_dropout || kind_ == aten::alpha_dropout)) {
    const std::optional<IValue> train = toIValue(inputs_[2]);
    return !(train && train->isBool() && !train->toBool());
  }
  return true;
}

} // namespace torch::jit
