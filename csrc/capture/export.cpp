#include <csrc/capture/export.h>

#include <csrc/capture/dynamic_export.h>
#include <csrc/capture/keep_random_state.h>
#include <csrc/capture/recorder.h>
#include <csrc/program/program_state.h>
#include <csrc/serialize/byte_sink.h>
#include <csrc/serialize/tensor_file.h>

#include <algorithm>
#include <map>
#include <set>

namespace torch::capture {

namespace {

using c10::IValue;
using program::ProgramState;
using program::TreeSpec;

struct NamedTensor {
  at::Tensor tensor;
  bool is_parameter;
};
using NamedState = std::map<std::string, NamedTensor>;

/// The state of the modules: of several modules each path begins with the module's number.
NamedState state_of(const std::vector<std::shared_ptr<nn::Module>>& modules) {
  NamedState state;
  for (size_t i = 0; i < modules.size(); ++i) {
    TORCH_CHECK(modules[i] != nullptr, "export_: a module is null");
    const std::string prefix = modules.size() == 1 ? "" : std::to_string(i) + ".";
    for (const auto& item : modules[i]->named_parameters()) {
      state[prefix + item.key()] = {item.value(), true};
    }
    for (const auto& item : modules[i]->named_buffers()) {
      state[prefix + item.key()] = {item.value(), false};
    }
  }
  return state;
}

/// "x[1]['key']" as "x_1_key".
std::string node_name(const std::string& path) {
  std::string name;
  for (const char c : path) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_letter) {
      name += c;
    } else if (!name.empty() && name.back() != '_' && c != ']' && c != '\'') {
      name += '_';
    }
  }
  return name.empty() ? "arg" : name;
}

TreeSpec tree_of(const Shape& shape) {
  std::vector<TreeSpec> children;
  for (const Shape& child : shape.children) {
    children.push_back(tree_of(child));
  }
  switch (shape.kind) {
    case Shape::Kind::Leaf:
      return TreeSpec();
    case Shape::Kind::Tuple:
      return {TreeSpec::Kind::Tuple, std::move(children)};
    case Shape::Kind::List:
      return {TreeSpec::Kind::List, std::move(children)};
    case Shape::Kind::Dict:
      break;
  }
  return TreeSpec::dict(std::vector<IValue>(shape.keys.begin(), shape.keys.end()), std::move(children));
}

// Examples of inputs that are larger are not kept for program files.
constexpr size_t kMaxSampleBytes = size_t(1) << 26;

std::string pickled(const IValue& value) {
  serialize::VectorSink sink;
  serialize::write_pickle(sink, "archive", value);
  return sink.bytes.size() > kMaxSampleBytes ? std::string() : std::string(sink.bytes.begin(), sink.bytes.end());
}

class Exporter {
 public:
  Exporter(const ExportRun& run, const Leaves& inputs, const ExportOptions& options)
      : run_(run), inputs_(inputs), options_(options), named_(state_of(options.modules)) {
    for (const auto& [path, each] : named_) {
      known_.emplace(each.tensor.unsafeGetTensorImpl(), path);
    }
    for (const std::string& path : inputs.paths) {
      node_names_.push_back(node_name(path));
    }
  }

  ExportedProgram run(const std::vector<Shape>& args) {
    const std::vector<WantedSize> wanted = wanted_sizes(options_.dynamic, inputs_);
    const Tracer tracer = [this](const std::vector<IValue>& values) { return trace(values, /*is_first=*/false); };
    const Trace first = trace(inputs_.values, /*is_first=*/true);
    const auto graph = wanted.empty() ? first.graph : trace_dynamic(first, wanted, tracer);
    auto state = std::make_shared<ProgramState>();
    state->arg_names = argument_names(args.size(), options_.arg_names);
    make_module(*state, graph, first);
    add_signature(*state);
    add_ranges(*state, graph->sizes());
    add_hints(*state);
    std::vector<TreeSpec> trees;
    for (const Shape& arg : args) {
      trees.push_back(tree_of(arg));
    }
    const TreeSpec arguments(TreeSpec::Kind::Tuple, std::move(trees));
    state->in_spec = TreeSpec(TreeSpec::Kind::Tuple, {arguments, TreeSpec::dict({}, {})});
    state->out_spec = tree_of(first.results);
    size_t next = 0;
    state->sample_inputs = pickled(state->in_spec->unflatten(inputs_.values, next));
    return ExportedProgram(std::move(state));
  }

 private:
  Trace trace(const std::vector<IValue>& values, bool is_first) const {
    const KeepRandomState keep_random_state;
    std::vector<at::Tensor> tensors;
    for (const IValue& value : values) {
      tensors.push_back(value.isTensor() ? value.toTensor() : at::Tensor());
    }
    Trace trace{values, nullptr, {}, {}, {}, "", "", {}};
    Recorder recorder(tensors, node_names_, known_);
    recorder.undo_writes();
    Leaves results;
    Recording recording;
    try {
      recording = recorder.record([&] {
        trace.results = run_(values, results);
        std::vector<at::Tensor> made;
        for (const IValue& value : results.values) {
          made.push_back(value.isTensor() ? value.toTensor() : at::Tensor());
        }
        return made;
      });
    } catch (const std::exception& e) {
      if (is_first) {
        throw; // what the function itself says
      }
      const auto* const error = dynamic_cast<const c10::Error*>(&e);
      trace.error = error ? error->what_without_backtrace() : e.what();
      trace.failed_operator = recorder.failed_operator();
      trace.failed_sizes = recorder.failed_sizes();
      return trace;
    }
    TORCH_CHECK(recording.module, "export_: the function cannot be captured: ", recording.refused);
    trace.graph = std::const_pointer_cast<fx::Graph>(recording.module->graph().shared_from_this());
    trace.references = std::move(recording.references);
    return_constants(*trace.graph, results.values);
    lift_objects(*trace.graph, trace.objects);
    return trace;
  }

