#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/dispatch/OperatorEntry.h>

#include <aten/core/op_registration/infer_schema.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <mutex>
#include <sstream>

// What an operator tells about itself: dumps, lists of keys, checks of its own state, signatures.

namespace c10::impl {

std::string OperatorEntry::listAllDispatchKeys() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  std::string out = "[";
  const char* separator = "";
  for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) {
    const KernelFunction* kernel = computeEntry(key).kernel;
    if (!kernel || kernel->isFallthrough()) continue;
    out += separator;
    out += toString(key);
    separator = ", ";
  }
  return out + "]";
}

std::string OperatorEntry::dumpComputedTable() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  std::string out;
  const auto line = [&](DispatchKey key) {
    const ResolvedKernel resolved = computeEntry(key);
    if (!resolved.kernel || resolved.debug.empty()) return;
    out += std::string(toString(key)) + ": " + (resolved.kernel->isFallthrough() ? "fallthrough " : "") + resolved.debug + " [" +
        resolved.source + "]\n";
  };
  line(DispatchKey::Undefined);
  for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) line(key);
  return out;
}

std::string OperatorEntry::dumpState() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  std::ostringstream out;
  out << "name: " << name_ << "\n";
  if (hasSchema()) {
    out << "schema: " << schema() << "\n";
    out << "debug: " << debug() << "\n";
    out << "alias analysis kind: " << (schema().isDefaultAliasAnalysisKind() ? "FROM_SCHEMA" : toString(schema().aliasAnalysis())) << "\n";
  } else {
    out << "schema: (none)\n";
  }
  const auto kernel_line = [&](DispatchKey key, const KernelFunction& kernel, const std::string& inferred, const std::string& where,
                               bool active) {
    out << toString(key) << (active ? "" : " (inactive)") << ": " << where << " :: " << inferred << " [ " << kernel.dumpState() << " ]\n";
  };
  for (size_t i = keys_._Find_first(); i < keys_.size(); i = keys_._Find_next(i)) {
    const DispatchKey key = static_cast<DispatchKey>(i);
    bool active = true;
    for (const auto& [have, kernels] : kernels_) {
      if (have != key) continue;
      for (const AnnotatedKernel& kernel : kernels) {
        kernel_line(key, kernel.kernel, kernel.inferred_function_schema ? toString(*kernel.inferred_function_schema) : "(none)",
            kernel.debug, active);
        active = false;
      }
    }
    for (auto table = builtin_kernels_.rbegin(); table != builtin_kernels_.rend(); ++table) {
      for (size_t row = 0; row < table->second; ++row) {
        if (table->first[row].key != key) continue;
        kernel_line(key, *builtinKernel(table->first[row]), "(none)", std::string("defined in ") + table->first[row].debug, active);
        active = false;
      }
    }
  }
  return out.str();
}

void OperatorEntry::checkInvariants() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  if (const AnnotatedSchema* known = schema_.load()) {
    TORCH_INTERNAL_ASSERT(known->schema.operator_name() == name_, known->schema.operator_name(), " is registered as ", name_);
    TORCH_INTERNAL_ASSERT(extractor_.hasSchema());
  }
  for (const auto& [key, kernels] : kernels_) TORCH_INTERNAL_ASSERT(!kernels.empty(), "empty list of kernels for ", toString(key));
  const DispatchTable& table = *table_.load();
  const auto check = [&](DispatchKey key) {
    const KernelFunction* filled = table[static_cast<size_t>(getDispatchTableIndexForDispatchKey(key))].load();
    const KernelFunction* expected = computeEntry(key).kernel;
    TORCH_INTERNAL_ASSERT(!filled || filled == expected, name_, ": the table has another kernel for ", toString(key),
        " than the registrations say\n", dumpState(), dumpComputedTable());
    TORCH_INTERNAL_ASSERT(!filled || !filled->isFallthrough(), name_, ": the table has a fallthrough kernel for ", toString(key));
  };
  check(DispatchKey::Undefined);
  for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) check(key);
}

void OperatorEntry::assertSignatureIsCorrect(const CppSignature& call_signature, bool has_symint) const {
  // What void() means: the caller will not call.
  static const CppSignature no_call = CppSignature::make<void()>();
  if (call_signature == no_call) return;
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  const auto check = [&](const CppSignature& correct, const std::string& where) {
    TORCH_CHECK(correct == call_signature, "\nTried to access or call an operator with a wrong signature.\n  operator: ", debugOrName(),
        "\n    ", debug(), "\n  correct signature:  ", correct.name(), "\n    ", where, "\n  accessed/called as: ", call_signature.name(),
        "\n  first difference:\n", markDifference(correct.name(), call_signature.name()),
        "\nThis likely happened in a call to OperatorHandle::typed<Return (Args...)>(). Please make sure that the function signature ",
        "matches the signature in the operator registration call.");
  };
  const auto& known = has_symint ? sym_cpp_signature_ : cpp_signature_;
  if (known) check(known->signature, known->debug);
  for (const auto& [rows, count] : builtin_kernels_) {
    for (size_t i = 0; i < count; ++i) {
      if (rows[i].kernel->has_symint == has_symint) {
        check(CppSignature(*rows[i].kernel->signature), std::string("defined in ") + rows[i].debug);
        return;
      }
    }
  }
}

