#include <csrc/program/write_program.h>

#include <csrc/program/lower_graph.h>
#include <csrc/program/write_argument.h>
#include <csrc/program/write_graph.h>
#include <aten/core/class_type.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <set>

namespace torch::program {

namespace {

using c10::IValue;
using fx::Arg;
using fx::Node;
using fx::NodeKind;

// What PyTorch 2.15 writes.
constexpr int64_t kSchemaMajor = 8, kSchemaMinor = 20, kOpsetVersion = 10;
constexpr const char* kWrittenAs = "2.15.0";

Json tensor_name(const std::string& name) {
  return json_object({{"name", Json(name)}});
}

/// "layer.0.weight" as "layer_0_weight".
std::string identifier(const std::string& path) {
  std::string name = path;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'); },
      '_');
  return name;
}

class ProgramWriter {
 public:
  explicit ProgramWriter(const ProgramState& state) : state_(state), graph_(state.module->graph().copy()) {
    lower_sizes(*graph_);
    lower_grad_modes(*graph_);
  }

  Json run() {
    GraphWriter writer(*graph_, state_.hints);
    add_attributes(writer);
    add_inputs(writer);
    find_mutations();
    std::vector<Arg> outputs;
    for (const auto& [copy, spec] : mutations_) {
      outputs.push_back(copy->arg(size_t(1)));
      graph_->erase_node(copy);
    }
    const std::vector<Arg>& results = graph_->output_node()->args();
    outputs.insert(outputs.end(), results.begin(), results.end());
    Json graph = writer.write(std::move(inputs_), outputs);
    add_outputs(graph.at("outputs").items());
    return json_object(
        {{"graph_module",
          json_object(
              {{"graph", std::move(graph)},
               {"signature",
                json_object(
                    {{"input_specs", Json(std::move(input_specs_))},
                     {"output_specs", Json(std::move(output_specs_))}})},
               {"module_call_graph", call_graph()},
               {"metadata", Json(Json::Object())},
               {"treespec_namedtuple_fields", Json(Json::Object())}})},
         {"opset_version", json_object({{"aten", Json(kOpsetVersion)}})},
         {"range_constraints", ranges()},
         {"schema_version", json_object({{"major", Json(kSchemaMajor)}, {"minor", Json(kSchemaMinor)}})},
         {"verifiers", Json(Json::Array{Json(std::string("TRAINING"))})},
         {"torch_version", Json(std::string(kWrittenAs))},
         {"guards_code", Json(Json::Array())}});
  }

 private:
  // --- inputs

  struct Kind {
    const char* prefix;
    const char* member;
    const char* target;
  };

