#include <aten/core/schema_parser.h>

#include <aten/core/Reduction.h>
#include <aten/core/custom_class_registry.h>
#include <aten/core/schema_lexer.h>
#include <c10/core/ScalarType.h>
#include <c10/util/StringUtil.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <unordered_map>

namespace torch::jit {

namespace {

using namespace c10;
using schema::Lexer;
using schema::Token;
using schema::TokenKind;

struct ParsedType {
  TypePtr fake;
  TypePtr real;
  std::optional<AliasInfo> alias;
  std::optional<int32_t> size;
};

const std::unordered_map<std::string_view, TypePtr>& named_types() {
  static const auto& types = *new std::unordered_map<std::string_view, TypePtr>{
      {"Tensor", TensorType::get()},
      {"Scalar", NumberType::get()},
      {"number", NumberType::get()},
      {"int", IntType::get()},
      {"DeviceIndex", IntType::get()},
      {"SymInt", SymIntType::get()},
      {"SymFloat", SymFloatType::get()},
      {"SymBool", SymBoolType::get()},
      {"float", FloatType::get()},
      {"complex", ComplexType::get()},
      {"bool", BoolType::get()},
      {"str", StringType::get()},
      {"Dimname", StringType::get()},
      {"Device", DeviceObjType::get()},
      {"Stream", StreamObjType::get()},
      {"Generator", GeneratorType::get()},
      {"Storage", StorageType::get()},
      {"QScheme", QSchemeType::get()},
      {"Quantizer", QuantizerType::get()},
      {"ConstQuantizerPtr", IntType::get()},
      {"NoneType", NoneType::get()},
      {"None", NoneType::get()},
      {"Any", AnyType::get()},
      {"AnyListType", AnyListType::get()},
      {"list", AnyListType::get()},
      {"AnyTupleType", AnyTupleType::get()},
      {"tuple", AnyTupleType::get()},
      {"AnyClassType", AnyClassType::get()},
      {"AnyEnumType", AnyEnumType::get()},
      {"Capsule", CapsuleType::get()},
      {"PyObject", PyObjectType::get()},
  };
  return types;
}

// Names that stand for a number in the default of an integer-like argument.
std::optional<int64_t> named_constant(std::string_view name) {
  static const auto& constants = *new std::unordered_map<std::string_view, int64_t>([] {
    std::unordered_map<std::string_view, int64_t> out{
        {"contiguous_format", static_cast<int64_t>(MemoryFormat::Contiguous)},
        {"preserve_format", static_cast<int64_t>(MemoryFormat::Preserve)},
        {"channels_last", static_cast<int64_t>(MemoryFormat::ChannelsLast)},
        {"channels_last_3d", static_cast<int64_t>(MemoryFormat::ChannelsLast3d)},
        {"strided", static_cast<int64_t>(Layout::Strided)},
        {"sparse_coo", static_cast<int64_t>(Layout::Sparse)},
        {"sparse_csr", static_cast<int64_t>(Layout::SparseCsr)},
        {"sparse_csc", static_cast<int64_t>(Layout::SparseCsc)},
        {"sparse_bsr", static_cast<int64_t>(Layout::SparseBsr)},
        {"sparse_bsc", static_cast<int64_t>(Layout::SparseBsc)},
        {"Mean", at::Reduction::Mean},
        {"Sum", at::Reduction::Sum},
    };
    const std::pair<std::string_view, ScalarType> dtypes[] = {
        {"uint8", kByte},
        {"byte", kByte},
        {"int8", kChar},
        {"char", kChar},
        {"int16", kShort},
        {"short", kShort},
        {"int32", kInt},
        {"int", kInt},
        {"int64", kLong},
        {"long", kLong},
        {"float16", kHalf},
        {"half", kHalf},
        {"float32", kFloat},
        {"float", kFloat},
        {"float64", kDouble},
        {"double", kDouble},
        {"complex32", kComplexHalf},
        {"complex64", kComplexFloat},
        {"cfloat", kComplexFloat},
        {"complex128", kComplexDouble},
        {"cdouble", kComplexDouble},
        {"bool", kBool},
        {"bfloat16", kBFloat16}};
    for (const auto& [dtype_name, dtype] : dtypes) {
      out.emplace(dtype_name, static_cast<int64_t>(dtype));
    }
    return out;
  }());
  const auto found = constants.find(name);
  return found == constants.end() ? std::nullopt : std::optional<int64_t>(found->second);
}

class Parser {
 public:
  Parser(std::string_view text, bool allow_typevars) : lexer_(text), allow_typevars_(allow_typevars) {}

