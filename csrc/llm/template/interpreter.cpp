#include <csrc/llm/template/interpreter.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::llm::jinja {

namespace {

/// Sets a value for the time of a block.
template <class T>
class Restored {
 public:
  Restored(T& place, T value) : place_(place), before_(std::exchange(place, std::move(value))) {}
  ~Restored() {
    place_ = std::move(before_);
  }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  T& place_;
  T before_;
};

/// The object `loop` of a for loop.
Value loop_object(const List& items, size_t index) {
  const auto number = [](size_t value) { return Value::integer(static_cast<int64_t>(value)); };
  const size_t count = items.size();
  Dict loop;
  const auto add = [&loop](const char* name, Value value) { loop.emplace_back(Value::string(name), std::move(value)); };
  add("index", number(index + 1));
  add("index0", number(index));
  add("revindex", number(count - index));
  add("revindex0", number(count - index - 1));
  add("first", Value::boolean(index == 0));
  add("last", Value::boolean(index + 1 == count));
  add("length", number(count));
  add("depth", number(1));
  add("depth0", number(0));
  const auto neighbour = [&](bool is_there, size_t at, const char* name) {
    const bool fits = is_there && !items[at].is_namespace();
    add(name, fits ? items[at] : Value::undefined(name));
  };
  neighbour(index > 0, index - 1, "previtem");
  neighbour(index + 1 < count, index + 1, "nextitem");
  add("cycle", Value::function("cycle", [index](Interpreter&, const Arguments& arguments) {
        TORCH_CHECK(!arguments.positional.empty(), "no items for cycling given");
        return arguments.positional[index % arguments.positional.size()];
      }));
  return Value::dict(std::move(loop));
}

} // namespace

const Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->outer.get()) {
    for (const auto& [key, value] : scope->names) {
      if (key == name) {
        return &value;
      }
    }
  }
  return nullptr;
}

void Scope::set(std::string_view name, Value value) {
  for (auto& [key, old] : names) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  names.emplace_back(std::string(name), std::move(value));
}

Interpreter::Interpreter(Dict variables, std::function<std::time_t()> clock, Limits limits)
    : scope_(std::make_shared<Scope>()), clock_(std::move(clock)), limits_(limits) {
  for (auto& [name, value] : global_functions()) {
    scope_->set(name.as_string(), std::move(value));
  }
  for (auto& [name, value] : variables) {
    scope_->set(name.as_string(), std::move(value));
  }
}

std::string Interpreter::render(const Block& block) {
  std::string out;
  run(block, out);
  return out;
}

void Interpreter::charge_steps(size_t count) {
  steps_ += static_cast<int64_t>(std::min<size_t>(count, INT32_MAX));
  TORCH_CHECK(
      steps_ <= limits_.steps, "the template takes more than ", limits_.steps, " steps; it may never come to an end");
}

Value Interpreter::text(std::string text) {
  bytes_ += static_cast<int64_t>(text.size());
  TORCH_CHECK(bytes_ <= limits_.bytes, "the template makes more than ", limits_.bytes, " bytes of text");
  return Value::string(std::move(text));
}

void Interpreter::append(std::string& out, std::string_view text) {
  bytes_ += static_cast<int64_t>(text.size());
  TORCH_CHECK(bytes_ <= limits_.bytes, "the template makes more than ", limits_.bytes, " bytes of text");
  out += text;
}

Interpreter::Flow Interpreter::run(const Block& block, std::string& out) {
  for (const auto& statement : block) {
    const Flow flow = run(*statement, out);
    if (flow != Flow::Next) {
      return flow;
    }
  }
  return Flow::Next;
}

Interpreter::Flow Interpreter::run(const Statement& statement, std::string& out) {
  charge_steps(1);
  const Restored depth(depth_, depth_ + 1);
  switch (statement.kind) {
    case Statement::Kind::Text:
      append(out, statement.text);
      return Flow::Next;
    case Statement::Kind::Print:
      append(out, evaluate(*statement.expressions[0]).to_text());
      return Flow::Next;
    case Statement::Kind::If:
      return run_if(statement, out);
    case Statement::Kind::For:
      run_for(statement, out);
      return Flow::Next;
    case Statement::Kind::Macro:
      define_macro(statement);
      return Flow::Next;
    case Statement::Kind::Scope:
      return run(statement.blocks[0], out);
    case Statement::Kind::Break:
      return Flow::Break;
    case Statement::Kind::Continue:
      return Flow::Continue;
    default:
      run_set(statement);
      return Flow::Next;
  }
}

