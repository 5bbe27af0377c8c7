#include <aten/core/IListRef.h>
#include <aten/core/enum_type.h>
#include <aten/core/ivalue.h>
#include <aten/core/function_schema.h>
#include <aten/core/stack.h>
#include <aten/core/weak_ivalue.h>
#include <aten/ops/ones.h>
#include <c10/core/TensorImpl.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>

using at::Tensor;
using c10::IValue;

namespace {

Tensor some_tensor() {
  return at::detail::make_tensor<c10::TensorImpl>(
      c10::DispatchKeySet(c10::DispatchKey::CPU), caffe2::TypeMeta::Make<float>(), c10::Device(c10::kCPU));
}
std::string printed(const IValue& v) {
  std::ostringstream out;
  out << v;
  return out.str();
}
std::string printed(const c10::Type& type) {
  std::ostringstream out;
  out << type;
  return out.str();
}
template <class T>
void round_trips(const T& value, const char* type) {
  const IValue boxed(value);
  CHECK(boxed.to<T>() == value);
  CHECK(boxed.type()->str() == type);
  IValue copy = boxed;
  CHECK(std::move(copy).template to<T>() == value);
  CHECK(boxed == IValue(value));
}

} // namespace

TEST_CASE("an IValue holds every simple type", "[ivalue]") {
  CHECK(sizeof(IValue) == 16);
  round_trips<int64_t>(-5, "int");
  round_trips(2.5, "float");
  round_trips(true, "bool");
  round_trips(c10::complex<double>(1, -2), "complex");
  round_trips(std::string("text"), "str");
  round_trips(c10::Device(c10::kCUDA, 1), "Device");
  round_trips(c10::kFloat, "int");
  round_trips(c10::MemoryFormat::ChannelsLast, "int");
  round_trips(c10::Layout(c10::kStrided), "int");
  CHECK(IValue(3).toInt() == 3);
  CHECK(IValue(uint8_t{200}).toInt() == 200);
  CHECK(IValue(~uint64_t{0}).toUInt() == ~uint64_t{0});
  CHECK(IValue(~uint64_t{0}).tagKind() == "UInt");
  CHECK(IValue("literal").toStringRef() == "literal");
  CHECK(IValue(c10::Scalar(2.5)).toDouble() == 2.5);
  CHECK(IValue(c10::Scalar(true)).isBool());
  CHECK(IValue(c10::Scalar(int64_t{7})).toScalar().toLong() == 7);
  CHECK(IValue(c10::SymInt(4)).isInt());
  CHECK(IValue(4).toSymInt() == 4);
  CHECK(IValue(c10::SymFloat(4.5)).toDouble() == 4.5);
  CHECK(IValue().isNone());
  CHECK(IValue(std::nullopt).isNone());
  CHECK(IValue(std::optional<int64_t>()).isNone());
  CHECK(IValue(std::optional<int64_t>(3)).toInt() == 3);
  CHECK(IValue(3).to<std::optional<int64_t>>() == 3);
  CHECK(IValue().to<std::optional<double>>() == std::nullopt);
  CHECK(IValue("cuda:1").toDevice() == c10::Device(c10::kCUDA, 1));
  CHECK(IValue(at::Generator()).isNone());
  CHECK_FALSE(IValue().toGenerator().defined());
}

TEST_CASE("tensors are counted once for each value", "[ivalue]") {
  const Tensor t = some_tensor();
  CHECK(t.use_count() == 1);
  {
    IValue a(t);
    IValue b = a;
    CHECK(t.use_count() == 3);
    IValue c = std::move(a);
    CHECK(a.isNone());
    CHECK(t.use_count() == 3);
    b = IValue(1);
    CHECK(t.use_count() == 2);
    c = c;
    CHECK(c.toTensor().is_same(t));
    Tensor out = std::move(c).toTensor();
    CHECK(c.isNone());
    CHECK(out.is_same(t));
    a.swap(c);
    CHECK(a.is(c));
  }
  CHECK(t.use_count() == 1);
  CHECK(IValue(Tensor()).isTensor());
  CHECK(IValue(Tensor()).is(IValue()));
  CHECK(IValue(t).isAliasOf(IValue(t)));
}

