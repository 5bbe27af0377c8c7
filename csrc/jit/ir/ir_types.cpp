// Types as graphs print them.
#include <csrc/jit/ir/ir_scanner.h>

#include <aten/core/custom_class_registry.h>
#include <aten/core/function.h>
#include <aten/core/tensor_type.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace torch::jit {

namespace {

constexpr int kMaxDepth = 64;

/// What a text that names a function's type stands for: the function itself is not in the text.
struct UnknownFunction final : Function {
  void run(Stack&) override {
    TORCH_CHECK(false, "the text of a graph names a function without telling which");
  }
  const c10::QualifiedName& qualname() const override {
    static const auto& name = *new c10::QualifiedName("unknown");
    return name;
  }
  const FunctionSchema& getSchema() const override {
    static const auto& schema = *new FunctionSchema("unknown", "", {}, {});
    return schema;
  }
  size_t num_inputs() const override {
    return 0;
  }
  Function& setSchema(FunctionSchema) override {
    return *this;
  }
};

const std::unordered_map<std::string_view, TypePtr>& simple_types() {
  static const auto& types = *new std::unordered_map<std::string_view, TypePtr>{
      {"int", IntType::get()},
      {"float", FloatType::get()},
      {"bool", BoolType::get()},
      {"str", StringType::get()},
      {"complex", ComplexType::get()},
      {"Scalar", NumberType::get()},
      {"number", NumberType::get()},
      {"None", NoneType::get()},
      {"NoneType", NoneType::get()},
      {"Device", DeviceObjType::get()},
      {"Stream", StreamObjType::get()},
      {"Generator", GeneratorType::get()},
      {"Storage", StorageType::get()},
      {"QScheme", QSchemeType::get()},
      {"Quantizer", QuantizerType::get()},
      {"Capsule", CapsuleType::get()},
      {"PyObject", PyObjectType::get()},
      {"Any", AnyType::get()},
      {"AnyListType", AnyListType::get()},
      {"AnyTupleType", AnyTupleType::get()},
      {"AnyClassType", AnyClassType::get()},
      {"AnyEnumType", AnyEnumType::get()},
      {"list", AnyListType::get()},
      {"tuple", AnyTupleType::get()},
      {"ScalarType", ScalarTypeType::get()},
      {"Layout", LayoutType::get()},
      {"MemoryFormat", MemoryFormatType::get()},
      {"SymInt", SymIntType::get()},
      {"SymFloat", SymFloatType::get()},
      {"SymBool", SymBoolType::get()},
  };
  return types;
}

std::optional<c10::ScalarType> dtype_named(std::string_view name) {
  for (int i = 0; i < static_cast<int>(c10::ScalarType::NumOptions); ++i) {
    const auto dtype = static_cast<c10::ScalarType>(i);
    if (dtype != c10::ScalarType::Undefined && name == c10::toString(dtype)) {
      return dtype;
    }
  }
  return std::nullopt;
}

class TypeReader {
 public:
  TypeReader(IRScanner& scanner, IRTypes& types) : scanner_(scanner), types_(types) {}

  TypePtr type() {
    if (++depth_ > kMaxDepth) {
      scanner_.fail("this type is nested too deeply");
    }
    TypePtr result = base_type();
    while (true) {
      scanner_.skip_blanks();
      if (scanner_.peek() == '[' && scanner_.peek(1) == ']') {
        scanner_.expect("[");
        scanner_.expect("]");
        result = ListType::create(std::move(result));
      } else if (scanner_.peek() == '?') {
        scanner_.expect("?");
        result = OptionalType::create(result);
      } else {
        break;
      }
    }
    --depth_;
    return result;
  }

 private:
  template <class Item>
  void sequence(const char* close, Item item) {
    if (scanner_.take(close)) {
      return;
    }
    do {
      item();
    } while (scanner_.take(","));
    scanner_.expect(close);
  }

