#include <csrc/jit/tracing/trace_module.h>

#include <aten/core/Generator.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/random.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/passes/lower_tuples.h>

#include <algorithm>
#include <cctype>
#include <mutex>
#include <unordered_map>

namespace torch::jit {

namespace {

// "torch::nn::Conv2dImpl" is class __torch__.torch.nn.Conv2d.
c10::QualifiedName class_name(std::string name) {
  for (size_t at = name.find("::"); at != std::string::npos; at = name.find("::", at)) {
    name.replace(at, 2, ".");
  }
  if (const size_t arguments = name.find('<'); arguments != std::string::npos) {
    name.resize(arguments);
  }
  const std::string suffix = "Impl";
  if (name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
    name.resize(name.size() - suffix.size());
  }
  std::string clean;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool begins = clean.empty() || clean.back() == '.';
    if (c == '.' && begins) {
      continue;
    }
    if (digit && begins) {
      clean.push_back('_');
    }
    clean.push_back(c == '.' || std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_');
  }
  while (!clean.empty() && clean.back() == '.') {
    clean.pop_back();
  }
  return c10::QualifiedName("__torch__." + (clean.empty() ? std::string("Traced") : clean));
}

// A module with the members of `module`. Modules that occur twice are one here, too.
Module mirrored(
    const nn::Module& module,
    const std::shared_ptr<CompilationUnit>& cu,
    std::unordered_map<const nn::Module*, Module>& done) {
  if (const auto found = done.find(&module); found != done.end()) {
    return found->second;
  }
  Module result(class_name(module.name()), cu, /*shouldMangle=*/true);
  done.emplace(&module, result);
  result.register_attribute("training", c10::BoolType::get(), module.is_training());
  for (const auto& parameter : module.named_parameters(/*recurse=*/false)) {
    result.register_parameter(parameter.key(), parameter.value(), /*is_buffer=*/false);
  }
  for (const auto& buffer : module.named_buffers(/*recurse=*/false)) {
    result.register_buffer(buffer.key(), buffer.value());
  }
  for (const auto& child : module.named_children()) {
    result.register_module(child.key(), mirrored(*child.value(), cu, done));
  }
  return result;
}

// Gives the nodes that a submodule makes its scope: the graph's scopes follow the modules' calls.
class ModuleScopes {
 public:
  explicit ModuleScopes(nn::Module* module) {
    if (module != nullptr) {
      watch(*module, "__module");
    }
  }
  ModuleScopes(const ModuleScopes&) = delete;
  ModuleScopes& operator=(const ModuleScopes&) = delete;
  ~ModuleScopes() {
    for (nn::RemovableHandle& hook : hooks_) {
      hook.remove();
    }
  }

 private:
  void watch(nn::Module& module, const std::string& path) {
    for (const auto& child : module.named_children()) {
      const std::string child_path = path + "." + child.key();
      hooks_.push_back(child.value()->register_forward_pre_hook([child_path](nn::Module&, std::vector<at::Tensor>&) {
        if (tracer::isTracing()) {
          tracer::getTracingState()->graph->push_scope(child_path);
        }
      }));
      hooks_.push_back(child.value()->register_forward_hook(
          [](nn::Module&, const std::vector<at::Tensor>&, std::vector<at::Tensor>&) {
            if (tracer::isTracing()) {
              tracer::getTracingState()->graph->pop_scope();
            }
          }));
      watch(*child.value(), child_path);
    }
  }

  std::vector<nn::RemovableHandle> hooks_;
};

// Parameters, buffers and the state of the generator, so that a function can run again from where it ran before.
class SavedState {
 public:
  explicit SavedState(nn::Module* module) : random_(at::detail::getDefaultCPUGenerator().get_state()) {
    if (module != nullptr) {
      const c10::NoGradGuard no_grad;
      for (const std::vector<at::Tensor>& tensors : {module->parameters(), module->buffers()}) {
        for (const at::Tensor& tensor : tensors) {
          tensors_.push_back(tensor);
          values_.push_back(tensor.detach().clone());
        }
      }
    }
  }
  void restore() {
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    {
      const std::lock_guard<std::mutex> lock(generator.mutex());
      generator.set_state(random_);
    }
    const c10::NoGradGuard no_grad;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      // Statistics of batch norm change without a new version, and what has not changed keeps its version.
      if (!at::equal(tensors_[i], values_[i])) {
        tensors_[i].detach().copy_(values_[i]);
      }
    }
  }

