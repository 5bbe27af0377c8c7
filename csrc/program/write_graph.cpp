#include <csrc/program/write_graph.h>

#include <csrc/fx/interpreter.h>
#include <csrc/program/lower_graph.h>
#include <csrc/program/schema_numbers.h>
#include <csrc/program/size_text.h>
#include <csrc/program/write_argument.h>
#include <csrc/program/write_number.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::program {

namespace {

using c10::IValue;
using fx::Arg;
using fx::Dim;
using fx::NodeKind;
using fx::TensorInfo;

Json named(const char* kind, const std::string& name) {
  return json_object({{kind, json_object({{"name", Json(name)}})}});
}

Json number_argument(char kind, const std::string& name) {
  const char* const member = kind == 'i' ? "as_sym_int" : kind == 'f' ? "as_sym_float" : "as_sym_bool";
  return json_object({{member, json_object({{"as_name", Json(name)}})}});
}

bool is_tensor_type(const c10::Type* type) {
  const c10::Type* const inner = without_optional(type);
  return inner && inner->kind() == c10::TypeKind::TensorType;
}

bool is_tensor_list(const c10::Type* type) {
  return is_tensor_type(element_of(type));
}

/// The name that Python has for a function.
std::string python_name(const std::string& function) {
  static const std::map<std::string, std::string> others = {
      {"trunc", "math.trunc"},
      {"round", "builtins.round"},
      {"cond", "torch.ops.higher_order.cond"},
      {"while_loop", "torch.ops.higher_order.while_loop"},
      {"map", "torch.ops.higher_order.map_impl"},
      {"scan", "torch.ops.higher_order.scan"},
      {"associative_scan", "torch.ops.higher_order.associative_scan"},
      {"wrap_with_set_grad_enabled", "torch.ops.higher_order.wrap_with_set_grad_enabled"},
      {"wrap_with_autocast", "torch.ops.higher_order.wrap_with_autocast"},
      {"wrap", "torch.ops.higher_order.wrap"},
      {"wrap_list", "torch.ops.higher_order.strict_mode"},
      {"invoke_subgraph", "torch.ops.higher_order.invoke_subgraph"},
      {"call_torchbind", "torch.ops.higher_order.call_torchbind"},
  };
  const auto found = others.find(function);
  if (found != others.end()) {
    return found->second;
  }
  for (const char* const name : {"sym_sqrt", "sym_sin", "sym_cos", "sym_exp", "sym_log", "sym_log2"}) {
    if (function == name) {
      return "torch._" + function;
    }
  }
  return (function.compare(0, 4, "sym_") == 0 ? "torch." : "_operator.") + function;
}

} // namespace

Json tensor_meta(const TensorInfo& info, bool requires_grad, fx::SizeTable& table, const SizeHints& hints) {
  std::vector<Dim> strides = info.strides;
  if (strides.size() != info.sizes.size()) {
    strides.assign(info.sizes.size(), 1);
    for (size_t i = strides.size(); i-- > 1;) {
      strides[i - 1] = table.make(fx::SizeOp::Mul, strides[i], info.sizes[i]);
    }
  }
  const auto list = [&](const std::vector<Dim>& dims) {
    Json::Array items;
    for (const Dim dim : dims) {
      items.push_back(size_json(dim, table, hints));
    }
    return Json(std::move(items));
  };
  return json_object(
      {{"dtype", Json(number_of(info.dtype))},
       {"sizes", list(info.sizes)},
       {"requires_grad", Json(requires_grad)},
       {"device", device_json(info.device)},
       {"strides", list(strides)},
       {"storage_offset", json_object({{"as_int", Json(int64_t(0))}})},
       {"layout", Json(number_of(info.layout))}});
}

Json object_json(const std::string& name, const std::string& class_name) {
  return json_object({{"name", Json(name)}, {"class_fqn", Json(class_name)}});
}

GraphWriter::GraphWriter(fx::Graph& graph, const SizeHints& hints) : graph_(graph), hints_(hints) {
  for (const fx::Node* node : graph.nodes()) {
    taken_.insert(node->name());
  }
}

std::string GraphWriter::fresh_name(const std::string& wanted) {
  std::string name = wanted;
  for (int i = 1; !taken_.insert(name).second; ++i) {
    name = wanted + "_" + std::to_string(i);
  }
  return name;
}

void GraphWriter::set_name(fx::Value value, const std::string& name) {
  names_[{value.node, value.result}] = name;
}

void GraphWriter::set_object(fx::Value value, const std::string& class_name) {
  given_meta_.insert(name_of(value));
  objects_[{value.node, value.result}] = class_name;
}

