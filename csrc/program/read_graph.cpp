#include <csrc/program/read_graph.h>

#include <csrc/fx/function.h>
#include <csrc/program/auto_functionalized.h>
#include <csrc/program/schema_numbers.h>
#include <csrc/program/size_text.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>

namespace torch::program {

namespace {

using c10::IValue;
using fx::Arg;

constexpr std::string_view kOperators = "torch.ops.";
constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";
constexpr std::string_view kCallMethod = "torch.ops.higher_order.call_torchbind";

bool starts_with(const std::string& text, std::string_view prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

/// "torch.ops.aten.add.Tensor" as "aten::add.Tensor".
std::string operator_name(const std::string& target) {
  const std::string path = target.substr(kOperators.size());
  const size_t dot = path.find('.'), last = path.rfind('.');
  TORCH_CHECK(dot != std::string::npos && last > dot, "'", target, "' names no operator");
  const std::string overload = path.substr(last + 1);
  return path.substr(0, dot) + "::" + path.substr(dot + 1, last - dot - 1) +
      (overload == "default" ? "" : "." + overload);
}

/// The function that a callable of Python is; empty if there is none.
std::string function_name(const std::string& target) {
  std::string name = target.substr(target.rfind('.') + 1);
  while (!name.empty() && name[0] == '_' && starts_with(target, "torch.")) {
    name.erase(0, 1);
  }
  const bool is_known_module = starts_with(target, "_operator.") || starts_with(target, "math.") ||
      starts_with(target, "builtins.") || starts_with(target, "torch.sym_") || starts_with(target, "torch._sym_");
  if (!is_known_module) {
    return "";
  }
  for (const std::string& candidate : {name, "sym_" + name}) {
    if (fx::find_function(candidate)) {
      return candidate;
    }
  }
  return "";
}

/// The function for a higher-order operator, and how it takes its arguments; empty if there is none.
std::string higher_order_name(const std::string& name) {
  static const std::unordered_map<std::string, std::string> table = {
      {"cond", "cond"},
      {"while_loop", "while_loop"},
      {"map", "map"},
      {"map_impl", "map"},
      {"scan", "scan"},
      {"associative_scan", "associative_scan"},
      {"wrap_with_set_grad_enabled", "wrap_with_set_grad_enabled"},
      {"wrap_with_autocast", "wrap_with_autocast"},
      {"wrap", "wrap"},
      {"wrap_activation_checkpoint", "wrap"},
      {"tag_activation_checkpoint", "wrap"},
      {"invoke_subgraph", "invoke_subgraph"},
      {"call_torchbind", "call_torchbind"},
      {"strict_mode", "wrap_list"},
      {"run_const_graph", "wrap_list"},
      {"hints_wrapper", "wrap_list"},
  };
  const auto found = table.find(name);
  return found == table.end() ? "" : found->second;
}

size_t count_results(const Json& outputs) {
  const auto& items = outputs.items();
  // Before 2.5 a tuple of results was one list.
  if (items.size() == 1 && items[0].only().first == "as_tensors") {
    return items[0].only().second.items().size();
  }
  return items.size();
}

c10::Device device_from(const Json& json) {
  const std::string& type = json.at("type").as_string();
  const Json* const index = json.find("index");
  return c10::Device(index ? fmt::format("{}:{}", type, index->as_int()) : type);
}

template <class T, class Get>
IValue list_of(const Json& json, const Get& get) {
  c10::List<T> list;
  for (const Json& item : json.items()) {
    list.push_back(get(item));
  }
  return list;
}

Arg find(const NamedValues& values, const std::string& name) {
  const auto found = values.find(name);
  TORCH_CHECK(found != values.end(), "the value '", name, "' is used before it is made");
  return found->second;
}

template <class Read>
std::vector<Arg> map_items(const Json& json, const Read& read) {
  std::vector<Arg> items;
  for (const Json& item : json.items()) {
    items.push_back(read(item));
  }
  return items;
}

} // namespace

std::string argument_name(const Json& argument) {
  const auto& [kind, value] = argument.only();
  if (kind == "as_name") {
    return value.as_string();
  }
  if (kind == "as_tensor" || kind == "as_custom_obj") {
    return value.at("name").as_string();
  }
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
    const Json* const name = value.find("as_name");
    return name ? name->as_string() : "";
  }
  return "";
}

Arg GraphReader::read_argument(const Json& json, const NamedValues& values) {
  const auto& [kind, value] = json.only();
  const auto tensor = [&](const Json& item) { return find(values, item.at("name").as_string()); };
  const auto symbol = [&](const Json& item) {
    const auto& [which, held] = item.only();
    if (which == "as_name") {
      return find(values, held.as_string());
    }
    return which == "as_int" ? Arg(held.as_int()) : which == "as_bool" ? Arg(held.as_bool()) : Arg(held.as_double());
  };
  const auto ints = [](const Json& list) { return list_of<int64_t>(list, [](const Json& i) { return i.as_int(); }); };
  const auto floats = [](const Json& list) {
    return list_of<double>(list, [](const Json& i) { return i.as_double(); });
  };
  if (kind == "as_none") {
    return Arg();
  }
  if (kind == "as_tensor" || kind == "as_custom_obj") {
    return tensor(value);
  }
  if (kind == "as_tensors") {
    return map_items(value, tensor);
  }
  if (kind == "as_int") {
    return value.as_int();
  }
  if (kind == "as_float") {
    return value.as_double();
  }
  if (kind == "as_bool") {
    return value.as_bool();
  }
  if (kind == "as_string") {
    return Arg(IValue(value.as_string()));
  }
  if (kind == "as_ints") {
    return ints(value);
  }
  if (kind == "as_floats") {
    return floats(value);
  }
  if (kind == "as_bools") {
    return list_of<bool>(value, [](const Json& item) { return item.as_bool(); });
  }
  if (kind == "as_strings") {
    return list_of<std::string>(value, [](const Json& item) { return item.as_string(); });
  }
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
    return symbol(value);
  }
  if (kind == "as_sym_ints" || kind == "as_sym_floats" || kind == "as_sym_bools") {
    return map_items(value, symbol);
  }
  if (kind == "as_scalar_type") {
    return static_cast<int64_t>(dtype_from_number(value.as_int()));
  }
  if (kind == "as_memory_format") {
    return static_cast<int64_t>(memory_format_from_number(value.as_int()));
  }
  if (kind == "as_layout") {
    return static_cast<int64_t>(layout_from_number(value.as_int()));
  }
  if (kind == "as_device") {
    return device_ ? *device_ : device_from(value);
  }
  if (kind == "as_complex") {
    return c10::complex<double>(value.at("real").as_double(), value.at("imag").as_double());
  }
  if (kind == "as_optional_tensor" || kind == "as_optional_tensors") {
    const auto optional = [&](const Json& item) {
      return item.only().first == "as_tensor" ? tensor(item.only().second) : Arg();
    };
    return kind == "as_optional_tensor" ? optional(value) : Arg(map_items(value, optional));
  }
  if (kind == "as_nested_tensors") {
    return map_items(value, [&](const Json& list) { return Arg(map_items(list, tensor)); });
  }
  if (kind == "as_int_lists") {
    return map_items(value, [&](const Json& list) { return Arg(ints(list)); });
  }
  if (kind == "as_float_lists") {
    return map_items(value, [&](const Json& list) { return Arg(floats(list)); });
  }
  if (kind == "as_graph") {
    return read_inner(value.at("graph"));
  }
  if (kind == "as_operator") {
    const std::string& name = value.as_string();
    return Arg(IValue(name == kCallMethod ? name : operator_name(name)));
  }
  TORCH_CHECK(false, "an argument of kind '", kind, "' is not supported in exported programs");
}