Interpreter::Flow Interpreter::run_if(const Statement& statement, std::string& out) {
  for (size_t i = 0; i < statement.expressions.size(); ++i) {
    if (evaluate(*statement.expressions[i]).truth()) {
      return run(statement.blocks[i], out);
    }
  }
  return statement.blocks.size() > statement.expressions.size() ? run(statement.blocks.back(), out) : Flow::Next;
}

void Interpreter::assign(const std::vector<std::string>& targets, const Value& value) {
  if (targets.size() == 1) {
    scope_->set(targets[0], value);
    return;
  }
  const List items = iterate(value);
  TORCH_CHECK(items.size() == targets.size(), "cannot unpack ", items.size(), " values to ", targets.size(), " names");
  for (size_t i = 0; i < targets.size(); ++i) {
    scope_->set(targets[i], items[i]);
  }
}

List Interpreter::selected_items(const Statement& loop) {
  List items = iterate(evaluate(*loop.expressions[0]));
  charge_steps(items.size());
  if (!loop.expressions[1]) {
    return items;
  }
  List selected;
  for (Value& value : items) {
    const Restored scope(scope_, std::make_shared<Scope>(Scope{scope_, {}}));
    assign(loop.targets, value);
    if (evaluate(*loop.expressions[1]).truth()) {
      selected.push_back(std::move(value));
    }
  }
  return selected;
}

void Interpreter::run_for(const Statement& statement, std::string& out) {
  const List items = selected_items(statement);
  if (items.empty() && statement.blocks.size() > 1) {
    run(statement.blocks[1], out);
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const Restored scope(scope_, std::make_shared<Scope>(Scope{scope_, {}}));
    scope_->set("loop", loop_object(items, i));
    assign(statement.targets, items[i]);
    if (run(statement.blocks[0], out) == Flow::Break) {
      return;
    }
  }
}

void Interpreter::run_set(const Statement& statement) {
  if (statement.kind == Statement::Kind::SetBlock) {
    std::string out;
    {
      const Restored scope(scope_, std::make_shared<Scope>(Scope{scope_, {}}));
      run(statement.blocks[0], out);
    }
    Value value = text(std::move(out));
    if (!statement.expressions.empty()) {
      const Restored scope(scope_, std::make_shared<Scope>(Scope{scope_, {}}));
      scope_->set("", std::move(value));
      value = evaluate(*statement.expressions[0]);
    }
    assign(statement.targets, value);
    return;
  }
  Value value = evaluate(*statement.expressions[0]);
  if (statement.kind == Statement::Kind::Set) {
    assign(statement.targets, value);
    return;
  }
  const Value object = lookup(statement.text);
  TORCH_CHECK(object.is_namespace(), "cannot assign attribute on non-namespace object '", statement.text, "'");
  TORCH_CHECK(!value.is_namespace(), "a namespace cannot be an item of another value");
  for (auto& [name, old] : object.namespace_members()) {
    if (name.as_string() == statement.targets[0]) {
      old = std::move(value);
      return;
    }
  }
  object.namespace_members().emplace_back(Value::string(statement.targets[0]), std::move(value));
}

void Interpreter::define_macro(const Statement& statement) {
  // Weak: the scope holds the macro.
  const std::weak_ptr<Scope> scope = scope_;
  const Statement* const macro = &statement;
  scope_->set(
      statement.text, Value::function(statement.text, [scope, macro](Interpreter& self, const Arguments& arguments) {
        const std::shared_ptr<Scope> outer = scope.lock();
        TORCH_CHECK(outer, "the macro '", macro->text, "' is called after the block that defines it");
        return self.call_macro(*macro, outer, arguments);
      }));
}

Value Interpreter::call_macro(const Statement& macro, const std::shared_ptr<Scope>& scope, const Arguments& arguments) {
  const Restored calls(calls_, calls_ + 1);
  TORCH_CHECK(calls_ <= limits_.calls, "macros call each other deeper than ", limits_.calls);
  TORCH_CHECK(
      arguments.positional.size() <= macro.targets.size(), "macro '", macro.text, "' takes not more than ",
      macro.targets.size(), " argument(s)");
  const Restored inner(scope_, std::make_shared<Scope>(Scope{scope, {}}));
  for (const auto& [name, value] : arguments.named) {
    TORCH_CHECK(
        std::find(macro.targets.begin(), macro.targets.end(), name) != macro.targets.end(), "macro '", macro.text,
        "' takes no keyword argument '", name, "'");
  }
  for (size_t i = 0; i < macro.targets.size(); ++i) {
    const Value* const given = arguments.find(i, macro.targets[i]);
    scope_->set(
        macro.targets[i],
        given                      ? *given
            : macro.expressions[i] ? evaluate(*macro.expressions[i])
                                   : Value::undefined(macro.targets[i]));
  }
  std::string out;
  run(macro.blocks[0], out);
  return text(std::move(out));
}