namespace {

using Tag = IValue::Tag;

constexpr uint32_t tag_bit(Tag tag) {
  return 1u << static_cast<uint32_t>(tag);
}
constexpr uint32_t kAnyTag = ~0u;

uint32_t allowed_tags(const Type& type) {
  switch (type.kind()) {
    case TypeKind::TensorType: return tag_bit(Tag::Tensor);
    case TypeKind::IntType:
    case TypeKind::SymIntType:
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
    case TypeKind::QSchemeType: return tag_bit(Tag::Int) | tag_bit(Tag::SymInt) | tag_bit(Tag::UInt);
    case TypeKind::FloatType:
    case TypeKind::SymFloatType: return tag_bit(Tag::Double) | tag_bit(Tag::SymFloat);
    case TypeKind::BoolType:
    case TypeKind::SymBoolType: return tag_bit(Tag::Bool) | tag_bit(Tag::SymBool);
    case TypeKind::ComplexType: return tag_bit(Tag::ComplexDouble);
    case TypeKind::NumberType:
      return tag_bit(Tag::Int) | tag_bit(Tag::UInt) | tag_bit(Tag::Double) | tag_bit(Tag::ComplexDouble) | tag_bit(Tag::Bool) |
          tag_bit(Tag::SymInt) | tag_bit(Tag::SymFloat) | tag_bit(Tag::SymBool);
    case TypeKind::StringType: return tag_bit(Tag::String);
    case TypeKind::DeviceObjType: return tag_bit(Tag::Device) | tag_bit(Tag::String);
    case TypeKind::StreamObjType: return tag_bit(Tag::Stream);
    case TypeKind::GeneratorType: return tag_bit(Tag::Generator) | tag_bit(Tag::None);
    case TypeKind::StorageType: return tag_bit(Tag::Storage);
    case TypeKind::ListType:
    case TypeKind::AnyListType: return tag_bit(Tag::GenericList);
    case TypeKind::DictType: return tag_bit(Tag::GenericDict);
    case TypeKind::TupleType:
    case TypeKind::AnyTupleType: return tag_bit(Tag::Tuple);
    case TypeKind::ClassType:
    case TypeKind::AnyClassType: return tag_bit(Tag::Object);
    case TypeKind::CapsuleType: return tag_bit(Tag::Capsule);
    case TypeKind::EnumType:
    case TypeKind::AnyEnumType: return tag_bit(Tag::Enum);
    case TypeKind::NoneType: return tag_bit(Tag::None);
    case TypeKind::OptionalType: return tag_bit(Tag::None) | allowed_tags(*type.containedType(0));
    default: return kAnyTag;
  }
}

// Kernels take lists of these kinds as they are, so a wrong element would only be noticed far from here.
const Type* strict_element(const Type& type) {
  if (const OptionalType* optional = type.castRaw<OptionalType>()) return strict_element(*optional->getElementType());
  const ListType* list = type.castRaw<ListType>();
  return list && !list->hasFreeVariables() ? list->getElementType().get() : nullptr;
}

bool elements_fit(const IValue& value, const Type& element) {
  if (!value.isList()) return true;
  const uint32_t allowed = allowed_tags(element);
  for (const IValue& inner : value.toListRef()) {
    if (!((allowed >> static_cast<uint32_t>(inner.tag())) & 1)) return false;
  }
  return true;
}

} // namespace

void OperatorEntry::makeArgumentChecks() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  if (argument_checks_.load(std::memory_order_relaxed)) return;
  auto made = std::make_unique<std::vector<ArgumentCheck>>();
  for (const Argument& argument : schema().arguments()) {
    made->push_back({allowed_tags(*argument.type()), strict_element(*argument.type())});
  }
  argument_checks_.store(made.release(), std::memory_order_release);
}

void OperatorEntry::checkBoxedArguments(const Stack& stack) const {
  if (C10_UNLIKELY(!argument_checks_.load(std::memory_order_acquire))) makeArgumentChecks();
  const std::vector<ArgumentCheck>& checks = *argument_checks_.load(std::memory_order_acquire);
  const size_t count = checks.size();
  if (C10_UNLIKELY(stack.size() < count)) {
    TORCH_CHECK_TYPE(false, name_, "() expected ", count, " argument(s) on the stack but got ", stack.size(), ".\nDeclaration: ", schema());
  }
  const IValue* const args = stack.data() + (stack.size() - count);
  for (size_t i = 0; i < count; ++i) {
    const bool fits = (checks[i].tags >> static_cast<uint32_t>(args[i].tag())) & 1;
    if (C10_LIKELY(fits && (!checks[i].element || elements_fit(args[i], *checks[i].element)))) continue;
    const Argument& argument = schema().arguments()[i];
    TORCH_CHECK_TYPE(false, name_, "() ", argument.formatTypeMismatchMsg(args[i].type()->repr_str()), "\nPosition: ", i,
        "\nDeclaration: ", schema());
  }
}

} // namespace c10::impl
