#include <csrc/program/read_program.h>

#include <csrc/program/read_graph.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <set>

namespace torch::program {

namespace {

using c10::IValue;
using fx::Arg;

// The newest major version of the schema, and the oldest that is read.
constexpr int64_t kSchemaVersion = 8;
constexpr int64_t kOldestSchemaVersion = 5;

bool is_symbol_name(const std::string& name) {
  return !name.empty() &&
      std::all_of(
          name.begin(), name.end(),
          [](unsigned char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
          }) &&
      !(name[0] >= '0' && name[0] <= '9');
}

class ProgramReader {
 public:
  ProgramReader(const Json& json, StoredValues weights, StoredValues constants, std::optional<c10::Device> device)
      : json_(json),
        graph_json_(json.at("graph_module").at("graph")),
        weights_(std::move(weights)),
        constants_(std::move(constants)),
        reader_(device),
        state_(std::make_shared<ProgramState>()),
        graph_(fx::Graph::create()) {}

  std::shared_ptr<ProgramState> run() {
    check_version();
    read_ranges();
    read_inputs();
    add_objects();
    reader_.read_nodes(graph_json_, *graph_, values_);
    read_outputs();
    for (fx::Node* object : objects_) {
      if (object->num_users() == 0) {
        graph_->erase_node(object);
      }
    }
    graph_->lint();
    state_->hints = reader_.hints();
    make_module();
    read_call_signature();
    return state_;
  }

 private:
  void check_version() {
    const Json& version = json_.at("schema_version");
    const int64_t major = version.at("major").as_int();
    TORCH_CHECK(
        major >= kOldestSchemaVersion && major <= kSchemaVersion, "Serialized schema version ", major,
        " does not match our current schema version ", kSchemaVersion, "; supported are ", kOldestSchemaVersion, " to ",
        kSchemaVersion);
    const Json* const writer = json_.find("torch_version");
    state_->torch_version = writer ? writer->as_string() : "<=2.4";
  }

  void read_ranges() {
    const Json* const ranges = json_.find("range_constraints");
    if (!ranges) {
      return;
    }
    for (const auto& [name, range] : ranges->members()) {
      RangeConstraint constraint;
      for (const auto& [member, end] :
           {std::pair("min_val", &constraint.min_val), std::pair("max_val", &constraint.max_val)}) {
        if (const Json* bound = range.find(member); bound && bound->is_int()) {
          *end = bound->as_int();
        }
      }
      state_->ranges[name] = constraint;
      if (is_symbol_name(name)) {
        // A lower end of 2 says only that the program was not made for the sizes 0 and 1 alone.
        const bool binds = constraint.min_val && *constraint.min_val > 2;
        graph_->sizes().symbol(name, binds ? constraint.min_val : std::nullopt, constraint.max_val);
      }
    }
  }

  // --- inputs

  void read_inputs() {
    const auto& inputs = graph_json_.at("inputs").items();
    const auto& specs = json_.at("graph_module").at("signature").at("input_specs").items();
    TORCH_CHECK(
        inputs.size() == specs.size(), "the graph has ", inputs.size(), " inputs, its signature ", specs.size());
    for (size_t i = 0; i < specs.size(); ++i) {
      const auto& [kind, spec] = specs[i].only();
      if (kind == "user_input" || kind == "constant_input") {
        read_user_input(kind, spec);
      } else if (kind == "token") {
        const std::string& name = spec.at("arg").at("name").as_string();
        values_[name] = Arg();
        state_->signature.input_specs.push_back({InputKind::TOKEN, name, ""});
      } else {
        read_attribute(kind, spec);
      }
    }
  }

  void read_user_input(const std::string& kind, const Json& spec) {
    UserInput input;
    std::string name;
    if (kind == "constant_input") {
      name = spec.at("name").as_string();
      const auto& [type, value] = spec.at("value").only();
      input.constant = type == "as_none" ? IValue()
          : type == "as_int"             ? IValue(value.as_int())
          : type == "as_float"           ? IValue(value.as_double())
          : type == "as_bool"            ? IValue(value.as_bool())
                                         : IValue(value.as_string());
    } else {
      name = argument_name(spec.at("arg"));
      if (name.empty()) {
        const Arg value = reader_.read_argument(spec.at("arg"), {});
        TORCH_CHECK(value.is_constant(), "an input is neither a tensor nor a number");
        input.constant = value.constant();
      }
    }
    input.node = graph_->placeholder(name.empty() ? "arg" : name);
    state_->signature.input_specs.push_back({InputKind::USER_INPUT, name, ""});
    if (!name.empty()) {
      bind(name, input.node);
    }
    state_->inputs.push_back(std::move(input));
  }

