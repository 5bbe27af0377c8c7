// Tests and global functions of templates.
#include <csrc/llm/template/interpreter.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::llm::jinja {

namespace {

using Test = bool (*)(Interpreter&, const Value&, const Arguments&);

struct NamedTest {
  std::string_view name;
  Test test;
};

constexpr int64_t kMaxRange = 1'000'000;

double remainder_of(Interpreter& interpreter, const Value& value, int64_t divisor) {
  return binary(interpreter, "%", value, Value::integer(divisor)).as_double();
}

const Value& other(const Arguments& arguments) {
  return arguments.at(0, "other");
}

bool has_case(Interpreter& interpreter, const Value& value, const char* which) {
  return interpreter.call(method(Value::string(value.to_text()), which), {}).truth();
}

constexpr NamedTest kTests[] = {
    {"boolean", [](Interpreter&, const Value& v, const Arguments&) { return v.is_bool(); }},
    {"callable", [](Interpreter&, const Value& v, const Arguments&) { return v.is_callable(); }},
    {"defined", [](Interpreter&, const Value& v, const Arguments&) { return !v.is_undefined(); }},
    {"undefined", [](Interpreter&, const Value& v, const Arguments&) { return v.is_undefined(); }},
    {"divisibleby",
     [](Interpreter& i, const Value& v, const Arguments& a) {
       return remainder_of(i, v, a.at(0, "num").as_int()) == 0;
     }},
    {"even", [](Interpreter& i, const Value& v, const Arguments&) { return remainder_of(i, v, 2) == 0; }},
    {"odd", [](Interpreter& i, const Value& v, const Arguments&) { return remainder_of(i, v, 2) == 1; }},
    {"eq", [](Interpreter&, const Value& v, const Arguments& a) { return equal(v, other(a)); }},
    {"equalto", [](Interpreter&, const Value& v, const Arguments& a) { return equal(v, other(a)); }},
    {"==", [](Interpreter&, const Value& v, const Arguments& a) { return equal(v, other(a)); }},
    {"ne", [](Interpreter&, const Value& v, const Arguments& a) { return !equal(v, other(a)); }},
    {"!=", [](Interpreter&, const Value& v, const Arguments& a) { return !equal(v, other(a)); }},
    {"lt", [](Interpreter&, const Value& v, const Arguments& a) { return less(v, other(a)); }},
    {"lessthan", [](Interpreter&, const Value& v, const Arguments& a) { return less(v, other(a)); }},
    {"le", [](Interpreter&, const Value& v, const Arguments& a) { return !less(other(a), v); }},
    {"gt", [](Interpreter&, const Value& v, const Arguments& a) { return less(other(a), v); }},
    {"greaterthan", [](Interpreter&, const Value& v, const Arguments& a) { return less(other(a), v); }},
    {"ge", [](Interpreter&, const Value& v, const Arguments& a) { return !less(v, other(a)); }},
    {"false", [](Interpreter&, const Value& v, const Arguments&) { return v.is_bool() && !v.truth(); }},
    {"true", [](Interpreter&, const Value& v, const Arguments&) { return v.is_bool() && v.truth(); }},
    {"float", [](Interpreter&, const Value& v, const Arguments&) { return v.is_float(); }},
    {"integer", [](Interpreter&, const Value& v, const Arguments&) { return v.is_int(); }},
    {"number", [](Interpreter&, const Value& v, const Arguments&) { return v.is_number(); }},
    {"in", [](Interpreter& i, const Value& v, const Arguments& a) { return contains(i, other(a), v); }},
    {"iterable",
     [](Interpreter&, const Value& v, const Arguments&) {
       return v.is_list() || v.is_dict() || v.is_string() || v.is_undefined();
     }},
    {"sequence",
     [](Interpreter&, const Value& v, const Arguments&) {
       return v.is_list() || v.is_dict() || v.is_string() || v.is_undefined();
     }},
    {"mapping", [](Interpreter&, const Value& v, const Arguments&) { return v.is_dict(); }},
    {"none", [](Interpreter&, const Value& v, const Arguments&) { return v.is_none(); }},
    {"string", [](Interpreter&, const Value& v, const Arguments&) { return v.is_string(); }},
    {"sameas",
     [](Interpreter&, const Value& v, const Arguments& a) {
       return std::string_view(v.type_name()) == other(a).type_name() && equal(v, other(a));
     }},
    {"lower", [](Interpreter& i, const Value& v, const Arguments&) { return has_case(i, v, "islower"); }},
    {"upper", [](Interpreter& i, const Value& v, const Arguments&) { return has_case(i, v, "isupper"); }}};

Value make_range(Interpreter& interpreter, const Arguments& arguments) {
  arguments.check_count("range", 1, 3);
  const List& given = arguments.positional;
  const int64_t start = given.size() > 1 ? given[0].as_int() : 0, stop = given.at(given.size() > 1 ? 1 : 0).as_int();
  const int64_t step = given.size() > 2 ? given[2].as_int() : 1;
  TORCH_CHECK(step != 0, "range() arg 3 must not be zero");
  List items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    TORCH_CHECK(
        static_cast<int64_t>(items.size()) < kMaxRange, "Range too big. The maximum is ", kMaxRange, " elements");
    items.push_back(Value::integer(i));
    if (__builtin_add_overflow(i, step, &i)) {
      break;
    }
  }
  interpreter.charge_steps(items.size());
  return Value::list(std::move(items));
}