  std::variant<OperatorName, FunctionSchema> declaration() {
    OperatorName name = operator_name();
    if (lexer_.current().kind == TokenKind::End) {
      return name;
    }

    std::vector<Argument> arguments;
    bool is_vararg = false;
    bool keyword_only = false;
    sequence([&] {
      if (is_vararg) {
        lexer_.fail("nothing may follow '...':", lexer_.current());
      }
      if (lexer_.current().is('*')) {
        if (keyword_only) {
          lexer_.fail("'*' can only be used once:", lexer_.current());
        }
        lexer_.next();
        keyword_only = true;
      } else if (lexer_.next_if(TokenKind::Ellipsis)) {
        is_vararg = true;
      } else {
        arguments.push_back(argument(keyword_only));
      }
    });

    lexer_.expect(TokenKind::Arrow, "'->'");
    std::vector<Argument> returns;
    bool is_varret = false;
    if (lexer_.next_if(TokenKind::Ellipsis)) {
      is_varret = true;
    } else if (lexer_.current().is('(')) {
      sequence([&] {
        if (is_varret) {
          lexer_.fail("nothing may follow '...':", lexer_.current());
        }
        if (lexer_.next_if(TokenKind::Ellipsis)) {
          is_varret = true;
        } else {
          returns.push_back(result());
        }
      });
    } else {
      returns.push_back(result());
    }
    expect_end();
    return FunctionSchema(
        std::move(name.name), std::move(name.overload_name), std::move(arguments), std::move(returns), is_vararg,
        is_varret);
  }

  TypePtr single_type() {
    TypePtr out = type().real;
    expect_end();
    return out;
  }

 private:
  void expect_end() {
    if (lexer_.current().kind != TokenKind::End) {
      lexer_.fail_expected("the end");
    }
  }

  // "(item, item, ...)", maybe empty.
  template <class Item>
  void sequence(Item&& item) {
    lexer_.expect('(');
    if (lexer_.next_if(')')) {
      return;
    }
    do {
      item();
    } while (lexer_.next_if(','));
    lexer_.expect(')');
  }

  OperatorName operator_name() {
    std::string name(lexer_.expect(TokenKind::Identifier, "an operator name").text);
    if (lexer_.next_if(':')) {
      lexer_.expect(':');
      name += "::";
      name += lexer_.expect(TokenKind::Identifier, "an operator name").text;
    }
    std::string overload;
    if (lexer_.next_if('.')) {
      const Token token = lexer_.expect(TokenKind::Identifier, "an overload name");
      overload = std::string(token.text);
      if (overload == "default" || overload.compare(0, 2, "__") == 0) {
        lexer_.fail(overload + " is not a legal overload name for aten operators:", token);
      }
    }
    return OperatorName(std::move(name), std::move(overload));
  }

  Argument argument(bool keyword_only) {
    ParsedType parsed = type();
    const Token name = lexer_.expect(TokenKind::Identifier, "the name of the argument");
    std::optional<IValue> value;
    if (lexer_.next_if('=')) {
      value = default_value(*parsed.fake, *parsed.real, parsed.size);
    }
    return Argument(
        std::string(name.text), std::move(parsed.fake), std::move(parsed.real), parsed.size, std::move(value),
        keyword_only, std::move(parsed.alias));
  }

  Argument result() {
    ParsedType parsed = type();
    std::string name;
    if (lexer_.current().kind == TokenKind::Identifier) {
      name = std::string(lexer_.next().text);
    }
    return Argument(
        std::move(name), std::move(parsed.fake), std::move(parsed.real), parsed.size, std::nullopt, false,
        std::move(parsed.alias));
  }

  // --- types

  ParsedType type() {
    ParsedType out = base_type();
    if (!out.alias) {
      out.alias = alias_annotation();
    }
    while (true) {
      if (lexer_.next_if('?')) {
        out.fake = OptionalType::create(out.fake);
        out.real = OptionalType::create(out.real);
      } else if (lexer_.current().is('[')) {
        list_suffix(out);
      } else {
        return out;
      }
    }
  }