  Kind kind_of(const std::string& path) const {
    if (state_.module->attr(path).isObject()) {
      return {"obj_", "custom_obj", "custom_obj_name"};
    }
    const auto holds = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), path) != names.end();
    };
    if (holds(state_.parameters)) {
      return {"p_", "parameter", "parameter_name"};
    }
    return holds(state_.buffers) || state_.module->is_state(path)
        ? Kind{"b_", "buffer", "buffer_name"}
        : Kind{"c_", "tensor_constant", "tensor_constant_name"};
  }

  /// Parameters, buffers, constants, objects, in this order; each once.
  void add_attributes(GraphWriter& writer) {
    for (const char* const wanted : {"parameter", "buffer", "tensor_constant", "custom_obj"}) {
      for (Node* node : graph_->nodes()) {
        if (node->kind() != NodeKind::GetAttr) {
          continue;
        }
        const Kind kind = kind_of(node->target());
        if (std::string(kind.member) != wanted) {
          continue;
        }
        const auto found = attribute_names_.find(node->target());
        if (found != attribute_names_.end()) {
          writer.set_name({node, 0}, found->second);
          if (state_.module->attr(node->target()).isObject()) {
            add_object(writer, node);
          }
        } else {
          add_attribute(writer, node, kind);
        }
      }
    }
  }

  void add_attribute(GraphWriter& writer, Node* node, const Kind& kind) {
    const std::string path = node->target();
    std::string name = kind.prefix + identifier(path);
    while (!names_.insert(name).second || (graph_->find_node(name) && graph_->find_node(name) != node)) {
      name += "_";
    }
    writer.reserve(name);
    writer.set_name({node, 0}, name);
    attribute_names_.emplace(path, name);
    const IValue& value = state_.module->attr(path);
    if (value.isObject()) {
      const Json object = add_object(writer, node);
      inputs_.push_back(json_object({{"as_custom_obj", object}}));
      input_specs_.push_back(json_object({{kind.member, json_object({{"arg", object}, {kind.target, Json(path)}})}}));
      return;
    }
    TORCH_CHECK(
        value.isTensor(), "the program cannot be saved: its attribute '", path, "' is no tensor but a ",
        value.tagKind());
    const at::Tensor& tensor = value.toTensor();
    writer.set_meta(
        {node, 0}, tensor_meta(fx::TensorInfo::of(tensor), tensor.requires_grad(), graph_->sizes(), state_.hints));
    inputs_.push_back(json_object({{"as_tensor", tensor_name(name)}}));
    Json::Object spec{{"arg", tensor_name(name)}, {kind.target, Json(path)}};
    if (std::string(kind.member) == "buffer") {
      const bool persists = std::find(state_.buffers.begin(), state_.buffers.end(), path) != state_.buffers.end();
      spec.emplace_back("persistent", Json(persists));
    }
    input_specs_.push_back(json_object({{kind.member, Json(std::move(spec))}}));
  }

  Json add_object(GraphWriter& writer, Node* node) const {
    const std::string class_name = state_.module->attr(node->target()).toObjectRef().type()->name()->qualifiedName();
    writer.set_object({node, 0}, class_name);
    return object_json(writer.name_of({node, 0}), class_name);
  }

  void add_inputs(GraphWriter& writer) {
    const std::vector<Node*> placeholders = graph_->placeholders();
    TORCH_CHECK(
        placeholders.size() == state_.inputs.size(), "the program cannot be saved: its graph takes ",
        placeholders.size(), " inputs, the program ", state_.inputs.size());
    for (size_t i = 0; i < placeholders.size(); ++i) {
      const std::string& name = placeholders[i]->name();
      if (state_.inputs[i].constant) {
        TORCH_CHECK(
            placeholders[i]->num_users() == 0, "the program cannot be saved: its constant input ", name,
            " is used by the graph");
        Json value = constant_argument(*state_.inputs[i].constant, nullptr);
        inputs_.push_back(value);
        input_specs_.push_back(
            json_object({{"constant_input", json_object({{"name", Json(name)}, {"value", std::move(value)}})}}));
        continue;
      }
      TORCH_CHECK(placeholders[i]->info(), "the program cannot be saved: nothing is known of its input ", name);
      writer.set_name({placeholders[i], 0}, name);
      Json argument = json_object({{"as_tensor", tensor_name(name)}});
      inputs_.push_back(argument);
      input_specs_.push_back(json_object({{"user_input", json_object({{"arg", std::move(argument)}})}}));
    }
  }

  // --- outputs

  /// What is written back at the end is a result of the program as archives have it.
  void find_mutations() {
    std::set<std::string> seen;
    for (Node* node = graph_->output_node()->prev(); node && node->is_operator("aten::copy_"); node = node->prev()) {
      const Node* const written = node->arg(size_t(0)).is_value() ? node->arg(size_t(0)).value().node : nullptr;
      const bool is_input = written && written->kind() == NodeKind::Placeholder;
      const bool is_state = written && written->kind() == NodeKind::GetAttr;
      if ((!is_input && !is_state) || node->num_users() != 0 || !node->arg(size_t(1)).is_value() ||
          !seen.insert(written->target()).second) {
        break;
      }
      const std::string kind = is_input ? "user_input" : kind_of(written->target()).member;
      if (kind == "tensor_constant") {
        break;
      }
      mutations_.insert(mutations_.begin(), {node, {kind, written->target()}});
    }
    // Where a value is written that is itself read after the copy, the order counts.
    for (const auto& [copy, spec] : mutations_) {
      const Node* const value = copy->arg(size_t(1)).value().node;
      if (value->kind() == NodeKind::Placeholder || value->kind() == NodeKind::GetAttr) {
        mutations_.clear();
        break;
      }
    }
  }

  void add_outputs(const Json::Array& outputs) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (i < mutations_.size()) {
        const auto& [kind, target] = mutations_[i].second;
        output_specs_.push_back(json_object(
            {{kind + "_mutation", json_object({{"arg", outputs[i].only().second}, {kind + "_name", Json(target)}})}}));
        continue;
      }
      const size_t result = i - mutations_.size();
      const auto gradient = std::find_if(
          state_.gradients.begin(), state_.gradients.end(),
          [&](const GradientOutput& each) { return each.result == result; });
      if (gradient == state_.gradients.end()) {
        output_specs_.push_back(json_object({{"user_output", json_object({{"arg", outputs[i]}})}}));
      } else {
        const std::string of = gradient->kind == OutputKind::GRADIENT_TO_PARAMETER ? "parameter" : "user_input";
        output_specs_.push_back(json_object(
            {{"gradient_to_" + of,
              json_object({{"arg", outputs[i].only().second}, {of + "_name", Json(gradient->target)}})}}));
      }
    }
  }

  // --- what surrounds the graph

  Json ranges() const {
    Json::Object members;
    for (const auto& [name, range] : state_.ranges) {
      // 0 and 1 are sizes of their own kind for PyTorch; it takes 2 as the least one of all others.
      const bool is_size = name[0] == 's';
      const auto end = [](const std::optional<int64_t>& value) { return value ? Json(*value) : Json(); };
      const std::optional<int64_t> least = is_size ? std::max<int64_t>(range.min_val.value_or(2), 2) : range.min_val;
      members.emplace_back(name, json_object({{"min_val", end(least)}, {"max_val", end(range.max_val)}}));
    }
    return Json(std::move(members));
  }

  Json call_graph() const {
    TreeSpec in_spec, out_spec;
    if (state_.in_spec) {
      in_spec = *state_.in_spec;
    } else {
      in_spec = TreeSpec(
          TreeSpec::Kind::Tuple,
          {TreeSpec(TreeSpec::Kind::Tuple, std::vector<TreeSpec>(state_.inputs.size())), TreeSpec::dict({}, {})});
    }
    if (state_.out_spec) {
      out_spec = *state_.out_spec;
    } else if (state_.num_user_results != 1) {
      out_spec = TreeSpec(TreeSpec::Kind::Tuple, std::vector<TreeSpec>(state_.num_user_results));
    }
    Json::Array names;
    for (const std::string& name : state_.arg_names) {
      names.emplace_back(name);
    }
    Json signature = json_object(
        {{"inputs", Json(Json::Array())},
         {"outputs", Json(Json::Array())},
         {"in_spec", Json(in_spec.to_string())},
         {"out_spec", Json(out_spec.to_string())},
         {"forward_arg_names", Json(std::move(names))}});
    return Json(Json::Array{json_object({{"fqn", Json(std::string())}, {"signature", std::move(signature)}})});
  }

  const ProgramState& state_;
  std::shared_ptr<fx::Graph> graph_;
  std::set<std::string> names_;
  std::map<std::string, std::string> attribute_names_;
  std::vector<std::pair<Node*, std::pair<std::string, std::string>>> mutations_;
  Json::Array inputs_, input_specs_, output_specs_;
};

} // namespace

Json write_program(const ProgramState& state) {
  return ProgramWriter(state).run();
}

} // namespace torch::program