Dict named_members(const Arguments& arguments) {
  Dict members;
  for (const Value& base : arguments.positional) {
    members.insert(members.end(), base.members().begin(), base.members().end());
  }
  for (const auto& [name, value] : arguments.named) {
    const auto old = std::find_if(members.begin(), members.end(), [&name = name](const auto& member) {
      return member.first.is_string() && member.first.as_string() == name;
    });
    old == members.end() ? static_cast<void>(members.emplace_back(Value::string(name), value))
                         : static_cast<void>(old->second = value);
  }
  return members;
}

Value raise_exception(Interpreter&, const Arguments& arguments) {
  const std::string message = arguments.at(0, "message").to_text();
  TORCH_CHECK_VALUE(false, "chat template: ", message);
}

Value strftime_now(Interpreter& interpreter, const Arguments& arguments) {
  const std::string& format = arguments.at(0, "format").as_string();
  TORCH_CHECK(
      format.size() <= 256, "strftime_now: the format has ", format.size(), " bytes; at most 256 are supported");
  const std::time_t now = interpreter.now();
  std::tm fields{};
  ::localtime_r(&now, &fields);
  char buffer[4096];
  const size_t written = format.empty() ? 0 : std::strftime(buffer, sizeof buffer, format.c_str(), &fields);
  return interpreter.text(std::string(buffer, written));
}

} // namespace

bool Interpreter::apply_test(std::string_view name, const Value& value, const Arguments& arguments) {
  const auto found =
      std::find_if(std::begin(kTests), std::end(kTests), [name](const NamedTest& entry) { return entry.name == name; });
  TORCH_CHECK(found != std::end(kTests), "No test named '", name, "'");
  return found->test(*this, value, arguments);
}

Dict global_functions() {
  Dict functions;
  const auto add = [&functions](const char* name, Function function) {
    functions.emplace_back(Value::string(name), Value::function(name, std::move(function)));
  };
  add("range", make_range);
  add("dict", [](Interpreter&, const Arguments& arguments) { return Value::dict(named_members(arguments)); });
  add("namespace",
      [](Interpreter&, const Arguments& arguments) { return Value::make_namespace(named_members(arguments)); });
  add("raise_exception", raise_exception);
  add("strftime_now", strftime_now);
  return functions;
}

} // namespace torch::llm::jinja