  void list_suffix(ParsedType& out) {
    lexer_.expect('[');
    out.fake = ListType::create(out.fake);
    out.real = ListType::create(out.real);
    out.size = std::nullopt;
    if (lexer_.current().kind == TokenKind::Number) {
      const Token token = lexer_.next();
      const std::optional<int64_t> size = integer(token.text);
      if (!size || *size > std::numeric_limits<int32_t>::max()) {
        lexer_.fail("this is no list size:", token);
      }
      out.size = static_cast<int32_t>(*size);
    }
    lexer_.expect(']');
    std::optional<AliasInfo> container = alias_annotation();
    if (out.alias) {
      // Writing to an element writes to the list.
      if (!container) {
        container = AliasInfo(out.alias->isWrite(), {}, {});
      }
      container->addContainedType(std::move(*out.alias));
    }
    out.alias = std::move(container);
  }

  ParsedType base_type() {
    if (lexer_.current().is('(')) {
      return tuple_type();
    }
    const Token token = lexer_.expect(TokenKind::Identifier, "a type");
    const std::string_view name = token.text;
    if (name == "ScalarType") {
      return {IntType::get(), ScalarTypeType::get(), {}, {}};
    }
    if (name == "Layout") {
      return {IntType::get(), LayoutType::get(), {}, {}};
    }
    if (name == "MemoryFormat") {
      return {IntType::get(), MemoryFormatType::get(), {}, {}};
    }
    if (name == "Dict") {
      return dict_type();
    }
    if (name == "Future" || name == "Await" || name == "RRef") {
      return wrapper_type(name);
    }
    if (name == "Union") {
      return union_type();
    }
    if (name == "__torch__") {
      return class_type();
    }
    const auto found = named_types().find(name);
    if (found != named_types().end()) {
      return same(found->second);
    }
    if (name[0] >= 'a' && name[0] <= 'z') {
      if (!allow_typevars_) {
        lexer_.fail("type variable '" + std::string(name) + "' is not allowed here:", token);
      }
      return same(VarType::create(std::string(name)));
    }
    lexer_.fail(
        "unknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, str, Scalar, "
        "ScalarType, "
        "Device, Dict(K, V), __torch__.torch.classes.NS.NAME; add [] for a list and ? for an optional:",
        token);
  }

  static ParsedType same(TypePtr type) {
    return {type, type, {}, {}};
  }

  ParsedType tuple_type() {
    std::vector<TypePtr> fake;
    std::vector<TypePtr> real;
    std::vector<AliasInfo> aliases;
    bool any_alias = false;
    sequence([&] {
      ParsedType element = type();
      fake.push_back(std::move(element.fake));
      real.push_back(std::move(element.real));
      any_alias = any_alias || element.alias;
      aliases.push_back(element.alias ? std::move(*element.alias) : AliasInfo());
    });
    ParsedType out{TupleType::create(std::move(fake)), TupleType::create(std::move(real)), {}, {}};
    if (any_alias) {
      out.alias = AliasInfo();
      for (AliasInfo& alias : aliases) {
        if (alias.isWrite()) {
          out.alias->setIsWrite(true);
        }
        out.alias->addContainedType(std::move(alias));
      }
    }
    return out;
  }

  ParsedType dict_type() {
    lexer_.expect('(');
    const Token key_token = lexer_.current();
    const TypePtr key = type().fake;
    lexer_.expect(',');
    const TypePtr value = type().fake;
    lexer_.expect(')');
    try {
      return same(DictType::create(key, value));
    } catch (const c10::Error& e) {
      lexer_.fail(e.what_without_backtrace(), key_token);
    }
  }

  ParsedType wrapper_type(std::string_view name) {
    lexer_.expect('(');
    const TypePtr element = type().fake;
    lexer_.expect(')');
    if (name == "Future") {
      return same(FutureType::create(element));
    }
    if (name == "Await") {
      return same(AwaitType::create(element));
    }
    return same(RRefType::create(element));
  }

  ParsedType union_type() {
    const char close = lexer_.next_if('[') ? ']' : (lexer_.expect('('), ')');
    std::vector<TypePtr> members;
    do {
      members.push_back(type().fake);
    } while (lexer_.next_if(','));
    lexer_.expect(close);
    return same(UnionType::create(std::move(members)));
  }

