#include <aten/core/function_schema.h>

#include <aten/core/ivalue_print.h>

#include <ostream>
#include <sstream>

namespace c10 {

namespace {

void print_sets(std::ostream& out, const std::vector<Symbol>& sets) {
  const char* separator = "";
  for (const Symbol set : sets) {
    out << separator << set.toUnqualString();
    separator = "|";
  }
}

const AliasInfo* contained_alias(const AliasInfo* alias, size_t i) {
  return alias && i < alias->containedTypes().size() ? &alias->containedTypes()[i] : nullptr;
}

// A type with its annotations, which stand inside it: `Tensor(a!)[]`, `t(*)?`.
void print_type(std::ostream& out, const Type& type, const AliasInfo* alias, std::optional<int32_t> size) {
  if (const OptionalType* optional = type.castRaw<OptionalType>()) {
    print_type(out, *optional->getElementType(), alias, size);
    out << '?';
    return;
  }
  if (const ListType* list = type.castRaw<ListType>()) {
    print_type(out, *list->getElementType(), contained_alias(alias, 0), std::nullopt);
    out << '[';
    if (size) {
      out << *size;
    }
    out << ']';
  } else if (const TupleType* tuple = type.castRaw<TupleType>()) {
    out << '(';
    for (size_t i = 0; i < tuple->elements().size(); ++i) {
      if (i > 0) {
        out << ", ";
      }
      print_type(out, *tuple->elements()[i], contained_alias(alias, i), std::nullopt);
    }
    out << ')';
  } else {
    out << type.str();
  }
  // A container whose elements alone are annotated carries an empty set.
  if (alias && !alias->beforeSets().empty()) {
    out << *alias;
  }
}

void print_default(std::ostream& out, const Argument& argument) {
  const IValue& value = *argument.default_value();
  const Type* type = argument.type().get();
  if (const OptionalType* optional = type->castRaw<OptionalType>()) {
    type = optional->getElementType().get();
  }
  if (value.isString()) {
    out << quoted_text(value.toStringRef());
  } else if (value.isDevice()) {
    out << quoted_text(value.toDevice().str());
  } else if (value.isList() && !value.isTensorList()) {
    const ArrayRef<IValue> elements = value.toListRef();
    bool all_equal = true;
    for (const IValue& element : elements) {
      all_equal = all_equal && element == elements[0];
    }
    // Lists of SymInts print all their elements.
    const bool is_int_list = type->kind() == TypeKind::ListType && type->containedType(0)->kind() == TypeKind::IntType;
    if (is_int_list && argument.N() && elements.size() > 1 && all_equal) {
      out << elements[0];
      return;
    }
    out << '[';
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) {
        out << ", ";
      }
      if (elements[i].isString()) {
        out << quoted_text(elements[i].toStringRef());
      } else {
        out << elements[i];
      }
    }
    out << ']';
  } else {
    out << value;
  }
}

} // namespace

std::ostream& operator<<(std::ostream& out, const AliasInfo& info) {
  out << '(';
  print_sets(out, info.beforeSets());
  if (info.isWrite()) {
    out << '!';
  }
  if (info.beforeSets() != info.afterSets()) {
    out << " -> ";
    print_sets(out, info.afterSets());
  }
  return out << ')';
}

std::ostream& operator<<(std::ostream& out, const Argument& argument) {
  print_type(out, *argument.real_type(), argument.alias_info(), argument.N());
  if (!argument.name().empty()) {
    out << ' ' << argument.name();
  }
  if (argument.default_value()) {
    out << '=';
    print_default(out, argument);
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const FunctionSchema& schema) {
  out << schema.operator_name() << '(';
  bool seen_keyword_only = false;
  const char* separator = "";
  for (const Argument& argument : schema.arguments()) {
    out << separator;
    separator = ", ";
    if (argument.kwarg_only() && !seen_keyword_only) {
      out << "*, ";
      seen_keyword_only = true;
    }
    out << argument;
  }
  if (schema.is_vararg()) {
    out << separator << "...";
  }
  out << ") -> ";

  if (schema.is_varret() && schema.returns().empty()) {
    return out << "...";
  }
  if (schema.returns().size() == 1 && !schema.is_varret()) {
    std::ostringstream single;
    single << schema.returns()[0];
    // A lone tuple would be read as several results.
    const std::string text = single.str();
    return text[0] == '(' ? out << '(' << text << ')' : out << text;
  }
  out << '(';
  separator = "";
  for (const Argument& result : schema.returns()) {
    out << separator << result;
    separator = ", ";
  }
  if (schema.is_varret()) {
    out << separator << "...";
  }
  return out << ')';
}

std::string toString(const FunctionSchema& schema) {
  std::ostringstream out;
  out << schema;
  return out.str();
}

} // namespace c10
