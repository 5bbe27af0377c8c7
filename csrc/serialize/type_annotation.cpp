#include <csrc/serialize/type_annotation.h>

#include <vector>

namespace torch::serialize {

namespace {

constexpr int kMaxTypeDepth = 64;

/// Recursive descent: type = name | name '[' type {',' type} ']'.
class AnnotationParser {
 public:
  explicit AnnotationParser(std::string_view text) : text_(text) {}

  c10::TypePtr parse() {
    c10::TypePtr type = parse_type(0);
    return position_ == text_.size() ? type : nullptr;
  }

 private:
  void skip_spaces() {
    while (position_ < text_.size() && text_[position_] == ' ') {
      ++position_;
    }
  }
  bool accept(char character) {
    skip_spaces();
    if (position_ == text_.size() || text_[position_] != character) {
      return false;
    }
    ++position_;
    return true;
  }
  std::string_view name() {
    skip_spaces();
    const size_t start = position_;
    while (position_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[position_])) || text_[position_] == '_')) {
      ++position_;
    }
    return text_.substr(start, position_ - start);
  }

  static c10::TypePtr simple(std::string_view name) {
    if (name == "Tensor") {
      return c10::TensorType::get();
    }
    if (name == "int") {
      return c10::IntType::get();
    }
    if (name == "float") {
      return c10::FloatType::get();
    }
    if (name == "bool") {
      return c10::BoolType::get();
    }
    if (name == "str") {
      return c10::StringType::get();
    }
    if (name == "complex") {
      return c10::ComplexType::get();
    }
    if (name == "Device") {
      return c10::DeviceObjType::get();
    }
    if (name == "NoneType") {
      return c10::NoneType::get();
    }
    if (name == "Any") {
      return c10::AnyType::get();
    }
    return nullptr;
  }

  c10::TypePtr parse_type(int depth) {
    if (depth > kMaxTypeDepth) {
      return nullptr;
    }
    const std::string_view head = name();
    if (!accept('[')) {
      return simple(head);
    }
    std::vector<c10::TypePtr> parts;
    if (head == "Tuple" && accept('(')) {
      if (!accept(')') || !accept(']')) {
        return nullptr;
      }
      return c10::TupleType::create({});
    }
    do {
      parts.push_back(parse_type(depth + 1));
      if (!parts.back()) {
        return nullptr;
      }
    } while (accept(','));
    if (!accept(']')) {
      return nullptr;
    }
    if (head == "List" && parts.size() == 1) {
      return c10::ListType::create(parts[0]);
    }
    if (head == "Optional" && parts.size() == 1) {
      return c10::OptionalType::create(parts[0]);
    }
    if (head == "Dict" && parts.size() == 2) {
      return c10::DictType::create(parts[0], parts[1]);
    }
    if (head == "Tuple") {
      return c10::TupleType::create(std::move(parts));
    }
    return nullptr;
  }

  std::string_view text_;
  size_t position_ = 0;
};

} // namespace

c10::TypePtr parse_type_annotation(std::string_view text) {
  return AnnotationParser(text).parse();
}

bool may_be(const c10::IValue& value, const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::TensorType:
      return value.isTensor();
    case c10::TypeKind::IntType:
      return value.isInt();
    case c10::TypeKind::FloatType:
      return value.isDouble();
    case c10::TypeKind::BoolType:
      return value.isBool();
    case c10::TypeKind::StringType:
      return value.isString();
    case c10::TypeKind::ComplexType:
      return value.isComplexDouble();
    case c10::TypeKind::DeviceObjType:
      return value.isDevice();
    case c10::TypeKind::NoneType:
      return value.isNone();
    case c10::TypeKind::ListType:
      return value.isList();
    case c10::TypeKind::DictType:
      return value.isGenericDict();
    case c10::TypeKind::TupleType:
      return value.isTuple();
    case c10::TypeKind::OptionalType:
      return value.isNone() || may_be(value, *type.castRaw<c10::OptionalType>()->getElementType());
    default:
      return true;
  }
}

} // namespace torch::serialize