void GraphWriter::set_meta(fx::Value value, Json meta) {
  const std::string& name = name_of(value);
  if (given_meta_.insert(name).second) {
    tensor_values_.emplace_back(name, std::move(meta));
  }
}

const std::string& GraphWriter::name_of(fx::Value value) const {
  const auto found = names_.find({value.node, value.result});
  TORCH_CHECK(
      found != names_.end(), "%", value.node->name(), " (", value.node->target(),
      ") is used in a way that programs do not have");
  return found->second;
}

// --- names of results, and what is known of them

void GraphWriter::name_results(const fx::Node& node) {
  if (node.is_function("unpack") || node.is_function("getitem")) {
    return; // named with the list
  }
  for (uint32_t i = 0; i < node.num_results(); ++i) {
    if (node.is_operator() && is_tensor_list(node.schema().returns()[i].type().get())) {
      name_list(node, i);
    } else if (names_.count({&node, i}) == 0) {
      names_[{&node, i}] =
          node.num_results() == 1 ? node.name() : fresh_name(node.name() + "_result_" + std::to_string(i));
    }
  }
}

/// A list has no name, its elements have: they are known by the nodes that take it apart.
void GraphWriter::name_list(const fx::Node& node, uint32_t result) {
  size_t count = 0;
  const auto takes = [&](const fx::Node* user, const char* function) {
    return user->is_function(function) && user->arg(size_t(0)).is_value() &&
        user->arg(size_t(0)).value() == fx::Value{const_cast<fx::Node*>(&node), result};
  };
  bool is_unpacked = false;
  for (const fx::Node* user : node.users()) {
    if (takes(user, "unpack")) {
      count = user->num_results();
      is_unpacked = true;
    } else if (takes(user, "getitem") && !is_unpacked && user->arg(1).is_constant()) {
      count = std::max(count, static_cast<size_t>(std::max<int64_t>(user->arg(1).constant().toInt(), -1) + 1));
    }
  }
  std::vector<std::string>& names = lists_[{&node, result}];
  for (size_t i = 0; i < count; ++i) {
    names.push_back(fresh_name(node.name() + "_item_" + std::to_string(i)));
  }
  for (fx::Node* user : node.users()) {
    if (takes(user, "unpack")) {
      for (uint32_t i = 0; i < user->num_results(); ++i) {
        names_[{user, i}] = names.at(i);
      }
    } else if (takes(user, "getitem") && user->arg(1).is_constant()) {
      const int64_t index = user->arg(1).constant().toInt();
      const auto place = static_cast<size_t>(index < 0 ? index + static_cast<int64_t>(count) : index);
      TORCH_CHECK(place < count, "%", user->name(), " takes an element that the list may not have");
      names_[{user, 0}] = names[place];
    }
  }
}

void GraphWriter::describe(const fx::Node& node) {
  for (uint32_t i = 0; i < node.num_results(); ++i) {
    if (names_.count({&node, i}) == 0) {
      continue; // a list
    }
    const bool is_number = node.is_operator()
        ? !is_tensor_type(node.schema().returns()[i].type().get())
        : node.kind() == NodeKind::CallFunction && is_number_function(node.function().name);
    if (is_number) {
      describe_number(node, i);
    } else {
      describe_tensor(node, i);
    }
  }
}

void GraphWriter::describe_tensor(const fx::Node& node, uint32_t result) {
  const std::string& name = names_.at({&node, result});
  if (!given_meta_.insert(name).second) {
    return; // an element of a list that is taken twice
  }
  const TensorInfo* info = node.info(result);
  TensorInfo unknown;
  unknown.sizes = {0};
  unknown.strides = {1};
  if (!info) {
    const bool is_unused = node.num_results() > 1;
    TORCH_CHECK(
        is_unused, "nothing is known of %", node.name(), " (", node.target(),
        "): call torch::fx::propagate_shapes() before the program is saved");
    info = &unknown;
  }
  tensor_values_.emplace_back(name, tensor_meta(*info, false, graph_.sizes(), hints_));
}

void GraphWriter::describe_number(const fx::Node& node, uint32_t result) {
  Number number = node.is_operator() ? number_of_operator(node) : number_of_function(node);
  const std::string& name = names_.at({&node, result});
  Json::Object& values = number.kind == 'i' ? int_values_ : number.kind == 'f' ? float_values_ : bool_values_;
  Json hint;
  if (number.hint) {
    hint = number.kind == 'i' ? json_object({{"as_int", Json(number.hint->toInt())}})
        : number.kind == 'f'  ? json_object({{"as_float", Json(number.hint->toDouble())}})
                              : json_object({{"as_bool", Json(number.hint->toBool())}});
  }
  values.emplace_back(
      name, json_object({{"as_expr", json_object({{"expr_str", Json(number.text)}, {"hint", std::move(hint)}})}}));
  numbers_[{&node, result}] = std::move(number);
}