  TypePtr base_type() {
    scanner_.skip_space();
    if (scanner_.take("(")) {
      std::vector<TypePtr> elements;
      sequence(")", [&] { elements.push_back(type()); });
      return TupleType::create(std::move(elements));
    }
    const size_t begin = scanner_.position();
    const std::string name = scanner_.name(true, "a type");
    if (name == "Dict") {
      return dict_type();
    }
    if (name == "Future" || name == "RRef" || name == "Await") {
      return wrapper_type(name);
    }
    if (name == "Union") {
      return union_type();
    }
    if (name == "NamedTuple") {
      return named_tuple();
    }
    if (name == "Enum") {
      return enum_type();
    }
    if (name == "Function") {
      static UnknownFunction& unknown = *new UnknownFunction();
      return FunctionType::create(&unknown);
    }
    if (TypePtr tensor = tensor_type(name)) {
      return tensor;
    }
    const auto simple = simple_types().find(name);
    if (simple != simple_types().end()) {
      return simple->second;
    }
    if (name.find('.') != std::string::npos) {
      return class_type(name, begin);
    }
    if (name[0] >= 'a' && name[0] <= 'z') {
      return VarType::create(name);
    }
    scanner_.fail("unknown type specifier '" + name + "'", begin);
  }

  TypePtr dict_type() {
    scanner_.expect("(");
    const size_t begin = scanner_.position();
    const TypePtr key = type();
    scanner_.expect(",");
    const TypePtr value = type();
    scanner_.expect(")");
    try {
      return DictType::create(key, value);
    } catch (const c10::Error& error) {
      scanner_.fail(error.what_without_backtrace(), begin);
    }
  }

  TypePtr wrapper_type(const std::string& name) {
    const bool square = scanner_.take("[");
    if (!square) {
      scanner_.expect("(");
    }
    TypePtr element = type();
    scanner_.expect(square ? "]" : ")");
    if (name == "Future") {
      return FutureType::create(std::move(element));
    }
    return name == "RRef" ? TypePtr(RRefType::create(std::move(element)))
                          : TypePtr(AwaitType::create(std::move(element)));
  }

  TypePtr union_type() {
    const size_t begin = scanner_.position();
    const bool square = scanner_.take("[");
    if (!square) {
      scanner_.expect("(");
    }
    std::vector<TypePtr> members;
    sequence(square ? "]" : ")", [&] { members.push_back(type()); });
    if (members.empty()) {
      scanner_.fail("a union has members", begin);
    }
    return UnionType::create(std::move(members));
  }

  TypePtr named_tuple() {
    scanner_.expect("(");
    std::vector<std::string> names;
    std::vector<TypePtr> types;
    sequence(")", [&] {
      names.push_back(scanner_.name(false, "the name of a field"));
      scanner_.expect(":");
      types.push_back(type());
    });
    return TupleType::createNamed(c10::QualifiedName("__torch__.NamedTuple"), names, types);
  }

  TypePtr enum_type() {
    scanner_.expect("<");
    const size_t begin = scanner_.position();
    const std::string name = scanner_.name(true, "the name of an enum");
    scanner_.expect(">");
    check_name(name, begin);
    return known_or(name, [&] { return EnumType::create(c10::QualifiedName(name), IntType::get(), {}, {}); });
  }

  template <class Make>
  TypePtr known_or(const std::string& name, Make make) {
    if (types_.lookup) {
      if (TypePtr known = types_.lookup(name)) {
        return known;
      }
    }
    TypePtr& made = types_.made[name];
    if (!made) {
      made = make();
    }
    return made;
  }

  void check_name(const std::string& name, size_t begin) {
    if (name.front() == '.' || name.back() == '.' || name.find("..") != std::string::npos) {
      scanner_.fail("this is no qualified name", begin);
    }
  }

  TypePtr class_type(const std::string& name, size_t begin) {
    check_name(name, begin);
    if (name.rfind("__torch__.torch.classes.", 0) == 0) {
      return torch::declareCustomClass(name);
    }
    return known_or(name, [&] { return ClassType::create(c10::QualifiedName(name)); });
  }