  void read_attribute(const std::string& kind, const Json& spec) {
    const struct {
      const char* kind;
      InputKind input;
      const char* target;
    } table[] = {
        {"parameter", InputKind::PARAMETER, "parameter_name"},
        {"buffer", InputKind::BUFFER, "buffer_name"},
        {"tensor_constant", InputKind::CONSTANT_TENSOR, "tensor_constant_name"},
        {"custom_obj", InputKind::CUSTOM_OBJ, "custom_obj_name"},
    };
    for (const auto& row : table) {
      if (kind == row.kind) {
        InputSpec made{row.input, spec.at("arg").at("name").as_string(), spec.at(row.target).as_string()};
        if (const Json* persistent = spec.find("persistent")) {
          made.persistent = persistent->as_bool();
        }
        bind(made.arg, graph_->get_attr(made.target));
        state_->signature.input_specs.push_back(std::move(made));
        return;
      }
    }
    TORCH_CHECK(false, "an input of kind '", kind, "' is not supported in exported programs");
  }

  /// Objects that nodes name and the signature does not.
  void add_objects() {
    for (const auto& [name, stored] : constants_) {
      if (stored.value.isObject() && name.rfind("_custom_obj_", 0) == 0) {
        objects_.push_back(graph_->get_attr(name));
        values_[name] = objects_.back();
      }
    }
  }

  void bind(const std::string& name, fx::Node* node) {
    TORCH_CHECK(values_.emplace(name, node).second, "two inputs are called '", name, "'");
    node->set_name(name);
    reader_.read_info(graph_json_, name, *graph_, {node, 0});
  }

  // --- outputs

  void read_outputs() {
    const auto& outputs = graph_json_.at("outputs").items();
    const auto& specs = json_.at("graph_module").at("signature").at("output_specs").items();
    TORCH_CHECK(
        outputs.size() == specs.size(), "the graph has ", outputs.size(), " outputs, its signature ", specs.size());
    std::vector<Arg> results, gradients;
    for (size_t i = 0; i < specs.size(); ++i) {
      const auto& [kind, spec] = specs[i].only();
      const Arg value = reader_.read_argument(outputs[i], values_);
      const OutputSpec made = output_spec(kind, spec, argument_name(outputs[i]));
      switch (made.kind) {
        case OutputKind::USER_OUTPUT:
        case OutputKind::LOSS_OUTPUT:
          results.push_back(value);
          break;
        case OutputKind::GRADIENT_TO_PARAMETER:
        case OutputKind::GRADIENT_TO_USER_INPUT:
          state_->gradients.push_back({gradients.size(), made.kind, made.target});
          gradients.push_back(value);
          break;
        case OutputKind::TOKEN:
          break;
        default:
          graph_->call_operator("aten::copy_", {written(made), value});
      }
      state_->signature.output_specs.push_back(made);
    }
    state_->num_user_results = results.size();
    for (GradientOutput& gradient : state_->gradients) {
      gradient.result += results.size();
    }
    results.insert(results.end(), gradients.begin(), gradients.end());
    graph_->output(std::move(results));
  }

  static OutputSpec output_spec(const std::string& kind, const Json& spec, const std::string& name) {
    const struct {
      const char* kind;
      OutputKind output;
      const char* target;
    } table[] = {
        {"user_output", OutputKind::USER_OUTPUT, nullptr},
        {"loss_output", OutputKind::LOSS_OUTPUT, nullptr},
        {"token", OutputKind::TOKEN, nullptr},
        {"buffer_mutation", OutputKind::BUFFER_MUTATION, "buffer_name"},
        {"parameter_mutation", OutputKind::PARAMETER_MUTATION, "parameter_name"},
        {"gradient_to_parameter", OutputKind::GRADIENT_TO_PARAMETER, "parameter_name"},
        {"gradient_to_user_input", OutputKind::GRADIENT_TO_USER_INPUT, "user_input_name"},
        {"user_input_mutation", OutputKind::USER_INPUT_MUTATION, "user_input_name"},
    };
    for (const auto& row : table) {
      if (kind == row.kind) {
        return {row.output, name, row.target ? spec.at(row.target).as_string() : ""};
      }
    }
    TORCH_CHECK(false, "an output of kind '", kind, "' is not supported in exported programs");
  }

