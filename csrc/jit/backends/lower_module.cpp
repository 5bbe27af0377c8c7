#include <csrc/jit/backends/lower_module.h>

#include <aten/core/custom_class_registry.h>
#include <aten/core/jit_type.h>
#include <aten/library/custom_class.h>
#include <c10/util/Exception.h>
#include <csrc/jit/frontend/sugared_value.h>

#include <atomic>
#include <mutex>
#include <sstream>

namespace torch::jit::detail {

namespace {

// PyTorch keeps what nodes' numbers mean in an object of this class, for its mobile interpreter. Classes of lowered
// modules name it, so that it has to be there; nothing is kept here.
struct BackendDebugInfo final : torch::CustomClassHolder {};
[[maybe_unused]] const auto kDebugInfoBound =
    torch::class_<BackendDebugInfo>("backendutils", "BackendDebugInfo").def(torch::init<>());

struct PreprocessFunctions {
  std::mutex mutex;
  std::unordered_map<std::string, BackendPreprocessFunction> by_backend;
};
// Registered while libraries are loaded.
PreprocessFunctions& preprocess_functions() {
  static auto& functions = *new PreprocessFunctions;
  return functions;
}

void number_nodes(Block& block, NodeToDebugHandle& handles) {
  static std::atomic<DebugHandleType> next{0};
  for (Node* node : block.nodes()) {
    handles.emplace(node, next++);
    for (Block* inner : node->blocks()) {
      number_nodes(*inner, handles);
    }
  }
}

NodeToDebugHandle debug_handles(const std::shared_ptr<Graph>& graph) {
  NodeToDebugHandle handles;
  number_nodes(*graph->block(), handles);
  return handles;
}

// Exception is a name of Python, which sources of programs do not know.
struct LoweredResolver final : NativeResolver {
  SugaredValuePtr resolveValue(const std::string& name, GraphFunction& method, const SourceRange& range) override {
    return name == "Exception" ? std::make_shared<ExceptionValue>(name)
                               : NativeResolver::resolveValue(name, method, range);
  }
};

// ---- sources of the methods -----------------------------------------------------------------------------------------

constexpr const char* kStateMethods = R"(
def __is_available(self):
    return self.__backend.is_available()

def __create_backend_debug_info(self):
    self.__backend_debug_info = torch.classes.backendutils.BackendDebugInfo()

def __getstate__(self):
    return self.__method_compile_spec, self.__processed_module, True

def __setstate__(self, state: Tuple[Dict[str, Any], Any, bool]):
    self.__method_compile_spec = state[0]
    self.__processed_module = state[1]
    if state[2]:
        self.__create_backend()
        self.__create_backend_debug_info()
    if self.__backend.is_available():
        self.__handles = self.__backend.compile(self.__processed_module, self.__method_compile_spec)
    else:
        raise Exception("Backend is not available.")
)";

struct MethodSource {
  std::string declaration; // "def forward(self, x: Tensor, y: Tensor):\n"
  std::string arguments; // "x, y"
};

MethodSource method_source(const c10::FunctionSchema& schema) {
  std::ostringstream declaration;
  std::string arguments;
  declaration << "def " << schema.name() << "(self";
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.name() != "self") {
      declaration << ", " << argument.name() << ": " << argument.type()->annotation_str();
      arguments += (arguments.empty() ? "" : ", ") + argument.name();
    }
  }
  declaration << "):\n";
  return {declaration.str(), std::move(arguments)};
}

std::vector<c10::TypePtr> result_types(const c10::TypePtr& result) {
  const auto tuple = result->cast<c10::TupleType>();
  return tuple ? tuple->elements().vec() : std::vector<c10::TypePtr>{result};
}

std::string lowered_method(const c10::FunctionSchema& schema) {
  TORCH_CHECK(schema.returns().size() == 1, "method ", schema.name(), " must return one value to be lowered");
  const c10::TypePtr& result = schema.returns().front().type();
  std::string unpacked;
  std::ostringstream checks;
  size_t count = 0;
  for (const c10::TypePtr& type : result_types(result)) {
    const std::string name = "_" + std::to_string(count++);
    checks << "        assert isinstance(" << name << ", " << type->annotation_str() << ")\n";
    unpacked += name + ", ";
  }
  // The comma makes a tuple, also of one element.
  const std::string returned = result->cast<c10::TupleType>() ? unpacked : "_0";
  const MethodSource source = method_source(schema);
  std::ostringstream text;
  text << source.declaration << "    typed_inputs: List[Any] = [" << source.arguments << "]\n"
       << "    if self.__backend.is_available():\n"
       << "        " << unpacked << "= self.__backend.execute(self.__handles[\"" << schema.name()
       << "\"], typed_inputs)\n"
       << checks.str() << "        return " << returned << "\n"
       << "    else:\n        raise Exception(\"Backend is not available.\")\n";
  return text.str();
}