  ParsedType class_type() {
    std::string name = "__torch__";
    while (lexer_.current().is('.')) {
      lexer_.next();
      name += '.';
      name += lexer_.expect(TokenKind::Identifier, "part of a class name").text;
    }
    return same(declareCustomClass(name));
  }

  // --- alias annotations

  void alias_sets(std::vector<Symbol>& sets, bool& is_write) {
    do {
      if (lexer_.next_if('*')) {
        sets.push_back(AliasInfo::wildcardSet());
      } else {
        sets.push_back(
            Symbol::fromQualString("alias::" + std::string(lexer_.expect(TokenKind::Identifier, "an alias set").text)));
      }
      if (lexer_.next_if('!')) {
        is_write = true;
      }
    } while (lexer_.next_if('|'));
  }

  std::optional<AliasInfo> alias_annotation() {
    if (lexer_.next_if('!')) {
      // Written to, in a set of its own.
      const std::vector<Symbol> fresh{Symbol::fromQualString("alias::$" + std::to_string(next_fresh_set_++))};
      return AliasInfo(true, fresh, fresh);
    }
    if (!lexer_.next_if('(')) {
      return std::nullopt;
    }
    std::vector<Symbol> before;
    std::vector<Symbol> after;
    bool is_write = false;
    alias_sets(before, is_write);
    if (lexer_.next_if(TokenKind::Arrow)) {
      alias_sets(after, is_write);
    } else {
      after = before;
    }
    lexer_.expect(')');
    return AliasInfo(is_write, before, after);
  }

  // --- defaults

  static std::optional<int64_t> integer(std::string_view text) {
    int64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
      return std::nullopt;
    }
    return value;
  }

  // A number of any kind: integer, floating point, imaginary (`2j`) or complex (`1+2j`).
  IValue number() {
    const Token first = lexer_.current();
    IValue value = part_of_number();
    if (!value.isComplexDouble() && (lexer_.current().is('+') || lexer_.current().is('-'))) {
      const IValue rest = part_of_number();
      if (!rest.isComplexDouble()) {
        lexer_.fail("this is no number:", first);
      }
      const double real = value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble();
      return c10::complex<double>(real, rest.toComplexDouble().imag());
    }
    return value;
  }

  IValue part_of_number() {
    const bool negative = lexer_.current().is('-');
    if (negative || lexer_.current().is('+')) {
      lexer_.next();
    }
    const double sign = negative ? -1.0 : 1.0;
    if (lexer_.next_if("inf")) {
      return sign * std::numeric_limits<double>::infinity();
    }
    if (lexer_.next_if("nan")) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    const Token token = lexer_.expect(TokenKind::Number, "a number");
    std::string text = (negative ? "-" : "") + std::string(token.text);
    if (text.back() == 'j') {
      text.pop_back();
      return c10::complex<double>(0.0, std::strtod(text.c_str(), nullptr));
    }
    if (text.find_first_of(".eE") != std::string::npos) {
      return std::strtod(text.c_str(), nullptr);
    }
    const std::optional<int64_t> value = integer(text);
    if (!value) {
      lexer_.fail("this integer does not fit into 64 bits:", token);
    }
    return *value;
  }

  IValue integer_default(const Type& real) {
    if (lexer_.current().kind == TokenKind::Identifier) {
      const Token token = lexer_.current();
      if (const std::optional<int64_t> value = named_constant(token.text)) {
        lexer_.next();
        return *value;
      }
    }
    const Token first = lexer_.current();
    IValue value = number();
    if (!value.isInt()) {
      lexer_.fail("expected an integer as default of type " + real.str() + ":", first);
    }
    return value;
  }

  IValue float_default() {
    const Token first = lexer_.current();
    const IValue value = number();
    if (value.isInt()) {
      return static_cast<double>(value.toInt());
    }
    if (!value.isDouble()) {
      lexer_.fail("expected a number as default of type float:", first);
    }
    return value;
  }

  IValue boolean() {
    if (lexer_.next_if("True") || lexer_.next_if("true")) {
      return true;
    }
    if (lexer_.next_if("False") || lexer_.next_if("false")) {
      return false;
    }
    lexer_.fail_expected("True or False");
  }