std::shared_ptr<fx::Graph> GraphReader::read_inner(const Json& json) {
  auto graph = fx::Graph::create();
  NamedValues values;
  for (const Json& input : json.at("inputs").items()) {
    const std::string name = argument_name(input);
    fx::Node* const node = graph->placeholder(name.empty() ? "arg" : name);
    if (!name.empty()) {
      TORCH_CHECK(values.emplace(name, node).second, "two inputs are called '", name, "'");
      read_info(json, name, *graph, {node, 0});
    }
  }
  read_nodes(json, *graph, values);
  graph->output(map_items(json.at("outputs"), [&](const Json& item) { return read_argument(item, values); }));
  return graph;
}

void GraphReader::read_nodes(const Json& json, fx::Graph& graph, NamedValues& values) {
  for (const Json& node : json.at("nodes").items()) {
    try {
      read_node(node, json, graph, values);
    } catch (const c10::Error& e) {
      const Json* const target = node.find("target");
      TORCH_CHECK(
          false, "Failed deserializing node ", target && target->is_string() ? target->as_string() : "?", ": ",
          e.what_without_backtrace());
    }
  }
}

void GraphReader::read_node(const Json& json, const Json& graph_json, fx::Graph& graph, NamedValues& values) {
  const std::string& target = json.at("target").as_string();
  const size_t num_results = count_results(json.at("outputs"));
  fx::Node* node = nullptr;
  if (starts_with(target, kHigherOrder)) {
    const std::string name = target.substr(kHigherOrder.size());
    if (name == "auto_functionalized" || name == "auto_functionalized_v2") {
      const std::vector<Arg> results = expand_auto_functionalized(json, *this, graph, values);
      const auto& outputs = json.at("outputs").items();
      for (size_t i = 0; i < outputs.size() && i < results.size(); ++i) {
        name_result(outputs[i], graph_json, results[i], graph, values);
      }
      return;
    }
    if (name == "with_effects") {
      call_with_effects(json, graph_json, graph, values);
      return;
    }
    node = call_higher_order(json, name, num_results, graph, values);
  } else if (starts_with(target, kOperators)) {
    node = call_operator(json, operator_name(target), graph, values);
  } else {
    const std::string name = function_name(target);
    TORCH_CHECK(
        !name.empty(), "We failed to resolve ", target,
        " to an operator. It is no function that exported programs are known to call");
    node = call_function(json, name, num_results, graph, values);
  }
  if (const Json* metadata = json.find("metadata")) {
    // "key,path,class;..." from the outermost module to the innermost.
    if (const Json* stack = metadata->find("nn_module_stack"); stack && stack->is_string()) {
      const std::string& text = stack->as_string();
      const size_t begin = text.rfind(';') == std::string::npos ? 0 : text.rfind(';') + 1;
      const size_t first = text.find(',', begin),
                   second = first == std::string::npos ? first : text.find(',', first + 1);
      if (second != std::string::npos && second > first + 1 && text[first + 1] != '_') {
        node->set_module_path(text.substr(first + 1, second - first - 1));
      }
    }
  }
  name_results(json, graph_json, node, graph, values);
}

