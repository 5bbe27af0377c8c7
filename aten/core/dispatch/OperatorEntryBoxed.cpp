#include <aten/core/dispatch/OperatorEntry.h>

#include <c10/util/Exception.h>

#include <mutex>

// Boxed calls: are the values on the stack what the schema asks for, and which keys do they bring?

namespace c10::impl {

namespace {

using Tag = IValue::Tag;

constexpr uint32_t tag_bit(Tag tag) {
  return 1u << static_cast<uint32_t>(tag);
}
// Integers that stand for an enumerator: flags above the tags.
constexpr uint32_t kScalarType = 1u << 31, kLayout = 1u << 30, kMemoryFormat = 1u << 29;
constexpr uint32_t kEnumerators = kScalarType | kLayout | kMemoryFormat;
constexpr uint32_t kAnyTag = ~kEnumerators;

uint32_t allowed_tags(const Type& type) {
  switch (type.kind()) {
    case TypeKind::TensorType:
      return tag_bit(Tag::Tensor);
    case TypeKind::IntType:
    case TypeKind::SymIntType:
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
    case TypeKind::QSchemeType:
      return tag_bit(Tag::Int) | tag_bit(Tag::SymInt) | tag_bit(Tag::UInt);
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
      return tag_bit(Tag::Double) | tag_bit(Tag::SymFloat);
    case TypeKind::BoolType:
    case TypeKind::SymBoolType:
      return tag_bit(Tag::Bool) | tag_bit(Tag::SymBool);
    case TypeKind::ComplexType:
      return tag_bit(Tag::ComplexDouble);
    case TypeKind::NumberType:
      return tag_bit(Tag::Int) | tag_bit(Tag::UInt) | tag_bit(Tag::Double) | tag_bit(Tag::ComplexDouble) |
          tag_bit(Tag::Bool) | tag_bit(Tag::SymInt) | tag_bit(Tag::SymFloat) | tag_bit(Tag::SymBool);
    case TypeKind::StringType:
      return tag_bit(Tag::String);
    case TypeKind::DeviceObjType:
      return tag_bit(Tag::Device) | tag_bit(Tag::String);
    case TypeKind::StreamObjType:
      return tag_bit(Tag::Stream);
    case TypeKind::GeneratorType:
      return tag_bit(Tag::Generator) | tag_bit(Tag::None);
    case TypeKind::StorageType:
      return tag_bit(Tag::Storage);
    case TypeKind::ListType:
    case TypeKind::AnyListType:
      return tag_bit(Tag::GenericList);
    case TypeKind::DictType:
      return tag_bit(Tag::GenericDict);
    case TypeKind::TupleType:
    case TypeKind::AnyTupleType:
      return tag_bit(Tag::Tuple);
    case TypeKind::ClassType:
    case TypeKind::AnyClassType:
      return tag_bit(Tag::Object);
    case TypeKind::CapsuleType:
      return tag_bit(Tag::Capsule);
    case TypeKind::EnumType:
    case TypeKind::AnyEnumType:
      return tag_bit(Tag::Enum);
    case TypeKind::NoneType:
      return tag_bit(Tag::None);
    case TypeKind::OptionalType:
      return tag_bit(Tag::None) | allowed_tags(*type.containedType(0));
    default:
      return kAnyTag;
  }
}

uint32_t enumerator_flag(const Type& type) {
  switch (type.kind()) {
    case TypeKind::ScalarTypeType:
      return kScalarType;
    case TypeKind::LayoutType:
      return kLayout;
    case TypeKind::MemoryFormatType:
      return kMemoryFormat;
    case TypeKind::OptionalType:
      return enumerator_flag(*type.containedType(0));
    default:
      return 0;
  }
}

/// Whether an integer names an enumerator. Kernels look it up in tables, so a wrong one would read past their end.
bool is_enumerator(const IValue& value, uint32_t flags) {
  if (!value.isInt()) {
    return value.isNone();
  }
  const int64_t count = flags & kScalarType ? static_cast<int64_t>(ScalarType::Undefined)
      : flags & kLayout                     ? static_cast<int64_t>(Layout::NumOptions)
                                            : static_cast<int64_t>(MemoryFormat::NumOptions);
  return value.toInt() >= 0 && value.toInt() < count;
}

// Kernels take lists of these kinds as they are, so a wrong element would only be noticed far from here.
const Type* strict_element(const Type& type) {
  if (const OptionalType* optional = type.castRaw<OptionalType>()) {
    return strict_element(*optional->getElementType());
  }
  const ListType* list = type.castRaw<ListType>();
  return list && !list->hasFreeVariables() ? list->getElementType().get() : nullptr;
}

} // namespace

const OperatorEntry::BoxedArguments& OperatorEntry::makeBoxedArguments() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  if (const BoxedArguments* known = boxed_arguments_.load(std::memory_order_relaxed)) {
    return *known;
  }
  auto made = std::make_unique<BoxedArguments>();
  for (const Argument& argument : schema().arguments()) {
    const Type& type = *argument.type();
    made->push_back(
        {allowed_tags(type) | enumerator_flag(*argument.real_type()), c10::detail::may_hold_tensors(type),
         strict_element(type)});
  }
  boxed_arguments_.store(made.get(), std::memory_order_release);
  return *made.release();
}