TEST_CASE("lists of every element type", "[ivalue]") {
  round_trips(std::vector<int64_t>{1, 2}, "int[]");
  round_trips(std::vector<double>{1, 2}, "float[]");
  round_trips(std::vector<bool>{true, false}, "bool[]");
  round_trips(std::vector<std::string>{"a", "b"}, "str[]");
  round_trips(std::vector<std::vector<int64_t>>{{1}, {2, 3}}, "int[][]");
  round_trips(std::vector<std::optional<int64_t>>{1, std::nullopt}, "int?[]");
  round_trips(std::array<bool, 2>{true, false}, "bool[]");
  CHECK(IValue(c10::IntArrayRef{1, 2}).toIntVector() == std::vector<int64_t>{1, 2});
  CHECK(IValue(c10::IntArrayRef{1, 2}).toDimVector() == c10::DimVector{1, 2});
  CHECK(IValue(c10::IntArrayRef{1, 2}).toSymIntVector()[1] == 2);
  const std::vector<c10::SymInt> syms{3, 4};
  CHECK(IValue(c10::SymIntArrayRef(syms)).isIntList());

  const Tensor t = some_tensor();
  const IValue tensors(std::vector<Tensor>{t, t});
  CHECK(tensors.isTensorList());
  CHECK(tensors.toTensorVector()[1].is_same(t));
  CHECK(tensors.toOptionalTensorVector()[0]->is_same(t));
  CHECK(IValue(std::vector<std::optional<Tensor>>{t, std::nullopt}).isOptionalTensorList());
  CHECK(IValue(std::vector<std::optional<Tensor>>{t, std::nullopt}).toOptionalTensorList().size() == 2);
  CHECK(tensors.toListRef().size() == 2);
  CHECK_THROWS_WITH(tensors.toIntList(), Catch::Matchers::StartsWith("Expected IntList but got GenericList"));
  CHECK_THROWS_WITH(
      (IValue(std::vector<int64_t>{1}).to<c10::List<double>>()), Catch::Matchers::Contains("Types mismatch"));
  CHECK_THROWS_AS((IValue(std::vector<int64_t>{1}).to<std::array<int64_t, 2>>()), c10::Error);
}

TEST_CASE("a list is moved out of a value that is given up", "[ivalue]") {
  IValue numbers(std::vector<int64_t>{1, 2});
  const c10::List<int64_t> shared = numbers.toIntList();
  CHECK(shared.use_count() == 2);
  const c10::List<int64_t> moved = std::move(numbers).toIntList();
  CHECK(numbers.isNone());
  CHECK(moved.use_count() == 2);
  IValue tensors(std::vector<Tensor>{some_tensor()}), optional(std::vector<std::optional<Tensor>>{std::nullopt});
  CHECK(std::move(tensors).toTensorList().use_count() == 1);
  CHECK(std::move(optional).toOptionalTensorList().use_count() == 1);
  CHECK(tensors.isNone());
  CHECK(optional.isNone());
  IValue flags(std::vector<bool>{true}), reals(std::vector<double>{1});
  CHECK(std::move(flags).toBoolList().use_count() == 1);
  CHECK(std::move(reals).toDoubleList().use_count() == 1);
  // What is refused stays where it is.
  IValue words(std::vector<std::string>{"a"});
  CHECK_THROWS_AS(std::move(words).toIntList(), c10::Error);
  CHECK(words.isList());
}

