#include <csrc/jit/serialize/print_function.h>

#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/serialize/print_loops.h>

#include <algorithm>

namespace torch::jit {

namespace {

// Longer lines are cut in several.
constexpr size_t kLongLine = 40;
constexpr int kMaxNestedBlocks = 1000;

} // namespace

bool same_printed_type(const Type& a, const Type& b) {
  if (a.kind() == TypeKind::TensorType && b.kind() == TypeKind::TensorType) {
    return true;
  }
  if (a.kind() != b.kind() || a.containedTypes().size() != b.containedTypes().size() ||
      a.kind() == TypeKind::ClassType || a.kind() == TypeKind::UnionType || a.containedTypes().empty()) {
    return a == b;
  }
  for (size_t i = 0; i < a.containedTypes().size(); ++i) {
    if (!same_printed_type(*a.containedTypes()[i], *b.containedTypes()[i])) {
      return false;
    }
  }
  return a.kind() != TypeKind::TupleType ||
      (a.expectRef<TupleType>().schema() == nullptr) == (b.expectRef<TupleType>().schema() == nullptr);
}

TypePtr printed_type(const Value* value) {
  const bool none = is_constant_node(value->node()) && value->type()->kind() == TypeKind::OptionalType;
  return none ? TypePtr(NoneType::get()) : value->type();
}

// ---- signatures -----------------------------------------------------------------------------------------------------

RangedText FunctionPrinter::print(const Function& function) {
  const_cast<Function&>(function).ensure_defined();
  const FunctionSchema& schema = function.getSchema();
  const std::shared_ptr<Graph> graph = with_printable_loops(toGraphFunction(function).graph());
  context_.names.begin_function();
  const PlacedNodes placed(*graph->block());
  placed_ = &placed;
  indent();
  text_ << "def " << function.name() << "(";
  print_signature(schema, std::as_const(*graph).inputs());
  text_ << ":\n";
  ++level_;
  print_constants(graph->block());
  print_nodes(graph->block());
  print_return(graph->block());
  --level_;
  placed_ = nullptr;
  return std::move(text_);
}

std::string FunctionPrinter::parameter(const Argument& argument, const Value* value) {
  std::string text = names_[value] = context_.names.choose(argument.name());
  text += ": " + context_.annotation(argument.type());
  if (argument.default_value()) {
    text += "=" + context_.literal(*argument.default_value());
  }
  return text;
}

void FunctionPrinter::print_signature(const FunctionSchema& schema, at::ArrayRef<const Value*> inputs) {
  const std::vector<Argument>& arguments = schema.arguments();
  TORCH_CHECK(
      arguments.size() == inputs.size(), "function '", schema.name(), "' has ", arguments.size(),
      " parameters and its graph ", inputs.size(), " inputs: it cannot be printed");
  TORCH_CHECK(
      schema.returns().size() <= 1, "function '", schema.name(), "' has ", schema.returns().size(),
      " results: only one, which may be a tuple, can be printed");
  const char* separator = "";
  bool keywords_only = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kwarg_only() && !keywords_only) {
      keywords_only = true;
      text_ << separator << "*";
      separator = ",\n    ";
    }
    text_ << separator << parameter(arguments[i], inputs[i]);
    separator = ",\n    ";
  }
  text_ << ") -> " << (schema.returns().empty() ? "NoneType" : context_.annotation(schema.returns()[0].type()));
}

// ---- names and expressions of values --------------------------------------------------------------------------------

std::string FunctionPrinter::wished_name(const Value* value) const {
  return value->hasDebugName() ? value->debugNameBase() : "_";
}

const std::string& FunctionPrinter::name(const Value* value) {
  const auto known = names_.find(value);
  if (known != names_.end()) {
    return known->second;
  }
  return names_[value] = context_.names.choose(wished_name(value));
}

RangedText FunctionPrinter::use(const Value* value) {
  const auto named = names_.find(value);
  if (named != names_.end()) {
    RangedText text(value->node()->sourceRange());
    text << named->second;
    return text;
  }
  const auto found = expressions_.find(value);
  if (found == expressions_.end()) {
    // A constant of a graph inside.
    TORCH_CHECK(is_constant_node(value->node()), "a value is used before it is computed: %", value->debugName());
    return expression(value->node());
  }
  if (is_constant_node(value->node())) {
    return found->second;
  }
  RangedText text = std::move(found->second);
  expressions_.erase(found);
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), value));
  return text;
}

bool FunctionPrinter::is_long(const RangedText& expression) const {
  return expression.size() + 2 * level_ >= kLongLine;
}

// Gives names to expressions that wait, as far as to the last long one among the inputs: those before it are evaluated
// before it.
void FunctionPrinter::name_long_inputs(at::ArrayRef<const Value*> inputs) {
  size_t count = 0;
  for (const Value* input : inputs) {
    const auto found = expressions_.find(input);
    if (found != expressions_.end() && !is_constant_node(input->node()) && is_long(found->second)) {
      const size_t place = std::find(waiting_.begin(), waiting_.end(), input) - waiting_.begin();
      count = std::max(count, place + 1);
    }
  }
  name_waiting(count);
}