fx::Node* GraphReader::call_operator(
    const Json& json, const std::string& path, fx::Graph& graph, const NamedValues& values) {
  fx::Kwargs kwargs;
  std::vector<Arg> args;
  for (const Json& input : json.at("inputs").items()) {
    const std::string& name = input.at("name").as_string();
    Arg arg = read_argument(input.at("arg"), values);
    if (name.empty()) {
      args.push_back(std::move(arg));
    } else {
      kwargs.emplace_back(name, std::move(arg));
    }
  }
  return graph.call_operator(path, std::move(args), std::move(kwargs));
}

/// An operator whose order counts: behind a token it takes its arguments, before its results it gives a token. Here it
/// is a node like any other, which stays where it is.
void GraphReader::call_with_effects(const Json& json, const Json& graph_json, fx::Graph& graph, NamedValues& values) {
  const auto& inputs = json.at("inputs").items();
  TORCH_CHECK(inputs.size() >= 2, "with_effects: the operator is missing");
  const Arg op = read_argument(inputs[1].at("arg"), values);
  TORCH_CHECK(op.is_constant() && op.constant().isString(), "with_effects: the operator is missing");
  std::vector<Arg> args;
  fx::Kwargs kwargs;
  for (size_t i = 2; i < inputs.size(); ++i) {
    const std::string& name = inputs[i].at("name").as_string();
    Arg arg = read_argument(inputs[i].at("arg"), values);
    if (name.empty()) {
      args.push_back(std::move(arg));
    } else {
      kwargs.emplace_back(name, std::move(arg));
    }
  }
  const auto& outputs = json.at("outputs").items();
  TORCH_CHECK(!outputs.empty(), "with_effects gives no token");
  const bool is_method = op.constant().toStringRef() == kCallMethod;
  fx::Node* const node = is_method
      ? graph.call_function("call_torchbind", std::move(args), static_cast<uint32_t>(outputs.size() - 1))
      : graph.call_operator(op.constant().toStringRef(), std::move(args), std::move(kwargs));
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    TORCH_CHECK(i <= node->num_results() || argument_name(outputs[i]).empty(), "with_effects has too many results");
    name_result(outputs[i], graph_json, i == 0 ? Arg() : Arg(fx::Value{node, i - 1}), graph, values);
  }
}

fx::Node* GraphReader::call_function(
    const Json& json, const std::string& name, size_t num_results, fx::Graph& graph, const NamedValues& values) {
  std::vector<Arg> args;
  for (const Json& input : json.at("inputs").items()) {
    args.push_back(read_argument(input.at("arg"), values));
  }
  return graph.call_function(name, std::move(args), static_cast<uint32_t>(num_results));
}