TEST_CASE("a List is shared, copied and changed in place", "[ivalue]") {
  c10::List<int64_t> list{1, 2, 3};
  c10::List<int64_t> same = list;
  const c10::List<int64_t> copy = list.copy();
  list[0] = 10;
  list.set(1, 20);
  list.push_back(4);
  CHECK(same.vec() == std::vector<int64_t>{10, 20, 3, 4});
  CHECK(copy.vec() == std::vector<int64_t>{1, 2, 3});
  CHECK(same.is(list));
  CHECK_FALSE(copy.is(list));
  CHECK(list == same);
  CHECK(list != copy);
  int64_t sum = 0;
  for (const int64_t element : list) {
    sum += element;
  }
  CHECK(sum == 37);
  const int64_t first = list[0];
  CHECK(first == 10);
  CHECK(list[1] == int64_t{20});
  list.erase(list.begin());
  list.insert(list.begin() + 1, 7);
  list.emplace_back(8);
  list.append(copy);
  CHECK(list.vec() == std::vector<int64_t>{20, 7, 3, 4, 8, 1, 2, 3});
  swap(list[0], list[1]);
  list[2] = list[3];
  CHECK(list.vec() == std::vector<int64_t>{7, 20, 4, 4, 8, 1, 2, 3});
  list.resize(2);
  list.pop_back();
  CHECK(list.size() == 1);
  CHECK(list.extract(0) == 7);
  CHECK(list.get(0) == 0);
  CHECK_THROWS_AS(list.get(5), std::out_of_range);
  list.clear();
  CHECK(list.empty());
  c10::List<std::string> strings({"a", "b"});
  CHECK(strings.get(1) == "b");
  CHECK(strings.elementType()->str() == "str");
  c10::List<Tensor> tensors;
  tensors.push_back(some_tensor());
  const Tensor element = tensors[0];
  CHECK(element.defined());
  const c10::List<Tensor>& read_only = tensors;
  CHECK(&read_only[0] == &read_only.get(0)); // no copy
  c10::List<std::optional<std::string>> words({"one", std::nullopt});
  const std::optional<std::string> one = words[0], none = words[1];
  CHECK(one == "one");
  CHECK_FALSE(none.has_value());
  CHECK(words[0] == std::optional<std::string>("one"));
  CHECK(c10::impl::GenericList(c10::AnyType::get()).elementType()->str() == "Any");
}

TEST_CASE("dicts keep their order and share their entries", "[ivalue]") {
  c10::Dict<std::string, int64_t> dict;
  dict.insert("one", 1);
  dict.insert("two", 2);
  CHECK_FALSE(dict.insert("one", 5).second);
  dict.insert_or_assign("two", 22);
  dict.insert("three", 3);
  CHECK(dict.at("two") == 22);
  CHECK(dict.contains("one"));
  CHECK_FALSE(dict.contains("none"));
  CHECK_THROWS_AS(dict.at("none"), std::out_of_range);
  std::string order;
  for (const auto& entry : dict) {
    order += entry.key() + std::to_string(entry.value());
  }
  CHECK(order == "one1two22three3");
  const c10::Dict<std::string, int64_t> copy = dict.copy();
  CHECK(dict.erase("two") == 1);
  CHECK(dict.erase("two") == 0);
  CHECK(copy.size() == 3);
  dict.begin()->setValue(100);
  CHECK(dict.find("one")->value() == 100);
  CHECK(dict != copy);

  const IValue boxed(dict);
  CHECK(boxed.type()->str() == "Dict(str, int)");
  CHECK((boxed.to<c10::Dict<std::string, int64_t>>().is(dict)));
  CHECK((boxed.to<std::unordered_map<std::string, int64_t>>().at("three") == 3));
  CHECK_THROWS_WITH(
      (boxed.to<c10::Dict<int64_t, int64_t>>()), Catch::Matchers::Contains("Key and value types must match"));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  CHECK(IValue(std::unordered_map<int64_t, double>{{1, 2.0}}).toGenericDict().at(1).toDouble() == 2.0);
#pragma GCC diagnostic pop

  const Tensor t = some_tensor();
  c10::Dict<Tensor, int64_t> by_tensor;
  by_tensor.insert(t, 1);
  by_tensor.insert(some_tensor(), 2);
  CHECK(by_tensor.at(t) == 1);
  CHECK(by_tensor.size() == 2);
}

TEST_CASE("tuples", "[ivalue]") {
  const std::tuple<int64_t, std::string, std::optional<double>> value{1, "a", std::nullopt};
  const IValue boxed(value);
  CHECK(boxed.isTuple());
  CHECK(boxed.type()->str() == "(int, str, NoneType)");
  CHECK((boxed.to<std::tuple<int64_t, std::string, std::optional<double>>>() == value));
  CHECK(boxed.toTupleRef().elements()[1].toStringRef() == "a");
  CHECK(c10::ivalue::Tuple::create({IValue(1), IValue(2)})->elements().size() == 2);
  const c10::ArrayRef<IValue> seen = boxed.toTupleRef().elements();
  CHECK(seen.size() == boxed.toTupleRef().elements().size());
  CHECK(c10::ivalue::Tuple::create(1, "x", 2.5)->size() == 3);
  CHECK(IValue(std::make_pair(int64_t{1}, 2.5)).toTuple()->elements()[1].toDouble() == 2.5);
  CHECK_THROWS_AS((boxed.to<std::tuple<int64_t>>()), c10::Error);
}