Value Interpreter::call(const Value& function, const Arguments& arguments) {
  return function.callable().function(*this, arguments);
}

Value Interpreter::lookup(const std::string& name) const {
  const Value* const found = scope_->find(name);
  return found ? *found : Value::undefined(name);
}

Arguments Interpreter::arguments_of(const Expression& call, size_t first) {
  Arguments arguments;
  for (size_t i = first; i < call.parts.size(); ++i) {
    arguments.positional.push_back(evaluate(*call.parts[i]));
  }
  for (const auto& [name, value] : call.named) {
    arguments.named.emplace_back(name, evaluate(*value));
  }
  return arguments;
}

Value Interpreter::compare(const Expression& expression) {
  Value left = evaluate(*expression.parts[0]);
  for (size_t i = 0; i < expression.operators.size(); ++i) {
    Value right = evaluate(*expression.parts[i + 1]);
    const std::string& sign = expression.operators[i];
    const bool holds = sign == "==" ? equal(left, right)
        : sign == "!="              ? !equal(left, right)
        : sign == "<"               ? less(left, right)
        : sign == ">"               ? less(right, left)
        : sign == "<="              ? !less(right, left)
        : sign == ">="              ? !less(left, right)
        : sign == "in"              ? contains(*this, right, left)
                                    : !contains(*this, right, left);
    if (!holds) {
      return Value::boolean(false);
    }
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::evaluate(const Expression& expression) {
  charge_steps(1);
  const Restored depth(depth_, depth_ + 1);
  TORCH_CHECK(depth_ <= limits_.depth, "the template's expressions and blocks are nested deeper than ", limits_.depth);
  try {
    return evaluate_at(expression);
  } catch (c10::Error& error) {
    // The innermost place is enough.
    if (error.context().empty()) {
      error.add_context("in line " + std::to_string(expression.line) + " of the chat template");
    }
    throw;
  }
}

Value Interpreter::evaluate_at(const Expression& expression) {
  using Kind = Expression::Kind;
  const auto part = [&](size_t i) { return evaluate(*expression.parts[i]); };
  const auto optional_part = [&](size_t i) { return expression.parts[i] ? part(i) : Value::none(); };
  switch (expression.kind) {
    case Kind::Constant:
      return expression.value;
    case Kind::Name:
      return lookup(expression.text);
    case Kind::List:
      return Value::list(arguments_of(expression, 0).positional);
    case Kind::Tuple:
      return Value::tuple(arguments_of(expression, 0).positional);
    case Kind::Dict: {
      Dict members;
      for (size_t i = 0; i < expression.parts.size(); i += 2) {
        Value key = part(i);
        const auto old = std::find_if(
            members.begin(), members.end(), [&key](const auto& member) { return equal(member.first, key); });
        old == members.end() ? static_cast<void>(members.emplace_back(std::move(key), part(i + 1)))
                             : static_cast<void>(old->second = part(i + 1));
        charge_steps(members.size());
      }
      return Value::dict(std::move(members));
    }
    case Kind::Attribute:
      return attribute(part(0), expression.text);
    case Kind::Item:
      return item(part(0), part(1));
    case Kind::Slice:
      return slice(*this, part(0), optional_part(1), optional_part(2), optional_part(3));
    case Kind::Call:
      return call(part(0), arguments_of(expression, 1));
    case Kind::Filter: {
      // A block that is set has its text under no name.
      const Value value = expression.parts[0] ? part(0) : lookup("");
      return apply_filter(expression.text, value, arguments_of(expression, 1));
    }
    case Kind::Test:
      return Value::boolean(apply_test(expression.text, part(0), arguments_of(expression, 1)) != expression.is_negated);
    case Kind::Not:
      return Value::boolean(!part(0).truth());
    case Kind::Negative:
      return binary(*this, "-", Value::integer(0), part(0));
    case Kind::Positive:
      return binary(*this, "+", Value::integer(0), part(0));
    case Kind::And: {
      Value left = part(0);
      return left.truth() ? part(1) : left;
    }
    case Kind::Or: {
      Value left = part(0);
      return left.truth() ? left : part(1);
    }
    case Kind::Binary: {
      const Value left = part(0);
      return binary(*this, expression.text, left, part(1));
    }
    case Kind::Compare:
      return compare(expression);
    case Kind::Conditional:
      return part(1).truth() ? part(0) : expression.parts[2] ? part(2) : Value::undefined("the inline if-expression");
  }
  TORCH_INTERNAL_ASSERT(false, "an expression of no kind");
}

} // namespace torch::llm::jinja