fx::Node* GraphReader::call_higher_order(
    const Json& json, const std::string& name, size_t num_results, fx::Graph& graph, const NamedValues& values) {
  const std::string function = higher_order_name(name);
  TORCH_CHECK(!function.empty(), "the higher-order operator '", name, "' is not supported in exported programs");
  std::vector<Arg> args;
  for (const Json& input : json.at("inputs").items()) {
    // What goes by keyword are settings of compilation, such as that of checkpointing.
    const Json* const kind = input.find("kind");
    const bool is_keyword = kind ? kind->as_int() == 2 : !input.at("name").as_string().empty();
    if (!is_keyword) {
      args.push_back(read_argument(input.at("arg"), values));
    }
  }
  return graph.call_function(function, std::move(args), static_cast<uint32_t>(num_results));
}

void GraphReader::name_results(
    const Json& json, const Json& graph_json, fx::Node* node, fx::Graph& graph, NamedValues& values) {
  const auto& outputs = json.at("outputs").items();
  if (!node->is_operator() && outputs.size() == 1 && outputs[0].only().first == "as_tensors") {
    const auto& tensors = outputs[0].only().second.items();
    for (uint32_t i = 0; i < tensors.size(); ++i) {
      values.insert_or_assign(tensors[i].at("name").as_string(), fx::Value{node, i});
    }
    return;
  }
  const bool is_void = outputs.size() == 1 && outputs[0].only().first == "as_none" && node->num_results() == 0;
  TORCH_CHECK(
      is_void || outputs.size() <= node->num_results(), node->target(), " has ", node->num_results(),
      " results, the file names ", outputs.size());
  for (uint32_t i = 0; i < outputs.size() && !is_void; ++i) {
    name_result(outputs[i], graph_json, fx::Value{node, i}, graph, values);
  }
}

void GraphReader::name_result(
    const Json& output, const Json& graph_json, Arg value, fx::Graph& graph, NamedValues& values) {
  const auto& [kind, held] = output.only();
  const auto set = [&](const std::string& name, const Arg& result) {
    TORCH_CHECK(!name.empty() && values.emplace(name, result).second, "two values are called '", name, "'");
    if (result.is_value()) {
      fx::Node* const node = result.value().node;
      if (node->num_results() == 1) {
        node->set_name(name);
      }
      read_info(graph_json, name, graph, result.value());
    }
  };
  if (kind == "as_tensors" || kind == "as_sym_ints") {
    // A list, whose elements are named one by one.
    const auto& elements = held.items();
    fx::Node* const unpack = graph.call_function("unpack", {value}, static_cast<uint32_t>(elements.size()));
    for (uint32_t i = 0; i < elements.size(); ++i) {
      const std::string name = kind == "as_tensors" ? elements[i].at("name").as_string() : argument_name(elements[i]);
      if (!name.empty()) {
        set(name, fx::Value{unpack, i});
      }
    }
    return;
  }
  if (const std::string name = argument_name(output); !name.empty()) {
    set(name, value);
  }
}

fx::Dim GraphReader::read_size(const Json& expression, fx::SizeTable& sizes) {
  const fx::Dim dim = parse_size(expression.at("expr_str").as_string(), sizes);
  const Json* const hint = expression.find("hint");
  const bool is_symbol = dim.is_expression() && sizes.entries()[dim.index()].op == fx::SizeOp::Symbol;
  if (is_symbol && hint && hint->is_object() && hint->find("as_int")) {
    hints_.emplace(sizes.entries()[dim.index()].name, hint->at("as_int").as_int());
  }
  return dim;
}

void GraphReader::read_info(const Json& graph_json, const std::string& name, fx::Graph& graph, fx::Value value) {
  const Json* const tensors = graph_json.find("tensor_values");
  const Json* const meta = tensors ? tensors->find(name) : nullptr;
  if (!meta) {
    return;
  }
  fx::TensorInfo info;
  info.dtype = dtype_from_number(meta->at("dtype").as_int());
  info.layout = layout_from_number(meta->at("layout").as_int());
  info.device = device_ ? *device_ : device_from(meta->at("device"));
  try {
    for (const auto& [member, dims] : {std::pair("sizes", &info.sizes), std::pair("strides", &info.strides)}) {
      for (const Json& size : meta->at(member).items()) {
        const auto& [kind, held] = size.only();
        dims->push_back(kind == "as_int" ? fx::Dim(held.as_int()) : read_size(held, graph.sizes()));
      }
    }
  } catch (const c10::Error&) {
    return; // a size that cannot be expressed is only known when the graph runs
  }
  if (info.strides.size() != info.sizes.size()) {
    info.strides.clear();
  }
  value.node->set_info(std::move(info), value.result);
}

} // namespace torch::program
