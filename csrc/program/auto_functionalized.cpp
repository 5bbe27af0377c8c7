#include <csrc/program/auto_functionalized.h>

#include <c10/util/Exception.h>

#include <map>

namespace torch::program {

namespace {

using fx::Arg;

/// The arguments by name; the operator has none.
struct Call {
  std::string op;
  std::map<std::string, Arg> args;

  const Arg* find(const std::string& name) const {
    const auto found = args.find(name);
    return found == args.end() ? nullptr : &found->second;
  }
  int64_t number(const std::string& name) const {
    const Arg* const arg = find(name);
    TORCH_CHECK(arg && arg->is_constant() && arg->constant().isInt(), "auto_functionalized: '", name, "' is missing");
    return arg->constant().toInt();
  }
};

Call read_call(const Json& json, GraphReader& reader, const NamedValues& values) {
  Call call;
  for (const Json& input : json.at("inputs").items()) {
    const std::string& name = input.at("name").as_string();
    Arg arg = reader.read_argument(input.at("arg"), values);
    if (call.op.empty() && arg.is_constant() && arg.constant().isString()) {
      call.op = arg.constant().toStringRef();
    } else {
      call.args.insert_or_assign(name, std::move(arg));
    }
  }
  TORCH_CHECK(!call.op.empty(), "auto_functionalized: the operator is missing");
  return call;
}

bool is_written(const c10::Argument& formal) {
  return formal.alias_info() && formal.alias_info()->isWrite();
}

/// Copies of the tensors that all views in the call are of.
class Bases {
 public:
  Bases(const Call& call, fx::Graph& graph) : graph_(graph) {
    const Arg* const all = call.find("_all_bases");
    if (!all) {
      return;
    }
    is_v2 = true;
    if (all->is_list()) {
      for (const Arg& base : all->list()) {
        copies.push_back(graph.call_operator("aten::clone", {base}));
      }
    }
  }

  /// The view of a copied base that the argument `name` is, or of the element `index` of a list.
  Arg view(const Call& call, const std::string& name) {
    const int64_t index = call.number("_" + name + "_base_index");
    TORCH_CHECK(index >= 0 && index < static_cast<int64_t>(copies.size()), "auto_functionalized: no base ", index);
    const Arg& base = copies[static_cast<size_t>(index)];
    if (call.find("_" + name + "_alias") || !call.find("_" + name + "_size")) {
      if (call.find("_" + name + "_slice_dim")) {
        return graph_.call_operator(
            "aten::slice.Tensor",
            {base, call.number("_" + name + "_slice_dim"), at(call, name, "_slice_start"),
             at(call, name, "_slice_end")});
      }
      return base;
    }
    return graph_.call_operator(
        "aten::as_strided",
        {base, at(call, name, "_size"), at(call, name, "_stride"), at(call, name, "_storage_offset")});
  }

  bool is_v2 = false;
  std::vector<Arg> copies;

 private:
  static Arg at(const Call& call, const std::string& name, const char* part) {
    const Arg* const arg = call.find("_" + name + part);
    TORCH_CHECK(arg, "auto_functionalized: '_", name, part, "' is missing");
    return *arg;
  }

  fx::Graph& graph_;
};

} // namespace

std::vector<Arg> expand_auto_functionalized(
    const Json& json, GraphReader& reader, fx::Graph& graph, const NamedValues& values) {
  const Call call = read_call(json, reader, values);
  const auto parsed = c10::OperatorNameView::parse(call.op);
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
      std::string(parsed.name).c_str(), std::string(parsed.overload_name).c_str());
  Bases bases(call, graph);
  std::vector<Arg> copies;
  fx::Kwargs kwargs;
  for (const c10::Argument& formal : op.schema().arguments()) {
    const Arg* given = call.find(formal.name());
    if (!is_written(formal)) {
      if (given) {
        kwargs.emplace_back(formal.name(), *given);
      }
    } else if (bases.is_v2) {
      const Arg* const index = call.find("_" + formal.name() + "_base_index");
      const bool is_none = index && index->is_none();
      TORCH_CHECK(index, "auto_functionalized: lists of tensors that are written to are not supported");
      kwargs.emplace_back(formal.name(), is_none ? Arg() : bases.view(call, formal.name()));
    } else {
      TORCH_CHECK(given && !given->is_list(), "auto_functionalized: argument '", formal.name(), "' must be a tensor");
      Arg copy = given->is_none() ? Arg() : Arg(graph.call_operator("aten::clone", {*given}));
      copies.push_back(copy);
      kwargs.emplace_back(formal.name(), copy);
    }
  }
  fx::Node* const node = graph.call_operator(op, {}, std::move(kwargs));
  std::vector<Arg> results;
  for (uint32_t i = 0; i < node->num_results(); ++i) {
    results.emplace_back(fx::Value{node, i});
  }
  if (results.empty()) {
    results.emplace_back();
  }
  const std::vector<Arg>& written = bases.is_v2 ? bases.copies : copies;
  results.insert(results.end(), written.begin(), written.end());
  return results;
}

} // namespace torch::program