TEST_CASE("values compare, hash and print", "[ivalue]") {
  CHECK(IValue(1) == IValue(1));
  CHECK(IValue(2.5) == IValue(2.5));
  CHECK(IValue(std::nan("")) != IValue(std::nan("")));
  CHECK(IValue(c10::complex<double>(2, 3)) == IValue(c10::complex<double>(2, 3)));
  CHECK(IValue(1) != IValue(1.0)); // numbers of other types are other values
  CHECK(IValue(1) != IValue(true));
  CHECK(IValue(c10::complex<double>(2, 0)) != IValue(2));
  CHECK(IValue(1) != IValue("1"));
  CHECK(IValue(std::vector<int64_t>{1, 2}) == IValue(std::vector<int64_t>{1, 2}));
  CHECK(IValue(std::vector<int64_t>{1, 2}) != IValue(std::vector<int64_t>{1, 3}));
  CHECK(IValue(std::vector<int64_t>{}) != IValue(std::vector<double>{}));
  CHECK(IValue(std::make_tuple(1, std::string("a"))) == IValue(std::make_tuple(1, std::string("a"))));
  const Tensor t = some_tensor();
  CHECK(IValue(std::vector<Tensor>{t}) == IValue(std::vector<Tensor>{t}));
  CHECK(IValue::hash(IValue("a")) == IValue::hash(IValue(std::string("a"))));
  CHECK(IValue::hash(IValue(std::make_tuple(1, 2))) != IValue::hash(IValue(std::make_tuple(2, 1))));
  CHECK_THROWS_WITH(
      IValue::hash(IValue(std::vector<int64_t>{1})), Catch::Matchers::Contains("unhashable type: 'List[int]'"));

  CHECK(printed(1) == "1");
  CHECK(printed(1.0) == "1.");
  CHECK(printed(0.1) == "0.10000000000000001");
  CHECK(printed(-0.0) == "0.");
  CHECK(printed(1e30) == "1e+30");
  CHECK(printed(true) == "True");
  CHECK(printed(IValue()) == "None");
  CHECK(printed("text") == "text");
  CHECK(printed(c10::Device(c10::kCUDA, 1)) == "cuda:1");
  CHECK(printed(std::vector<int64_t>{1, 2}) == "[1, 2]");
  CHECK(printed(std::make_tuple(int64_t{1})) == "(1,)");
  CHECK(printed(std::make_tuple(int64_t{1}, 2.5)) == "(1, 2.5)");
  CHECK(printed(c10::complex<double>(1, -2)) == "1.-2.j");
  c10::Dict<std::string, int64_t> dict;
  dict.insert("a", 1);
  CHECK(printed(dict) == "{a: 1}");
}

TEST_CASE("reading the wrong type says which", "[ivalue]") {
  CHECK_THROWS_WITH(IValue(1.5).toInt(), Catch::Matchers::StartsWith("Expected Int but got Double"));
  CHECK_THROWS_WITH(IValue().toTensor(), Catch::Matchers::StartsWith("Expected Tensor but got None"));
  CHECK_THROWS_WITH(IValue("a").toDouble(), Catch::Matchers::StartsWith("Expected Double but got String"));
  CHECK_THROWS_AS(IValue(1).toBool(), c10::TypeError);
}

TEST_CASE("deepcopy shares nothing mutable", "[ivalue]") {
  c10::List<std::vector<int64_t>> list;
  list.push_back({1, 2});
  const IValue boxed(std::make_tuple(list, list));
  const IValue copy = boxed.deepcopy();
  CHECK(copy == boxed);
  CHECK_FALSE(copy.toTupleRef().elements()[0].is(boxed.toTupleRef().elements()[0]));
  // What was one object twice stays so.
  CHECK(copy.toTupleRef().elements()[0].is(copy.toTupleRef().elements()[1]));
}

TEST_CASE("a memo carries over to other deep copies, and tensors may change their device", "[ivalue]") {
  const Tensor tensor = at::ones({2});
  IValue::HashIdentityIValueMap memo;
  const IValue list = IValue(std::vector<Tensor>{tensor}).deepcopy(memo);
  CHECK(IValue(tensor).deepcopy(memo).toTensor().is_same(list.toTensorVector()[0]));
  CHECK_FALSE(list.toTensorVector()[0].is_alias_of(tensor));
  CHECK(IValue(tensor).deepcopy(c10::Device("meta")).toTensor().is_meta());
}

