// Runs templates.
#pragma once

#include <csrc/llm/template/ast.h>
#include <csrc/llm/template/value.h>

#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torch::llm::jinja {

/// Names and their values, and the scope around.
struct Scope {
  std::shared_ptr<Scope> outer;
  std::vector<std::pair<std::string, Value>> names;

  const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

/// What one rendering may take. Each is far above what templates of models need.
struct Limits {
  int64_t steps = 5'000'000; ///< evaluations, and elements that filters look at
  int64_t bytes = 256 << 20; ///< of all texts that are made on the way
  int calls = 60; ///< macros inside each other
  int depth = 800; ///< of statements and expressions that wait for inner ones
};

/// One rendering of a template.
class Interpreter {
 public:
  Interpreter(Dict variables, std::function<std::time_t()> clock, Limits limits = {});

  std::string render(const Block& block);

  Value evaluate(const Expression& expression);
  Value call(const Value& function, const Arguments& arguments);
  Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments);
  bool apply_test(std::string_view name, const Value& value, const Arguments& arguments);

  /// Counts work, or bytes of a text that is made; throws c10::Error beyond the limit.
  void charge_steps(size_t count);
  /// The text as a value, its bytes counted.
  Value text(std::string text);
  std::time_t now() const {
    return clock_();
  }

 private:
  enum class Flow { Next, Break, Continue };

  Flow run(const Block& block, std::string& out);
  Flow run(const Statement& statement, std::string& out);
  Flow run_if(const Statement& statement, std::string& out);
  void run_for(const Statement& statement, std::string& out);
  void run_set(const Statement& statement);
  void define_macro(const Statement& statement);
  Value call_macro(const Statement& macro, const std::shared_ptr<Scope>& scope, const Arguments& arguments);
  void append(std::string& out, std::string_view text);
  void assign(const std::vector<std::string>& targets, const Value& value);
  List selected_items(const Statement& loop);

  Arguments arguments_of(const Expression& call, size_t first);
  Value compare(const Expression& expression);
  Value lookup(const std::string& name) const;
  Value evaluate_at(const Expression& expression);

  std::shared_ptr<Scope> scope_;
  std::function<std::time_t()> clock_;
  Limits limits_;
  int64_t steps_ = 0;
  int64_t bytes_ = 0;
  int calls_ = 0;
  int depth_ = 0;
};

// What the interpreter is made of; each throws c10::Error for operands that do not fit.

/// + - * / // % ** ~
Value binary(Interpreter& interpreter, std::string_view sign, const Value& a, const Value& b);
/// value.name: a method, else an item.
Value attribute(const Value& value, const std::string& name);
/// value[key]: an item, else a method.
Value item(const Value& value, const Value& key);
/// value[start:stop:step]; missing ones are none.
Value slice(Interpreter& interpreter, const Value& value, const Value& start, const Value& stop, const Value& step);
bool contains(Interpreter& interpreter, const Value& container, const Value& value);
/// A method of a string, list or dict; undefined when it has none of that name.
Value method(const Value& value, const std::string& name);
/// range, dict, namespace, raise_exception, strftime_now.
Dict global_functions();
/// text % values of Python.
std::string format_percent(const std::string& format, const Value& values);
/// strip, lstrip, rstrip of Python: of spaces when `characters` is null.
std::string strip(const std::string& text, const Value* characters, bool left, bool right);
std::string upper(const std::string& text);
std::string lower(const std::string& text);
std::string title(const std::string& text);
std::string capitalize(const std::string& text);
/// Replaces `before` at most `count` times, all when count < 0.
std::string replace(
    Interpreter& interpreter,
    const std::string& text,
    const std::string& before,
    const std::string& after,
    int64_t count);

} // namespace torch::llm::jinja