  IValue list_default(const Type& fake, const Type& real, std::optional<int32_t> size) {
    const TypePtr& fake_element = fake.expectRef<ListType>().getElementType();
    const Type& real_element = *real.expectRef<ListType>().getElementType();
    // A list of SymInts whose values are known is a list of ints.
    c10::impl::GenericList list(fake_element->kind() == TypeKind::SymIntType ? TypePtr(IntType::get()) : fake_element);
    if (!lexer_.current().is('[')) {
      const Token first = lexer_.current();
      const IValue value = default_value(*fake_element, real_element, std::nullopt);
      if (!size) {
        lexer_.fail("one value as default of a list needs a list size, as in int[2]:", first);
      }
      for (int32_t i = 0; i < *size; ++i) {
        list.push_back(value);
      }
      return list;
    }
    lexer_.expect('[');
    if (lexer_.next_if(']')) {
      return list;
    }
    do {
      list.push_back(default_value(*fake_element, real_element, std::nullopt));
    } while (lexer_.next_if(','));
    lexer_.expect(']');
    return list;
  }

  IValue tuple_default(const Type& fake, const Type& real) {
    std::vector<IValue> elements;
    const Token first = lexer_.current();
    sequence([&] {
      const size_t i = elements.size();
      if (i >= fake.containedTypes().size()) {
        lexer_.fail("the default has too many values for " + real.str() + ":", first);
      }
      elements.push_back(default_value(*fake.containedType(i), *real.containedType(i), std::nullopt));
    });
    if (elements.size() != fake.containedTypes().size()) {
      lexer_.fail("the default has too few values for " + real.str() + ":", first);
    }
    return ivalue::Tuple::create(std::move(elements));
  }

  IValue default_value(const Type& fake, const Type& real, std::optional<int32_t> size) {
    if (lexer_.current().is("None")) {
      lexer_.next();
      return IValue();
    }
    switch (fake.kind()) {
      case TypeKind::OptionalType:
        return default_value(*fake.containedType(0), *real.containedType(0), size);
      case TypeKind::ListType:
        return list_default(fake, real, size);
      case TypeKind::TupleType:
        return tuple_default(fake, real);
      case TypeKind::IntType:
      case TypeKind::SymIntType:
      case TypeKind::QSchemeType:
        return integer_default(real);
      case TypeKind::FloatType:
      case TypeKind::SymFloatType:
        return float_default();
      case TypeKind::BoolType:
      case TypeKind::SymBoolType:
        return boolean();
      case TypeKind::ComplexType: {
        const IValue value = number();
        if (value.isComplexDouble()) {
          return value;
        }
        return c10::complex<double>(value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble());
      }
      case TypeKind::StringType:
        return schema::unquoted(lexer_, lexer_.expect(TokenKind::String, "a string"));
      case TypeKind::DeviceObjType: {
        const Token token = lexer_.expect(TokenKind::String, "a device in quotes");
        return c10::Device(schema::unquoted(lexer_, token));
      }
      case TypeKind::NumberType:
      case TypeKind::AnyType:
      case TypeKind::VarType:
        if (lexer_.current().kind == TokenKind::String) {
          return schema::unquoted(lexer_, lexer_.next());
        }
        if (lexer_.current().is("True") || lexer_.current().is("False")) {
          return boolean();
        }
        return number();
      default:
        lexer_.fail("an argument of type " + real.str() + " can have no default but None:", lexer_.current());
    }
  }

  Lexer lexer_;
  bool allow_typevars_;
  int next_fresh_set_ = 0;
};

} // namespace

std::variant<OperatorName, FunctionSchema> parseSchemaOrName(std::string_view text, bool allow_typevars) {
  return Parser(text, allow_typevars).declaration();
}

FunctionSchema parseSchema(std::string_view text, bool allow_typevars) {
  auto parsed = parseSchemaOrName(text, allow_typevars);
  TORCH_CHECK(
      std::holds_alternative<FunctionSchema>(parsed),
      "Tried to parse a function schema but only the operator name was given: ", text);
  return std::get<FunctionSchema>(std::move(parsed));
}

OperatorName parseName(std::string_view text) {
  auto parsed = parseSchemaOrName(text);
  TORCH_CHECK(
      std::holds_alternative<OperatorName>(parsed),
      "Tried to parse an operator name but function schema was given: ", text);
  return std::get<OperatorName>(std::move(parsed));
}

TypePtr parseSchemaType(std::string_view text) {
  return Parser(text, true).single_type();
}

} // namespace torch::jit