std::string wrapper_method(const c10::FunctionSchema& schema) {
  const MethodSource source = method_source(schema);
  return source.declaration + "    return self.__loweredModule__." + schema.name() + "(" + source.arguments + ")\n";
}

// ---- the modules ----------------------------------------------------------------------------------------------------

Module new_module(const char* kind, const std::string& backend_name, const Module& original) {
  return Module(
      std::string("torch.jit.") + kind + "." + backend_name + "." + original.type()->name()->qualifiedName(),
      std::make_shared<CompilationUnit>(), /*shouldMangle=*/true);
}

void add_attributes(
    Module& lowered, const std::string& backend_name, IValue processed, IValue spec, const c10::DictTypePtr& dict) {
  const c10::ClassTypePtr backend = torch::getCustomClass("__torch__.torch.classes.__backends__." + backend_name);
  TORCH_CHECK(
      backend, "Backend ", backend_name, " is not registered: the program needs a torch::jit::backend<T>(\"",
      backend_name, "\")");
  lowered.register_attribute("__processed_module", c10::AnyType::get(), std::move(processed));
  lowered.register_attribute("__method_compile_spec", dict, std::move(spec));
  lowered.register_attribute("__backend", backend, IValue());
  lowered.register_attribute("__handles", dict, c10::impl::GenericDict(dict->getKeyType(), dict->getValueType()));
  lowered.register_attribute(
      "__backend_debug_info",
      c10::OptionalType::create(torch::getCustomClass("__torch__.torch.classes.backendutils.BackendDebugInfo")),
      IValue());
}

// As after loading from a file, if the backend is there.
void make_ready(Module& lowered, const std::string& backend_name) {
  lowered.run_method("__create_backend");
  lowered.run_method("__create_backend_debug_info");
  if (lowered.run_method("__is_available").toBool()) {
    lowered.run_method(
        "__setstate__",
        c10::ivalue::Tuple::create(
            lowered.attr("__method_compile_spec"), lowered.attr("__processed_module"), /*create_backend=*/false));
  } else {
    TORCH_WARN(
        "Backend [", backend_name,
        "] is not available. Execution of this Module is still possible by saving and loading on a device where the "
        "backend is available.");
  }
}

} // namespace

void registerBackendPreprocessFunction(const std::string& name, const BackendPreprocessFunction& preprocess) {
  PreprocessFunctions& functions = preprocess_functions();
  const std::lock_guard<std::mutex> lock(functions.mutex);
  TORCH_CHECK(
      functions.by_backend.emplace(name, preprocess).second, "Preprocessing function for backend ", name,
      " is already registered. Ensure that registration is only called once.");
}

bool hasBackendPreprocessFunction(const std::string& name) {
  PreprocessFunctions& functions = preprocess_functions();
  const std::lock_guard<std::mutex> lock(functions.mutex);
  return functions.by_backend.count(name) != 0;
}

BackendPreprocessFunction getBackendPreprocessFunction(const std::string& name) {
  PreprocessFunctions& functions = preprocess_functions();
  const std::lock_guard<std::mutex> lock(functions.mutex);
  const auto found = functions.by_backend.find(name);
  TORCH_CHECK(found != functions.by_backend.end(), "Preprocessing function for backend ", name, " is not registered.");
  return found->second;
}

Module codegen_backend_module(
    const std::string& backend_name,
    const Module& orig_module,
    const c10::Dict<c10::IValue, c10::IValue>& method_compile_spec,
    const c10::DictTypePtr& any_dict_ty) {
  Module lowered = new_module("LoweredModule", backend_name, orig_module);
  Module wrapper = new_module("LoweredWrapper", backend_name, orig_module);
  const BackendPreprocessFunction preprocess = getBackendPreprocessFunction(backend_name);
  add_attributes(
      lowered, backend_name, preprocess(orig_module.clone(), method_compile_spec, debug_handles), method_compile_spec,
      any_dict_ty);
  const auto resolver = std::make_shared<LoweredResolver>();
  lowered.define(
      "def __create_backend(self):\n    self.__backend = torch.classes.__backends__." + backend_name + "()\n",
      resolver);
  lowered.define(kStateMethods, resolver);
  std::string wrapper_methods;
  for (const auto& entry : method_compile_spec) {
    const c10::FunctionSchema& schema = orig_module.get_method(entry.key().toStringRef()).function().getSchema();
    lowered.define(lowered_method(schema), resolver);
    wrapper_methods += wrapper_method(schema);
  }
  make_ready(lowered, backend_name);
  // A module around it, so that copies and classes of programs do not meet its state methods.
  wrapper.register_module("__loweredModule__", lowered);
  wrapper.define(wrapper_methods);
  return wrapper;
}

} // namespace torch::jit::detail