DispatchKeySet OperatorEntry::keysBoxed(const Stack& stack) const {
  // Any arguments, and complaints about them.
  struct General {
    C10_NOINLINE static DispatchKeySet keys(const OperatorEntry& entry, const Stack& stack) {
      const BoxedArguments* known = entry.boxed_arguments_.load(std::memory_order_acquire);
      const BoxedArguments& expected = known != nullptr ? *known : entry.makeBoxedArguments();
      const size_t count = expected.size();
      TORCH_CHECK_TYPE(
          stack.size() >= count, entry.operator_name(), "() expected ", count, " argument(s) on the stack but got ",
          stack.size(), ".\nDeclaration: ", entry.schema());
      DispatchKeySet found;
      const IValue* value = stack.data() + (stack.size() - count);
      for (size_t i = 0; i < count; ++i, ++value) {
        const BoxedArgument& argument = expected[i];
        if (!allows(argument, *value)) {
          entry.reportBoxedArgument(*value, i);
        }
        if ((argument.tags & kEnumerators) != 0 && !is_enumerator(*value, argument.tags)) {
          const Argument& named = entry.schema().arguments()[i];
          TORCH_CHECK(
              false, entry.operator_name(), "() got ", *value, " for argument '", named.name(),
              "', which is no value of type ", named.real_type()->str(), ".\nDeclaration: ", entry.schema());
        }
        if (value->isTensor()) {
          if (argument.holds_tensors) {
            found = found | value->unsafeToTensorImpl()->key_set();
          }
        } else if (argument.element) {
          found = found | entry.keysOfContainer(*value, argument, i);
        }
      }
      return entry.extractor_.threadKeys(found);
    }
    static bool allows(const BoxedArgument& argument, const IValue& value) {
      return ((argument.tags >> static_cast<uint32_t>(value.tag())) & 1) != 0;
    }
  };

  // Tensors and plain values need no call, and so no frame.
  const BoxedArguments* const known = boxed_arguments_.load(std::memory_order_acquire);
  if (C10_UNLIKELY(known == nullptr || stack.size() < known->size())) {
    return General::keys(*this, stack);
  }
  DispatchKeySet keys;
  const IValue* value = stack.data() + (stack.size() - known->size());
  for (const BoxedArgument& argument : *known) {
    if (C10_UNLIKELY(!General::allows(argument, *value) || (argument.tags & kEnumerators) != 0)) {
      return General::keys(*this, stack);
    }
    if (C10_LIKELY(value->isTensor())) {
      if (argument.holds_tensors) {
        keys = keys | value->unsafeToTensorImpl()->key_set();
      }
    } else if (argument.element != nullptr) {
      return General::keys(*this, stack);
    }
    ++value;
  }
  return extractor_.threadKeys(keys);
}

DispatchKeySet OperatorEntry::keysOfContainer(
    const IValue& value, const BoxedArgument& expected, size_t position) const {
  DispatchKeySet keys;
  if (!value.isList()) {
    return keys;
  }
  const uint32_t allowed = allowed_tags(*expected.element);
  for (const IValue& element : value.toListRef()) {
    if (!((allowed >> static_cast<uint32_t>(element.tag())) & 1)) {
      reportBoxedArgument(value, position);
    }
    if (element.isTensor()) {
      keys = keys | element.unsafeToTensorImpl()->key_set();
    }
  }
  return keys;
}

void OperatorEntry::reportBoxedArgument(const IValue& value, size_t position) const {
  TORCH_CHECK_TYPE(
      false, operator_name(), "() ", schema().arguments()[position].formatTypeMismatchMsg(value.type()->repr_str()),
      "\nPosition: ", position, "\nDeclaration: ", schema());
}

} // namespace c10::impl
