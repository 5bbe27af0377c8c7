#include <aten/core/op_registration/op_registration.h>

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/schema_parser.h>

#include <set>

namespace c10 {

namespace {

constexpr const char* kDebug = "registered by RegisterOperators";

} // namespace

RegisterOperators::Options&& RegisterOperators::Options::schema(const std::string& schemaOrName) && {
  TORCH_CHECK(!schema_or_name_, "Tried to register operator ", schemaOrName, " but specified schema multiple times. You can only specify the schema once per operator registration.");
  schema_or_name_ = torch::jit::parseSchemaOrName(schemaOrName);
  return std::move(*this);
}

RegisterOperators::Options&& RegisterOperators::Options::add(std::optional<DispatchKey> key, KernelFunction func,
    std::optional<impl::CppSignature> cpp_signature, std::unique_ptr<FunctionSchema> inferred_function_schema) && {
  kernels_.push_back(Kernel{key, std::move(func), std::move(cpp_signature), std::move(inferred_function_schema)});
  return std::move(*this);
}

void RegisterOperators::register_op(Options&& options) {
  TORCH_CHECK(options.schema_or_name_, "In operator registration: Tried to register an operator without specifying a schema or operator name.");
  std::optional<FunctionSchema> schema;
  if (const auto* name = std::get_if<OperatorName>(&*options.schema_or_name_)) {
    for (const auto& kernel : options.kernels_) {
      if (!kernel.inferred_function_schema) continue;
      schema = kernel.inferred_function_schema->cloneWithName(name->name, name->overload_name);
      break;
    }
    TORCH_CHECK(schema, "Cannot infer operator schema for operator ", *name,
        options.kernels_.empty() ? " because there is no kernel specified." : " because its kernels are boxed functions.",
        " Please explicitly specify the operator schema.");
  } else {
    schema = std::get<FunctionSchema>(std::move(*options.schema_or_name_));
  }
  TORCH_CHECK(schema->getNamespace(), "operator ", schema->operator_name(), " needs a namespace: \"ns::", schema->name(), "\"");

  std::set<std::optional<DispatchKey>> seen;
  for (const auto& kernel : options.kernels_) {
    TORCH_CHECK(seen.insert(kernel.dispatch_key).second, "In operator registration: Tried to register multiple kernels with same dispatch key ",
        kernel.dispatch_key ? toString(*kernel.dispatch_key) : "(catch all)", " for operator schema ", toString(*schema));
  }
  if (options.alias_analysis_) schema->setAliasAnalysis(*options.alias_analysis_);
  const OperatorName name = schema->operator_name();
  registrars_.push_back(Dispatcher::singleton().registerDef(std::move(*schema), kDebug));
  for (auto& kernel : options.kernels_) {
    registrars_.push_back(Dispatcher::singleton().registerImpl(name, kernel.dispatch_key, std::move(kernel.func),
        std::move(kernel.cpp_signature), std::move(kernel.inferred_function_schema), kDebug));
  }
}

} // namespace c10