TEST_CASE("values are looked into", "[ivalue]") {
  const Tensor tensor = at::ones({2});
  const IValue both(std::make_tuple(tensor, std::vector<Tensor>{tensor.detach(), at::ones({2})}));
  IValue::HashAliasedIValues subvalues;
  both.getSubValues(subvalues);
  CHECK(subvalues.size() == 4); // the tuple, the list, and two storages
  CHECK(both.overlaps(IValue(tensor)));
  CHECK_FALSE(both.overlaps(IValue(at::ones({2}))));
  int seen = 0;
  const IValue nested(std::make_tuple(1, std::vector<int64_t>{1, 2}));
  nested.visit([&](const IValue&) { return ++seen, false; });
  CHECK(seen == 5);
  seen = 0;
  nested.visit([&](const IValue& v) { return ++seen, v.isList(); });
  CHECK(seen == 3);
  CHECK(IValue(1).isSameIdentity(1));
  CHECK_FALSE(IValue(1.0).isSameIdentity(1.0));
}

TEST_CASE("repr prints expressions", "[ivalue]") {
  const auto repr = [](const IValue& v) {
    std::ostringstream out;
    v.repr(out, [](std::ostream& stream, const IValue& inner) {
      return inner.isTensor() && (stream << "CONSTANT", true);
    });
    return out.str();
  };
  CHECK(repr(-0.0) == "-0.");
  CHECK(repr(1e9) == "1000000000.");
  CHECK(repr(1e10) == "10000000000");
  CHECK(repr(0.1) == "0.10000000000000001");
  CHECK(repr("it's \"so\"\n") == R"("it\'s \"so\"\n")");
  CHECK(repr(c10::Device("cuda:1")) == "torch.device(\"cuda:1\")");
  CHECK(repr(std::make_tuple(1, "x")) == "(1, \"x\")");
  CHECK(repr(std::vector<int64_t>{}) == "annotate(List[int], [])");
  CHECK(repr(std::vector<int64_t>{1, 2}) == "[1, 2]");
  CHECK(repr(c10::List<std::optional<int64_t>>({1})) == "annotate(List[Optional[int]], [1])");
  c10::Dict<std::string, int64_t> dict;
  CHECK(repr(dict) == "annotate(Dict[str, int],{})");
  dict.insert("a", 1);
  CHECK(repr(dict) == "{\"a\": 1}");
  CHECK(repr(at::ones({2})) == "CONSTANT");
  CHECK_THROWS_WITH(repr(IValue(at::ones({2}).storage())), Catch::Matchers::Contains("Storage"));
}

TEST_CASE("named tuples", "[ivalue][types]") {
  using c10::TupleType;
  const std::vector<c10::TypePtr> types{c10::IntType::get(), c10::FloatType::get()};
  const auto point =
      TupleType::createNamed(c10::QualifiedName("__torch__.Point"), std::vector<std::string>{"x", "y"}, types);
  const auto nameless = TupleType::createNamed(std::nullopt, std::vector<std::string>{"x", "y"}, types);
  const auto plain = TupleType::create(types);
  CHECK(point->str() == "__torch__.Point");
  CHECK(point->annotation_str() == "__torch__.Point");
  CHECK(printed(*point) == "NamedTuple(x : int, y : float)");
  CHECK(toString(*point->schema()) == "Point(int x, float y) -> ()");
  CHECK(nameless->str() == "(int, float)");
  CHECK(point->names() == std::vector<std::string_view>{"x", "y"});
  CHECK_FALSE(plain->names());
  CHECK(*point != *plain);
  CHECK(*point != *nameless);
  CHECK(point->isSubtypeOf(*plain));
  CHECK_FALSE(plain->isSubtypeOf(*point));
  CHECK(nameless->isSubtypeOf(*point));
  const auto defaults = TupleType::createNamed(
      c10::QualifiedName("P"), std::vector<std::string>{"x", "y"}, types, std::vector<IValue>{3.5});
  CHECK(toString(*defaults->schema()) == "P(int x, float y=3.5) -> ()");
  CHECK_THROWS_WITH(
      TupleType::createNamed(std::nullopt, std::vector<std::string>{"x"}, types),
      Catch::Matchers::Contains("1 names and 2 types"));

  const IValue value(c10::ivalue::Tuple::createNamed({1, 2.5}, point));
  CHECK(printed(value) == "(1, 2.5)");
  CHECK(*value.type() == *point);
  CHECK(*value.deepcopy().type() == *point);
  CHECK(value == IValue(std::make_tuple(1, 2.5)));
  CHECK_THROWS_WITH(c10::ivalue::Tuple::createNamed({1}, point), Catch::Matchers::Contains("1 elements"));
  CHECK(printed(*c10::FutureType::create(c10::IntType::get())) == "Future[int]");
}

TEST_CASE("constants and kinds of a class's members", "[types]") {
  const auto type = c10::ClassType::create(c10::QualifiedName("__torch__.WithConstants"));
  CHECK(type->addConstant("a", 1) == 0);
  CHECK(type->addConstant("b", "two") == 1);
  CHECK(type->getConstantSlot("b") == 1);
  CHECK(type->getConstantName(1) == "b");
  CHECK(type->getConstant("a").toInt() == 1);
  CHECK(type->getConstant(1).toStringRef() == "two");
  CHECK(type->numConstants() == 2);
  CHECK_FALSE(type->findConstantSlot("c"));
  CHECK_THROWS_WITH(type->getConstant("c"), Catch::Matchers::Contains("'c'"));
  type->addAttribute("weight", c10::TensorType::get(), /*is_parameter=*/true);
  type->addAttribute("mean", c10::TensorType::get(), false, /*is_buffer=*/true);
  CHECK(type->is_parameter(0));
  CHECK_FALSE(type->is_buffer(0));
  CHECK(type->is_buffer(1));
}

TEST_CASE("enumerations", "[ivalue]") {
  const auto type = c10::EnumType::create("__torch__.Color", c10::IntType::get(), {{"RED", 1}, {"BLUE", 2}}, {});
  const IValue red(c10::make_intrusive<c10::ivalue::EnumHolder>(type, "RED", 1));
  CHECK(red.isEnum());
  CHECK(printed(red) == "Enum<Color.RED>");
  CHECK(red == IValue(c10::make_intrusive<c10::ivalue::EnumHolder>(type, "RED", 1)));
  CHECK(red.type()->isSubtypeOf(*c10::AnyEnumType::get()));
  CHECK(type->enumNamesValues().size() == 2);
}

TEST_CASE("IListRef sees boxed and unboxed lists alike", "[ivalue]") {
  const Tensor t = some_tensor();
  const std::vector<Tensor> unboxed{t, t};
  const c10::List<Tensor> boxed{t, t};
  for (const at::ITensorListRef list : {at::ITensorListRef(unboxed), at::ITensorListRef(boxed)}) {
    CHECK(list.size() == 2);
    int seen = 0;
    for (const Tensor& element : list) {
      seen += element.is_same(t);
    }
    CHECK(seen == 2);
    CHECK(list.front().is_same(t));
    CHECK(list.materialize()[1].get().is_same(t));
    CHECK(IValue(list).isTensorList());
  }
  CHECK(at::ITensorListRef(t).size() == 1);
  CHECK(at::ITensorListRef(boxed).isBoxed());
  const c10::List<std::optional<Tensor>> optionals{t, std::nullopt};
  const at::IOptTensorListRef list(optionals);
  int defined = 0;
  for (const auto& element : list) {
    defined += element.has_value();
  }
  CHECK(defined == 1);
  CHECK(IValue(list).isOptionalTensorList());
}

TEST_CASE("stack helpers", "[ivalue]") {
  torch::jit::Stack stack;
  torch::jit::push(stack, 1, 2.5, "x");
  CHECK(torch::jit::peek(stack, 0, 2).toDouble() == 2.5);
  CHECK(torch::jit::last(stack, 2).size() == 2);
  int64_t i = 0;
  double d = 0;
  std::string s;
  torch::jit::pop(stack, i, d, s);
  CHECK(stack.empty());
  CHECK(i == 1);
  CHECK(s == "x");
  torch::jit::push(stack, c10::TensorOptions().dtype(c10::kDouble));
  CHECK(stack.size() == 4);
  CHECK(stack[0].toScalarType() == c10::kDouble);
}

TEST_CASE("pointers to types of any two classes compare", "[ivalue]") {
  using namespace c10;
  const TypePtr text = StringType::get();
  CHECK_FALSE(StringType::get() == NoneType::get());
  CHECK(StringType::get() != NoneType::get());
  CHECK(StringType::get() == StringType::get());
  CHECK((StringType::get() == text && text == StringType::get()));
  CHECK((IntType::get() != text && text != IntType::get()));
  CHECK((ListType::ofInts() != TensorType::get() && OptionalType::ofTensor() != ListType::ofInts()));
  CHECK((StringType::get() != nullptr && nullptr != StringType::get()));
}

TEST_CASE("types know their subtypes", "[ivalue]") {
  using namespace c10;
  CHECK(IntType::get()->isSubtypeOf(*NumberType::get()));
  CHECK(IntType::get()->isSubtypeOf(*OptionalType::create(IntType::get())));
  CHECK(NoneType::get()->isSubtypeOf(*OptionalType::ofTensor()));
  CHECK_FALSE(OptionalType::ofTensor()->isSubtypeOf(*TensorType::get()));
  CHECK(ListType::ofInts()->isSubtypeOf(*AnyListType::get()));
  CHECK_FALSE(ListType::ofInts()->isSubtypeOf(*ListType::ofNumbers()));
  CHECK(TupleType::create({IntType::get()})->isSubtypeOf(*TupleType::create({NumberType::get()})));
  CHECK(*unifyTypes(IntType::get(), NoneType::get()).value() == *OptionalType::create(IntType::get()));
  CHECK_FALSE(unifyTypes(IntType::get(), StringType::get()).has_value());
  CHECK(getTypePtr<std::vector<std::optional<Tensor>>>()->str() == "Tensor?[]");
  CHECK(getTypePtr<std::unordered_map<std::string, std::vector<int64_t>>>()->str() == "Dict(str, int[])");
  CHECK(getTypePtr<std::tuple<int64_t, c10::SymInt>>()->str() == "(int, SymInt)");
  CHECK(getFakeTypePtr<c10::ScalarType>()->str() == "int");
  CHECK(getTypePtr<c10::ScalarType>()->str() == "ScalarType");
  CHECK(UnionType::create({IntType::get(), StringType::get()})->canHoldType(*IntType::get()));
  const TypePtr list = ListType::ofInts();
  CHECK(list->cast<ListType>() != nullptr);
  CHECK(list->cast<TupleType>() == nullptr);
  CHECK_THROWS_AS(list->expect<TupleType>(), c10::Error);
  CHECK(list->withContained({FloatType::get()})->str() == "float[]");
}

TEST_CASE("a weak reference tells how many refer to its value", "[ivalue]") {
  c10::List<int64_t> list;
  IValue value(list);
  const c10::WeakIValue weak(value);
  CHECK(weak.use_count() == 2);
  CHECK(weak.weak_use_count() == 2);
  value = IValue();
  list = c10::List<int64_t>();
  CHECK(weak.use_count() == 0);
  CHECK(weak.weak_use_count() == 1);
  const c10::WeakIValue another = weak;
  CHECK(weak.weak_use_count() == 2);
  IValue tensor(at::ones({2}));
  const c10::WeakIValue weak_tensor(tensor);
  tensor = IValue();
  CHECK(weak_tensor.use_count() == 0);
  CHECK(weak_tensor.weak_use_count() == 1);
  const c10::WeakIValue undefined{IValue(at::Tensor())}, number{IValue(3)};
  CHECK(undefined.use_count() == 0);
  CHECK(undefined.weak_use_count() == 0);
  CHECK(number.use_count() == 1);
  CHECK(number.weak_use_count() == 1);
}

TEST_CASE("containers that hold themselves are printed, compared, copied and searched", "[ivalue]") {
  const auto printed = [](const IValue& value) {
    std::ostringstream out;
    out << value;
    return out.str();
  };
  c10::List<IValue> list(c10::AnyType::get());
  list.push_back(1);
  list.push_back(IValue(list));
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert(IValue("self"), IValue(dict));
  c10::List<IValue> inside(c10::AnyType::get());
  const IValue tuple = c10::ivalue::Tuple::create({IValue(2), IValue(inside)});
  inside.push_back(tuple);
  CHECK(printed(list) == "[1, [...]]");
  CHECK(printed(dict) == "{self: {...}}");
  CHECK(printed(tuple) == "(2, [(...)])");
  CHECK(printed(list) == "[1, [...]]"); // nothing is left over

  const IValue copy = IValue(list).deepcopy();
  CHECK_FALSE(copy.is(list));
  CHECK(copy.toList().get(1).is(copy));
  const IValue copied_dict = IValue(dict).deepcopy();
  CHECK(copied_dict.toGenericDict().at(IValue("self")).is(copied_dict));
  const IValue copied_tuple = tuple.deepcopy();
  CHECK(copied_tuple.toTupleRef().elements()[1].toList().get(0).is(copied_tuple));

  CHECK(IValue(list).overlaps(list));
  CHECK_FALSE(IValue(list).overlaps(dict));
  size_t visited = 0;
  IValue(list).visit([&](const IValue&) { return ++visited > 100; });
  CHECK(visited == 3);

  CHECK(IValue(list) == IValue(list));
  CHECK_THROWS_WITH(IValue(list) == copy, Catch::Contains("contain themselves"));
  CHECK(IValue(c10::List<int64_t>({1, 2})) == IValue(c10::List<int64_t>({1, 2})));
  std::ostringstream out;
  CHECK_THROWS_WITH(
      IValue(list).repr(out, [](std::ostream&, const IValue&) { return false; }), Catch::Contains("contains itself"));
  // The cycles would live for ever.
  for (auto* held : {&list, &inside}) {
    held->clear();
  }
  dict.clear();
  copy.toList().clear();
  copied_dict.toGenericDict().clear();
  copied_tuple.toTupleRef().elements()[1].toList().clear();
}

TEST_CASE("a weak reference to a value does not keep it alive", "[ivalue]") {
  IValue tensor(at::ones({2}));
  const c10::WeakIValue weak(tensor);
  CHECK(weak.use_count() == 1);
  CHECK(weak.lock().toTensor().is_same(tensor.toTensor()));
  IValue text("text");
  c10::WeakIValue weak_text(text);
  const c10::WeakIValue another = weak_text;
  CHECK(another.isSameIdentity(weak_text));
  CHECK_FALSE(another.isSameIdentity(weak));
  CHECK(another.lock().toStringRef() == "text");
  tensor = text = IValue();
  CHECK(weak.lock().isNone());
  CHECK(another.lock().isNone());
  weak_text = weak;
  CHECK(weak_text.isSameIdentity(weak));

  const c10::WeakIValue number(IValue(2.5)); // not counted: a copy
  CHECK(number.lock().toDouble() == 2.5);
  CHECK(c10::WeakIValue().lock().isNone());
  CHECK_FALSE(c10::WeakIValue(IValue(Tensor())).lock().toTensor().defined());
}

TEST_CASE("elements of a tuple are made from a few values and replaced", "[ivalue]") {
  c10::ivalue::TupleElements elements(IValue(1), IValue(2));
  CHECK(elements.size() == 2);
  CHECK(elements[1].toInt() == 2);
  elements.setContents({IValue(3)});
  CHECK(elements.asArrayRef()[0].toInt() == 3);
  CHECK(c10::ivalue::TupleElements(IValue(1), IValue(2), IValue(3)).at(2).toInt() == 3);
}

TEST_CASE("containers that were moved from may still be used", "[ivalue]") {
  c10::Dict<std::string, int64_t> dict;
  dict.insert("one", 1);
  const c10::Dict<std::string, int64_t> taken(std::move(dict));
  CHECK(taken.at("one") == 1);
  CHECK(dict.size() == 1); // NOLINT(bugprone-use-after-move): both share the entries, as copies do
  c10::List<int64_t> list({1, 2});
  c10::List<int64_t> other;
  other = std::move(list);
  CHECK(other.size() == 2);
  list.push_back(3); // NOLINT(bugprone-use-after-move)
  CHECK(other.get(2) == 3);
}

TEST_CASE("values nested too deeply for the stack are refused, and released", "[ivalue]") {
  IValue deep(1);
  for (int level = 0; level < 300000; ++level) {
    if (level % 2 == 0) {
      deep = c10::ivalue::Tuple::create({deep});
    } else {
      c10::impl::GenericList list(c10::AnyType::get());
      list.push_back(deep);
      deep = list;
    }
  }
  CHECK_THROWS_WITH(deep.deepcopy(), Catch::Contains("nested too deeply"));
  CHECK_THROWS_WITH(printed(deep), Catch::Contains("nested too deeply"));
  const IValue shallow = c10::ivalue::Tuple::create({IValue(c10::ivalue::Tuple::create({IValue(1)}))});
  CHECK(shallow.deepcopy() == shallow);
}
