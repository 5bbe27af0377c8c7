// What all that expressions stand for has in common.
#include <csrc/jit/frontend/sugared_value.h>

namespace torch::jit {

Self::~Self() = default;
Resolver::~Resolver() = default;
SugaredValue::~SugaredValue() = default;

SugaredValuePtr Resolver::resolveValue(const std::string&, GraphFunction&, const SourceRange&) {
  return nullptr;
}
TypePtr Resolver::resolveType(const std::string&, const SourceRange&) {
  return nullptr;
}

SugaredValuePtr NativeResolver::resolveValue(const std::string& name, GraphFunction&, const SourceRange&) {
  return name == "torch" ? std::make_shared<BuiltinModule>("aten") : nullptr;
}

ResolverPtr nativeResolver() {
  return std::make_shared<NativeResolver>();
}

SugaredValuePtr SimpleSelf::makeSugared(Value* value) const {
  value->setType(type_);
  return std::make_shared<SimpleValue>(value);
}

std::vector<Value*> toValues(Graph& graph, at::ArrayRef<NamedValue> values) {
  std::vector<Value*> out;
  for (const NamedValue& value : values) {
    out.push_back(value.value(graph));
  }
  return out;
}

// ---- what cannot be done with most things ---------------------------------------------------------------------------

void SugaredValue::cannot(const SourceRange& range, const std::string& what) const {
  throw ErrorReport(range) << kind() << ' ' << what;
}
Value* SugaredValue::asValue(const SourceRange& range, GraphFunction&) {
  cannot(range, "cannot be used as a value");
}
SugaredValuePtr SugaredValue::attr(const SourceRange& range, GraphFunction&, const std::string&) {
  throw ErrorReport(range) << "attribute lookup is not defined on " << kind();
}
bool SugaredValue::hasAttr(const SourceRange& range, GraphFunction&, const std::string&) {
  throw ErrorReport(range) << "attribute lookup is not defined on " << kind();
}
void SugaredValue::setAttr(const SourceRange& range, GraphFunction&, const std::string&, Value*) {
  throw ErrorReport(range) << "attribute assignment is not defined on " << kind();
}
SugaredValuePtr SugaredValue::call(
    const SourceRange& range, GraphFunction&, at::ArrayRef<NamedValue>, at::ArrayRef<NamedValue>, size_t) {
  throw ErrorReport(range) << "cannot call a " << kind();
}
std::vector<SugaredValuePtr> SugaredValue::asTuple(
    const SourceRange& range, GraphFunction&, const std::optional<size_t>&) {
  cannot(range, "cannot be used as a tuple");
}
SugaredValuePtr SugaredValue::asTupleValue(const SourceRange& range, GraphFunction&) {
  cannot(range, "cannot be used as a tuple");
}
SugaredValuePtr SugaredValue::iter(const SourceRange& range, GraphFunction&) {
  cannot(range, "cannot be used as an iterable");
}
Value* SugaredValue::len(const SourceRange& range, GraphFunction&) {
  throw ErrorReport(range) << '\'' << kind() << "' object is not iterable";
}
SugaredValuePtr SugaredValue::getitem(const SourceRange& range, GraphFunction&, Value*, const TypePtr&) {
  throw ErrorReport(range) << '\'' << kind() << "' object is not subscriptable";
}

} // namespace torch::jit