  // ---- tensors: Float(2, *, strides=[3, 1], requires_grad=0, device=cpu)
  TypePtr tensor_type(const std::string& name) {
    std::optional<c10::ScalarType> dtype;
    if (name != "Tensor") {
      dtype = dtype_named(name);
      if (!dtype && name.size() > 6 && name.compare(name.size() - 6, 6, "Tensor") == 0) {
        dtype = dtype_named(std::string_view(name).substr(0, name.size() - 6));
      }
      if (!dtype) {
        return nullptr;
      }
    }
    const bool has_rank = name != "Tensor" && name.find("Tensor") == std::string::npos;
    std::vector<std::optional<int64_t>> sizes;
    std::optional<std::vector<int64_t>> strides;
    std::optional<bool> requires_grad;
    std::optional<c10::Device> device;
    bool listed = false;
    if (scanner_.peek() == '(') {
      scanner_.expect("(");
      sequence(")", [&] { tensor_property(sizes, strides, requires_grad, device, listed); });
      listed = listed || has_rank;
    }
    using Shape = c10::VaryingShape<int64_t>;
    const bool known_strides = strides && strides->size() == sizes.size();
    TensorTypePtr type = TensorType::create(
        dtype, device, listed ? Shape(sizes) : Shape(), known_strides ? Shape(*strides) : Shape(), requires_grad,
        std::nullopt);
    if (scanner_.peek() == '[' && scanner_.rest().rfind("[Undefined]", 0) == 0) {
      scanner_.expect("[");
      scanner_.expect("Undefined");
      scanner_.expect("]");
      type = type->withUndefined();
    }
    return type;
  }

  void tensor_property(
      std::vector<std::optional<int64_t>>& sizes,
      std::optional<std::vector<int64_t>>& strides,
      std::optional<bool>& requires_grad,
      std::optional<c10::Device>& device,
      bool& listed) {
    if (scanner_.take("*")) {
      sizes.push_back(std::nullopt);
      listed = true;
    } else if (scanner_.take("strides")) {
      scanner_.expect("=");
      scanner_.expect("[");
      strides.emplace();
      sequence("]", [&] { strides->push_back(integer()); });
    } else if (scanner_.take("requires_grad")) {
      scanner_.expect("=");
      requires_grad = integer() != 0;
    } else if (scanner_.take("device")) {
      scanner_.expect("=");
      device = device_name();
    } else {
      const size_t begin = scanner_.position();
      const int64_t size = integer();
      if (strides) {
        scanner_.fail("sizes stand before strides", begin);
      }
      if (size < 0) {
        scanner_.fail("a size is not negative", begin);
      }
      sizes.push_back(size);
      listed = true;
    }
  }

  int64_t integer() {
    scanner_.skip_space();
    const size_t begin = scanner_.position();
    const IValue value = scanner_.number();
    if (!value.isInt()) {
      scanner_.fail("expected an integer here", begin);
    }
    return value.toInt();
  }

  c10::Device device_name() {
    scanner_.skip_space();
    const size_t begin = scanner_.position();
    std::string name = scanner_.name(false, "a device");
    if (scanner_.peek() == ':') {
      scanner_.expect(":");
      name += ':' + scanner_.name(false, "the index of a device");
    }
    try {
      return c10::Device(name);
    } catch (const c10::Error& error) {
      scanner_.fail(error.what_without_backtrace(), begin);
    }
  }

  IRScanner& scanner_;
  IRTypes& types_;
  int depth_ = 0;
};

} // namespace

TypePtr parseIRType(IRScanner& scanner, IRTypes& types) {
  return TypeReader(scanner, types).type();
}

bool looksLikeType(IRScanner& scanner) {
  scanner.skip_space();
  const std::string_view rest = scanner.rest();
  size_t end = 0;
  while (end < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[end])) || rest[end] == '_')) {
    ++end;
  }
  const std::string_view word = rest.substr(0, end);
  if (word == "__torch__" || word == "Dict" || word == "Future" || word == "RRef" || word == "Await" ||
      word == "Union" || word == "NamedTuple" || word == "Enum" || word == "Function" || word == "Tensor") {
    return true;
  }
  // None is a value; it is a type where something follows that only types have.
  if (word == "None") {
    return end < rest.size() && (rest[end] == '?' || rest[end] == '[');
  }
  return dtype_named(word).has_value() || simple_types().count(word) > 0;
}

} // namespace torch::jit