void FunctionPrinter::name_waiting(size_t count) {
  const std::vector<const Value*> values(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  for (const Value* value : values) {
    const RangedText expression = use(value);
    print_assignment({&value, 1}, expression);
  }
}

// Long constants have a name, all at the beginning.
void FunctionPrinter::print_constants(const Block* block) {
  TORCH_CHECK(++depth_ < kMaxNestedBlocks, "blocks nested more than ", kMaxNestedBlocks, " deep cannot be printed");
  for (const Node* node : block->nodes()) {
    if (is_constant_node(node) && node->output()->hasUses()) {
      const Value* value = node->output();
      RangedText text = expression(node);
      if (is_long(text)) {
        print_assignment({&value, 1}, text);
      } else {
        expressions_.emplace(value, std::move(text));
      }
    }
    for (const Block* inner : node->blocks()) {
      print_constants(inner);
    }
  }
  --depth_;
}

// ---- statements -----------------------------------------------------------------------------------------------------

void FunctionPrinter::indent() {
  text_ << std::string(2 * level_, ' ');
  ++statements_;
}

void FunctionPrinter::print_assignment(at::ArrayRef<const Value*> targets, const RangedText& expression, bool unpacks) {
  indent();
  const char* separator = "";
  for (const Value* target : targets) {
    text_ << separator << name(target);
    separator = ", ";
  }
  // A type that the reader cannot tell from the expression.
  if (targets.size() == 1 && targets[0]->node()->kind() == prim::ModuleContainerIndex) {
    text_ << " : " << context_.annotation(targets[0]->type());
  }
  if (!targets.empty()) {
    text_ << (unpacks ? ", = " : " = ");
  }
  text_ << expression << "\n";
}

void FunctionPrinter::assign(at::ArrayRef<const Value*> targets, at::ArrayRef<const Value*> values) {
  if (targets.empty()) {
    return;
  }
  RangedText expressions;
  const char* separator = "";
  for (const Value* value : values) {
    expressions << separator << use(value);
    separator = ", ";
  }
  print_assignment(targets, expressions);
}

void FunctionPrinter::print_nodes(const Block* block) {
  TORCH_CHECK(++depth_ < kMaxNestedBlocks, "blocks nested more than ", kMaxNestedBlocks, " deep cannot be printed");
  for (const Node* node : block->nodes()) {
    if (!is_constant_node(node)) {
      print_node(node);
    }
  }
  --depth_;
}

void FunctionPrinter::print_node(const Node* node) {
  name_long_inputs(node->inputs());
  text_.set_range(node->sourceRange());
  switch (node->kind()) {
    case prim::If:
      print_if(node);
      break;
    case prim::Loop:
      print_loop(node);
      break;
    case prim::Enter:
      print_enter(node);
      break;
    case prim::Exit:
      --level_;
      break;
    case prim::SetAttr:
      print_set_attribute(node);
      break;
    case prim::fork:
      print_closure(node, "fork");
      break;
    case prim::awaitable:
      print_closure(node, "awaitable");
      break;
    case prim::TupleUnpack:
    case prim::ListUnpack:
      if (!node->outputs().empty()) {
        print_assignment(node->outputs(), use(node->input()), true);
      }
      break;
    default:
      if (placed_->contains(node)) {
        RangedText text = expression(node);
        expressions_.emplace(node->output(), std::move(text));
        waiting_.push_back(node->output());
      } else {
        print_assignment(node->outputs(), expression(node));
      }
  }
  text_.set_range(SourceRange());
}

void FunctionPrinter::assign_branch(const Node* node, const Block* block, bool annotate) {
  const at::ArrayRef<const Value*> targets = node->outputs();
  const at::ArrayRef<const Value*> values = block->outputs();
  name_long_inputs(values);
  const auto differs = [&](size_t i) {
    return !same_printed_type(*targets[i]->type(), *printed_type(node->blocks()[0]->outputs()[i])) ||
        !same_printed_type(*targets[i]->type(), *printed_type(node->blocks()[1]->outputs()[i]));
  };
  bool any_differs = false;
  for (size_t i = 0; i < targets.size(); ++i) {
    any_differs = any_differs || differs(i);
  }
  if (!any_differs) {
    return assign(targets, values);
  }
  // An annotation needs an assignment of its own. The names are new, so that no value reads one of them.
  for (size_t i = 0; i < targets.size(); ++i) {
    const RangedText expression = use(values[i]);
    indent();
    text_ << name(targets[i]);
    if (annotate && differs(i)) {
      text_ << " : " << context_.annotation(targets[i]->type());
    }
    text_ << " = " << expression << "\n";
  }
}

void FunctionPrinter::print_if(const Node* node) {
  const RangedText condition = use(node->input());
  for (const Value* output : node->outputs()) {
    name(output);
  }
  indent();
  text_ << "if " << condition << ":\n";
  for (size_t i = 0; i < 2; ++i) {
    if (i == 1) {
      indent();
      text_ << "else:\n";
    }
    ++level_;
    const size_t before = statements_;
    print_nodes(node->blocks()[i]);
    assign_branch(node, node->blocks()[i], i == 0);
    if (statements_ == before) {
      indent();
      text_ << "pass\n";
    }
    --level_;
  }
}

namespace {

// Of a variable that holds one value at first, and what the trips of a loop give then.
TypePtr carried_type(const Value& variable, const Value& next) {
  return c10::unifyTypes(variable.type(), printed_type(&next)).value_or(variable.type());
}

} // namespace

void FunctionPrinter::print_loop(const Node* node) {
  const Block* body = node->blocks()[0];
  const at::ArrayRef<const Value*> initial = node->inputs().slice(2);
  const at::ArrayRef<const Value*> carried = body->inputs().slice(1);
  const at::ArrayRef<const Value*> next = body->outputs().slice(1);
  for (size_t i = 0; i < carried.size(); ++i) {
    const RangedText value = use(initial[i]);
    indent();
    text_ << name(carried[i]);
    const TypePtr type = carried_type(*carried[i], *next[i]);
    if (!same_printed_type(*type, *printed_type(initial[i]))) {
      text_ << ": " << context_.annotation(type);
    }
    text_ << " = " << value << "\n";
    names_[node->output(i)] = name(carried[i]);
  }
  std::vector<const Value*> targets, values;
  if (is_for_loop(node)) {
    const RangedText trips = use(node->input(0));
    indent();
    text_ << "for " << name(body->inputs()[0]) << " in range(" << trips << "):\n";
  } else {
    const RangedText condition = use(node->input(1));
    // The number of the trip, which nobody uses, stands for what decides about the next one.
    const std::string& go_on = name(body->inputs()[0]);
    indent();
    text_ << go_on << " = " << condition << "\n";
    indent();
    text_ << "while " << go_on << ":\n";
    targets.push_back(body->inputs()[0]);
    values.push_back(body->outputs()[0]);
  }
  targets.insert(targets.end(), carried.begin(), carried.end());
  values.insert(values.end(), next.begin(), next.end());
  ++level_;
  const size_t before = statements_;
  print_nodes(body);
  name_long_inputs(values);
  assign(targets, values);
  if (statements_ == before) {
    indent();
    text_ << "pass\n";
  }
  --level_;
}

void FunctionPrinter::print_enter(const Node* node) {
  const RangedText context = use(node->input());
  indent();
  text_ << "with " << context;
  if (node->output()->hasUses()) {
    text_ << " as " << name(node->output());
  }
  text_ << ":\n";
  ++level_;
  const Node* next = node->next();
  while (is_constant_node(next)) {
    next = next->next();
  }
  if (next->kind() == prim::Exit) {
    indent();
    text_ << "pass\n";
  }
}

void FunctionPrinter::print_set_attribute(const Node* node) {
  const std::string& field = node->s(attr::name);
  TORCH_CHECK(
      is_identifier(field) || !context_.enforce_importable, "an assignment to attribute '", field,
      "' cannot be saved: its name is no identifier");
  RangedText object = operand(node->input(0));
  const RangedText value = use(node->input(1));
  indent();
  text_ << object << "." << field << " = " << value << "\n";
}

// A function inside of the function, which uses the names around it.
void FunctionPrinter::print_closure(const Node* node, std::string_view form) {
  const std::shared_ptr<Graph> graph = with_printable_loops(node->g(attr::Subgraph));
  const std::string closure =
      context_.names.choose("__" + std::string(form) + (form == "fork" ? "ed" : "") + "_function");
  const at::ArrayRef<const Value*> parameters = std::as_const(*graph).inputs();
  for (size_t i = 0; i < parameters.size(); ++i) {
    names_[parameters[i]] = use(node->input(i)).text();
  }
  indent();
  text_ << "def " << closure << "():\n";
  const PlacedNodes placed(*graph->block());
  const PlacedNodes* const outer = placed_;
  placed_ = &placed;
  ++level_;
  print_nodes(graph->block());
  print_return(graph->block());
  --level_;
  placed_ = outer;
  RangedText call(node->sourceRange());
  call << form << "(" << closure << ")";
  print_assignment(node->outputs(), call);
}

void FunctionPrinter::print_return(const Block* block) {
  name_long_inputs(block->outputs());
  RangedText values(block->return_node()->sourceRange());
  const char* separator = "";
  for (const Value* value : block->outputs()) {
    values << separator << use(value);
    separator = ", ";
  }
  indent();
  text_ << "return" << (block->outputs().empty() ? "" : " ") << values << "\n";
}

} // namespace torch::jit