  /// Numbers among the results, which recorders do not know.
  static void return_constants(fx::Graph& graph, const std::vector<IValue>& results) {
    std::vector<fx::Arg> returned = graph.output_node()->args();
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].isTensor()) {
        returned[i] = results[i];
      }
    }
    graph.output(std::move(returned));
  }

  /// Objects of bound classes among the arguments of operators become attributes.
  static void lift_objects(fx::Graph& graph, std::vector<std::pair<std::string, IValue>>& objects) {
    std::vector<fx::Node*> attributes;
    for (fx::Node* node : graph.nodes()) {
      for (size_t i = 0; node->is_operator() && i < node->args().size(); ++i) {
        if (!node->args()[i].is_constant() || !node->args()[i].constant().isObject()) {
          continue;
        }
        const IValue object = node->args()[i].constant();
        const auto known =
            std::find_if(objects.begin(), objects.end(), [&](const auto& other) { return other.second.is(object); });
        const auto number = static_cast<size_t>(known - objects.begin());
        if (known == objects.end()) {
          const auto here = graph.inserting_before(node);
          objects.emplace_back("object_" + std::to_string(number), object);
          attributes.push_back(graph.get_attr(objects.back().first));
        }
        node->set_arg(i, attributes[number]);
      }
    }
  }

  /// With the graph alone: attributes become parameters and buffers where they are.
  void make_module(ProgramState& state, const std::shared_ptr<fx::Graph>& graph, const Trace& first) const {
    state.module = std::make_shared<fx::GraphModule>(graph, "ExportedProgram");
    for (const auto& [path, each] : named_) {
      if (each.is_parameter) {
        state.module->add_parameter(path, each.tensor);
        state.parameters.push_back(path);
      } else {
        state.module->add_buffer(path, each.tensor);
        state.buffers.push_back(path);
      }
    }
    for (const auto& [path, object] : first.objects) {
      state.module->set_attr(path, object);
    }
    for (const auto& [path, tensor] : first.references) {
      if (named_.count(path) == 0) {
        state.module->set_attr(path, tensor);
      }
    }
  }

  void add_signature(ProgramState& state) const {
    size_t input = 0;
    std::set<std::string> seen;
    for (fx::Node* node : state.module->graph().nodes()) {
      if (node->kind() == fx::NodeKind::GetAttr && seen.insert(node->target()).second) {
        const auto found = named_.find(node->target());
        const InputKind kind = state.module->attr(node->target()).isObject() ? InputKind::CUSTOM_OBJ
            : found == named_.end()                                          ? InputKind::CONSTANT_TENSOR
            : found->second.is_parameter                                     ? InputKind::PARAMETER
                                                                             : InputKind::BUFFER;
        state.signature.input_specs.push_back({kind, node->name(), node->target()});
      } else if (node->kind() == fx::NodeKind::Placeholder) {
        const IValue& value = inputs_.values[input++];
        state.signature.input_specs.push_back({InputKind::USER_INPUT, node->name(), ""});
        state.inputs.push_back({node, value.isTensor() ? std::nullopt : std::optional<IValue>(value)});
      }
    }
    for (const fx::Arg& result : state.module->graph().output_node()->args()) {
      const std::string name = result.is_value() ? result.value().node->name() : "";
      state.signature.output_specs.push_back({OutputKind::USER_OUTPUT, name, ""});
    }
    state.num_user_results = state.module->graph().output_node()->args().size();
  }

  /// Symbols of inputs are those that have a least size.
  static void add_ranges(ProgramState& state, const fx::SizeTable& sizes) {
    for (const fx::SizeTable::Entry& entry : sizes.entries()) {
      if (entry.op == fx::SizeOp::Symbol && entry.min) {
        state.ranges[entry.name] = {entry.min, entry.max};
      }
    }
  }

  /// The sizes of the inputs that were given.
  void add_hints(ProgramState& state) const {
    const fx::SizeTable& sizes = state.module->graph().sizes();
    for (size_t i = 0; i < state.inputs.size(); ++i) {
      const fx::TensorInfo* const info = state.inputs[i].node->info();
      for (size_t dim = 0; info && dim < info->sizes.size(); ++dim) {
        if (info->sizes[dim].is_expression()) {
          state.hints[sizes.print(info->sizes[dim])] = inputs_.values[i].toTensor().size(static_cast<int64_t>(dim));
        }
      }
    }
  }

  const ExportRun& run_;
  const Leaves& inputs_;
  const ExportOptions& options_;
  NamedState named_;
  KnownTensors known_;
  std::vector<std::string> node_names_;
};

} // namespace

std::vector<std::string> argument_names(size_t count, const std::vector<std::string>& given) {
  TORCH_CHECK(
      given.empty() || given.size() == count, "export_: ", given.size(), " names are given for ", count, " inputs");
  std::vector<std::string> names = given;
  for (size_t i = names.size(); i < count; ++i) {
    names.push_back("arg" + std::to_string(i));
  }
  return names;
}

ExportedProgram export_function(
    const ExportRun& run, const Leaves& inputs, const std::vector<Shape>& args, const ExportOptions& options) {
  return Exporter(run, inputs, options).run(args);
}

} // namespace torch::capture