  /// The value that an output is written back to.
  Arg written(const OutputSpec& spec) const {
    const bool is_input = spec.kind == OutputKind::USER_INPUT_MUTATION;
    for (const InputSpec& input : state_->signature.input_specs) {
      if (is_input ? input.kind == InputKind::USER_INPUT && input.arg == spec.target
                   : input.kind != InputKind::USER_INPUT && input.target == spec.target) {
        return values_.at(input.arg);
      }
    }
    TORCH_CHECK(false, "the program writes to '", spec.target, "', which is none of its inputs");
  }

  // --- the module

  void make_module() {
    state_->module = std::make_shared<fx::GraphModule>(graph_, "ExportedProgram");
    std::set<std::string> parameters, fleeting;
    for (const InputSpec& input : state_->signature.input_specs) {
      if (input.kind == InputKind::PARAMETER) {
        parameters.insert(input.target);
      } else if (input.kind == InputKind::BUFFER && !input.persistent) {
        fleeting.insert(input.target);
      }
    }
    for (auto& [name, stored] : weights_) {
      TORCH_CHECK(stored.value.isTensor(), "the weight '", name, "' is no tensor but a ", stored.value.tagKind());
      const bool is_parameter = stored.is_parameter ? *stored.is_parameter : parameters.count(name) != 0;
      if (is_parameter) {
        state_->module->add_parameter(name, stored.value.toTensor());
        state_->parameters.push_back(name);
      } else {
        state_->module->add_buffer(name, stored.value.toTensor());
        state_->buffers.push_back(name);
      }
    }
    for (auto& [name, stored] : constants_) {
      if (state_->module->has_attr(name)) {
        continue;
      }
      if (fleeting.count(name) != 0) {
        state_->module->add_buffer(name, stored.value.toTensor());
      } else {
        state_->module->set_attr(name, stored.value);
      }
    }
    for (const InputSpec& input : state_->signature.input_specs) {
      TORCH_CHECK(
          input.target.empty() || state_->module->has_attr(input.target), "the file has no value '", input.target,
          "', which the program uses");
    }
  }

  void read_call_signature() {
    const Json* const calls = json_.at("graph_module").find("module_call_graph");
    if (!calls || calls->items().empty()) {
      return;
    }
    const Json* const signature = calls->items()[0].find("signature");
    if (!signature) {
      return;
    }
    NamedTupleFields fields;
    if (const Json* defined = json_.at("graph_module").find("treespec_namedtuple_fields")) {
      for (const auto& [name, names] : defined->members()) {
        for (const Json& field : names.at("field_names").items()) {
          fields[name].push_back(field.as_string());
        }
      }
    }
    state_->in_spec = TreeSpec::parse(signature->at("in_spec").as_string(), fields);
    state_->out_spec = TreeSpec::parse(signature->at("out_spec").as_string(), fields);
    const auto& parts = state_->in_spec->children();
    const bool is_call =
        parts.size() == 2 && parts[0].kind() == TreeSpec::Kind::Tuple && parts[1].kind() == TreeSpec::Kind::Dict;
    TORCH_CHECK(is_call, "a program must take a tuple and a dict of keywords");
    TORCH_CHECK(
        state_->in_spec->num_leaves() == state_->inputs.size(), "the program's arguments hold ",
        state_->in_spec->num_leaves(), " values, its graph takes ", state_->inputs.size());
    read_names(*signature, parts[0].children().size(), parts[1]);
  }

  void read_names(const Json& signature, size_t num_positional, const TreeSpec& keywords) {
    const size_t total = num_positional + keywords.keys().size();
    if (const Json* names = signature.find("forward_arg_names"); names && names->items().size() == total) {
      for (const Json& name : names->items()) {
        state_->arg_names.push_back(name.as_string());
      }
      return;
    }
    for (size_t i = 0; i < num_positional; ++i) {
      state_->arg_names.push_back("arg_" + std::to_string(i));
    }
    for (const IValue& key : keywords.keys()) {
      TORCH_CHECK(key.isString(), "a keyword must be a string");
      state_->arg_names.push_back(key.toStringRef());
    }
  }

  const Json& json_;
  const Json& graph_json_;
  StoredValues weights_;
  StoredValues constants_;
  GraphReader reader_;
  std::shared_ptr<ProgramState> state_;
  std::shared_ptr<fx::Graph> graph_;
  NamedValues values_;
  std::vector<fx::Node*> objects_;
};

} // namespace

std::shared_ptr<ProgramState> read_program(
    const Json& json, StoredValues weights, StoredValues constants, std::optional<c10::Device> device) {
  return ProgramReader(json, std::move(weights), std::move(constants), device).run();
}

} // namespace torch::program