GraphWriter::Number GraphWriter::number_of_size(Dim dim) const {
  Number number{'i', print_size(dim, graph_.sizes()), std::nullopt, dim};
  if (const auto hint = hint_of(dim, graph_.sizes(), hints_)) {
    number.hint = IValue(*hint);
  }
  return number;
}

GraphWriter::Number GraphWriter::number_of_operator(const fx::Node& node) {
  const Arg& self = node.arg(size_t(0));
  const TensorInfo* const info = self.is_value() ? self.value().node->info(self.value().result) : nullptr;
  if (info && node.is_operator("aten::sym_numel")) {
    Dim numel = 1;
    for (const Dim size : info->sizes) {
      numel = graph_.sizes().make(fx::SizeOp::Mul, numel, size);
    }
    return number_of_size(numel);
  }
  const bool is_size = node.is_operator("aten::sym_size.int");
  if (info && (is_size || node.is_operator("aten::sym_stride.int")) && node.arg(1).is_constant()) {
    const std::vector<Dim>& dims = is_size ? info->sizes : info->strides;
    const int64_t dim = node.arg(1).constant().toInt();
    const auto place = static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(info->sizes.size()) : dim);
    if (place < dims.size()) {
      return number_of_size(dims[place]);
    }
  }
  TORCH_CHECK(
      node.schema().returns().size() == 1 &&
          (node.is_operator("aten::item") || node.is_operator("aten::_local_scalar_dense")),
      "the number that ", node.target(), " gives cannot be saved in a program");
  const bool is_float = info && c10::isFloatingType(info->dtype);
  const std::string name = (is_float ? "zuf" : "u") + std::to_string(next_unbacked_++);
  return {is_float ? 'f' : 'i', "Symbol('" + name + (is_float ? "')" : "', integer=True)"), std::nullopt, std::nullopt};
}

GraphWriter::Number GraphWriter::number_of(const Arg& arg) const {
  if (arg.is_value()) {
    const auto found = numbers_.find({arg.value().node, arg.value().result});
    TORCH_CHECK(found != numbers_.end(), "%", arg.value().node->name(), " is no number that a program can hold");
    return found->second;
  }
  TORCH_CHECK(arg.is_constant() && arg.constant().isScalar(), "a number of a program is none");
  const IValue& value = arg.constant();
  return {
      value.isDouble()     ? 'f'
          : value.isBool() ? 'b'
                           : 'i',
      number_text(value), value, value.isInt() ? std::optional<Dim>(value.toInt()) : std::nullopt};
}

GraphWriter::Number GraphWriter::number_of_function(const fx::Node& node) {
  std::vector<NumberText> operands;
  std::vector<fx::Operand> hints;
  for (const Arg& arg : node.args()) {
    const Number number = number_of(arg);
    operands.push_back({number.kind, number.text});
    if (number.hint) {
      hints.push_back({*number.hint, nullptr});
    }
  }
  const NumberText text = apply_to_texts(node.function().name, operands);
  Number made{text.kind, text.text, std::nullopt, std::nullopt};
  if (hints.size() == operands.size()) {
    struct NoGraphs : fx::GraphRunner {
      std::vector<IValue> run_graph(const fx::Graph&, std::vector<IValue>) override {
        TORCH_CHECK(false, "a function on numbers runs no graph");
      }
    } runner;
    made.hint = node.function().run(runner, hints).at(0);
  }
  return made;
}

// --- arguments

Json GraphWriter::value(fx::Value value) const {
  const auto list = lists_.find({value.node, value.result});
  if (list != lists_.end()) {
    Json::Array items;
    for (const std::string& name : list->second) {
      items.push_back(json_object({{"name", Json(name)}}));
    }
    TORCH_CHECK(!items.empty(), "the list %", value.node->name(), " is passed on: how long it is cannot be told");
    return json_object({{"as_tensors", Json(std::move(items))}});
  }
  const auto object = objects_.find({value.node, value.result});
  if (object != objects_.end()) {
    return json_object({{"as_custom_obj", object_json(name_of(value), object->second)}});
  }
  const auto number = numbers_.find({value.node, value.result});
  return number != numbers_.end() ? number_argument(number->second.kind, name_of(value))
                                  : named("as_tensor", name_of(value));
}