 private:
  at::Tensor random_;
  std::vector<at::Tensor> tensors_;
  std::vector<at::Tensor> values_;
};

using StackFunction = std::function<Stack(Stack)>;

Stack copied(const Stack& inputs) {
  Stack copies;
  for (const c10::IValue& input : inputs) {
    copies.push_back(
        input.isTensor() && input.toTensor().defined()
            ? c10::IValue(input.toTensor().detach().clone().requires_grad_(input.toTensor().requires_grad()))
            : input.deepcopy());
  }
  return copies;
}

std::shared_ptr<Graph> traced_graph(
    const StackFunction& function, nn::Module* module, Module& self, Stack inputs, const TraceOptions& options) {
  const ModuleScopes scopes(module);
  const auto traced = tracer::trace(
      std::move(inputs), function, nullptr, options.strict, options.force_outplace, &self, options.argument_names);
  std::shared_ptr<Graph> graph = traced.first->graph;
  EliminateDeadCode(graph);
  LowerSimpleTuples(graph);
  return graph;
}

void collect_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) {
      collect_tensors(element, tensors);
    }
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) {
      collect_tensors(element, tensors);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      collect_tensors(entry.value(), tensors);
    }
  }
}

std::vector<at::Tensor> tensors_of(const Stack& outputs) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& output : outputs) {
    collect_tensors(output, tensors);
  }
  return tensors;
}

bool is_close(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  if (!a.defined() || !b.defined()) {
    return a.defined() == b.defined();
  }
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
      at::allclose(a.detach(), b.detach(), tolerance, tolerance, /*equal_nan=*/true);
}

// Traces once more, then runs the function and the traced module from the same state.
class TraceCheck {
 public:
  TraceCheck(const StackFunction& function, nn::Module* module, const Stack& inputs, const TraceOptions& options)
      : function_(function), module_(module), inputs_(copied(inputs)), options_(options), before_(module) {}

  void run(Module& traced, const Graph& graph) {
    SavedState after(module_);
    const auto restore_after = std::shared_ptr<void>(nullptr, [&after](void*) { after.restore(); });
    compare_graphs(traced, graph);
    before_.restore();
    const std::vector<at::Tensor> expected = tensors_of(function_(copied(inputs_)));
    before_.restore();
    const std::vector<at::Tensor> got = tensors_of({traced.forward(copied(inputs_))});
    for (size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
      if (!is_close(got[i], expected[i], options_.check_tolerance)) {
        TORCH_WARN(
            "TracerWarning: Output nr ", i + 1,
            ". of the traced function does not match the corresponding output of "
            "the C++ function. The function depends on values that the trace holds fast, or changes tensors that are "
            "not inputs.");
      }
    }
  }

 private:
  void compare_graphs(Module& traced, const Graph& graph) {
    before_.restore();
    const std::string first = graph.toString(false);
    std::string second;
    {
      const bool warn = tracer::getTracerStateWarnMode().exchange(false);
      const auto restore_warn =
          std::shared_ptr<void>(nullptr, [warn](void*) { tracer::getTracerStateWarnMode() = warn; });
      second = traced_graph(function_, module_, traced, copied(inputs_), options_)->toString(false);
    }
    TORCH_CHECK(
        first == second,
        "Tracing failed sanity checks!\nERROR: Graphs differed across invocations!\nThe first graph:\n", first,
        "The second graph:\n", second);
  }

  const StackFunction& function_;
  nn::Module* module_;
  Stack inputs_;
  const TraceOptions& options_;
  SavedState before_;
};

} // namespace

Module trace(const StackFunction& function, nn::Module* module, Stack example_inputs, const TraceOptions& options) {
  TORCH_CHECK(function, "trace: got an empty function; give one that can be called");
  const auto cu = std::make_shared<CompilationUnit>();
  std::unordered_map<const nn::Module*, Module> done;
  Module self = module != nullptr ? mirrored(*module, cu, done) : Module(class_name(options.name), cu);
  std::optional<TraceCheck> check;
  if (options.check_trace) {
    check.emplace(function, module, example_inputs, options);
  }
  const std::shared_ptr<Graph> graph = traced_graph(function, module, self, std::move(example_inputs), options);
  const c10::QualifiedName name(*self.type()->name(), "forward");
  self.type()->addMethod(cu->create_function(name, graph));
  if (check) {
    check->run(self, *graph);
  }
  return self;
}

} // namespace torch::jit