Json GraphWriter::list(const std::vector<Arg>& items, const c10::Type* element) const {
  const bool is_optional = element && element->kind() == c10::TypeKind::OptionalType;
  Json::Array made;
  char kind = 't';
  bool has_none = false;
  for (const Arg& item : items) {
    has_none = has_none || item.is_none();
    if (item.is_value() && numbers_.count({item.value().node, item.value().result}) != 0) {
      const char own = numbers_.at({item.value().node, item.value().result}).kind;
      kind = own == 'f' || kind == 'f' ? 'f' : own;
    } else if (item.is_constant() && item.constant().isScalar()) {
      kind = item.constant().isDouble() || kind == 'f' ? 'f' : item.constant().isBool() ? 'b' : 'i';
    }
  }
  for (const Arg& item : items) {
    if (kind != 't') {
      const char* const plain = kind == 'i' ? "as_int" : kind == 'f' ? "as_float" : "as_bool";
      made.push_back(
          item.is_value() ? json_object({{"as_name", Json(name_of(item.value()))}})
              : kind == 'f' && item.constant().isInt()
              ? json_object({{plain, Json(static_cast<double>(item.constant().toInt()))}})
              : json_object({{plain, argument(item).only().second}}));
    } else if (is_optional || has_none) {
      made.push_back(item.is_none() ? json_object({{"as_none", Json(true)}}) : value(item.value()));
    } else {
      TORCH_CHECK(item.is_value(), "a list among the arguments cannot be saved in a program");
      made.push_back(value(item.value()).only().second);
    }
  }
  const char* const member = kind == 'i' ? "as_sym_ints"
      : kind == 'f'                      ? "as_sym_floats"
      : kind == 'b'                      ? "as_sym_bools"
      : is_optional || has_none          ? "as_optional_tensors"
                                         : "as_tensors";
  return json_object({{member, Json(std::move(made))}});
}

Json GraphWriter::argument(const Arg& arg, const c10::Type* type) const {
  switch (arg.kind()) {
    case Arg::Kind::Constant:
      return constant_argument(arg.constant(), type);
    case Arg::Kind::Value:
      return value(arg.value());
    case Arg::Kind::Graph:
      TORCH_CHECK(false, "a graph among the elements of a list cannot be saved");
    case Arg::Kind::List:
      return list(arg.list(), element_of(type));
    default:
      TORCH_CHECK(false, "a size is no node: lower_sizes() makes it one");
  }
}

Json GraphWriter::inner_graph(const fx::Graph& graph, const std::string& name, bool is_single) const {
  const auto copy = graph.copy();
  lower_grad_modes(*copy);
  GraphWriter writer(*copy, hints_);
  Json::Array inputs;
  for (fx::Node* const input : copy->placeholders()) {
    writer.set_name({input, 0}, input->name());
    inputs.push_back(named("as_tensor", input->name()));
  }
  return json_object(
      {{"as_graph",
        json_object(
            {{"name", Json(name)},
             {"graph", writer.write(std::move(inputs), copy->output_node()->args(), is_single)}})}});
}

// --- nodes

Json::Array GraphWriter::results_of(const fx::Node& node) const {
  Json::Array results;
  for (uint32_t i = 0; i < node.num_results(); ++i) {
    const fx::Value each{const_cast<fx::Node*>(&node), i};
    const auto list = lists_.find({&node, i});
    if (list != lists_.end() && list->second.empty()) {
      results.push_back(json_object({{"as_tensors", Json(Json::Array())}}));
    } else {
      results.push_back(value(each));
    }
  }
  return results;
}

Json GraphWriter::write_operator(const fx::Node& node) {
  const c10::FunctionSchema& schema = node.schema();
  const auto& formals = schema.arguments();
  const auto is_default = [&](size_t i) {
    const Arg& arg = node.args()[i];
    return formals[i].default_value() && arg.is_constant() &&
        fx::same_constant(arg.constant(), *formals[i].default_value());
  };
  size_t num_positional = 0;
  for (size_t i = 0; i < formals.size(); ++i) {
    num_positional = !formals[i].kwarg_only() && !is_default(i) ? i + 1 : num_positional;
  }
  Json::Array inputs;
  for (size_t i = 0; i < formals.size(); ++i) {
    if (i < num_positional || (formals[i].kwarg_only() && !is_default(i))) {
      inputs.push_back(json_object(
          {{"name", Json(formals[i].name())},
           {"arg", argument(node.args()[i], formals[i].type().get())},
           {"kind", Json(int64_t(formals[i].kwarg_only() ? 2 : 1))}}));
    }
  }
  return Json(std::move(inputs));
}

Json GraphWriter::write_function(const fx::Node& node) {
  Json::Array inputs;
  const bool is_number = is_number_function(node.function().name);
  for (size_t i = 0; i < node.args().size(); ++i) {
    const Arg& arg = node.args()[i];
    // The condition of a loop gives a value, all other graphs a tuple.
    const bool is_condition = i == 0 && node.is_function("while_loop");
    Json written = arg.kind() == Arg::Kind::Graph
        ? inner_graph(*arg.graph(), node.name() + "_graph_" + std::to_string(i), is_condition)
        : argument(arg);
    // Python names operands of numbers a, b, c.
    const std::string name = is_number ? std::string(1, static_cast<char>('a' + i)) : std::string();
    inputs.push_back(json_object({{"name", Json(name)}, {"arg", std::move(written)}, {"kind", Json(int64_t(1))}}));
  }
  return Json(std::move(inputs));
}

void GraphWriter::write_node(const fx::Node& node, Json::Array& nodes) {
  if (node.is_function("unpack") || node.is_function("getitem")) {
    TORCH_CHECK(
        node.num_results() == 0 || names_.count({&node, 0}) != 0, "%", node.name(),
        " takes apart what is no operator's list");
    return;
  }
  std::string target;
  std::string name = node.name();
  Json inputs, is_single;
  if (node.is_operator()) {
    const c10::OperatorName& op = node.operator_handle().operator_name();
    const size_t colon = op.name.find("::");
    target = "torch.ops." + op.name.substr(0, colon) + "." + op.name.substr(colon + 2) + "." +
        (op.overload_name.empty() ? "default" : op.overload_name);
    inputs = write_operator(node);
  } else {
    target = python_name(node.function().name);
    inputs = write_function(node);
    const bool is_method = node.is_function("call_torchbind");
    is_single = is_number_function(node.function().name) ? Json() : Json(is_method && node.num_results() == 1);
    // What runs graphs gives a tuple in Python, also of one result, which has another name than the call.
    name = is_single.is_null() || is_method ? name : name + "_call";
  }
  Json::Object metadata;
  if (!node.module_path().empty()) {
    metadata.emplace_back(
        "nn_module_stack",
        Json(
            "L__self__,," + std::string("torch.nn.Module;") + node.module_path() + "," + node.module_path() +
            ",torch.nn.Module"));
  }
  nodes.push_back(json_object(
      {{"target", Json(target)},
       {"inputs", std::move(inputs)},
       {"outputs", Json(results_of(node))},
       {"metadata", Json(std::move(metadata))},
       {"is_hop_single_tensor_return", std::move(is_single)},
       {"name", Json(name)}}));
}

Json GraphWriter::write(Json::Array inputs) {
  TORCH_CHECK(graph_.output_node(), "a graph without results cannot be saved");
  return write(std::move(inputs), graph_.output_node()->args());
}

Json GraphWriter::write(Json::Array inputs, const std::vector<Arg>& outputs, bool is_single) {
  Json::Array nodes, results;
  for (const fx::Node* node : graph_.nodes()) {
    const bool is_constant_input = node->kind() == NodeKind::Placeholder && !node->info() && node->num_users() == 0;
    if (node->kind() == NodeKind::Output || is_constant_input) {
      continue;
    }
    name_results(*node);
    describe(*node);
    if (node->kind() == NodeKind::CallOperator || node->kind() == NodeKind::CallFunction) {
      try {
        write_node(*node, nodes);
      } catch (const c10::Error& e) {
        TORCH_CHECK(
            false, "the program cannot be saved: node %", node->name(), " (", node->target(),
            "): ", e.what_without_backtrace());
      }
    }
  }
  for (const Arg& output : outputs) {
    results.push_back(argument(output));
  }
  Json::Object object_values;
  for (const auto& [key, class_name] : objects_) {
    const std::string& name = names_.at(key);
    object_values.emplace_back(name, object_json(name, class_name));
  }
  return json_object(
      {{"inputs", Json(std::move(inputs))},
       {"outputs", Json(std::move(results))},
       {"nodes", Json(std::move(nodes))},
       {"tensor_values", Json(std::move(tensor_values_))},
       {"sym_int_values", Json(std::move(int_values_))},
       {"sym_bool_values", Json(std::move(bool_values_))},
       {"is_single_tensor_return", Json(is_single)},
       {"custom_obj_values", Json(std::move(object_values))},
       {"sym_float_values", Json(std::move(float_values_))}});
}

} // namespace torch::program
