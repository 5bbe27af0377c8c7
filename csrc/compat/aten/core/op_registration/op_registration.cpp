#include <csrc/compat/aten/core/op_registration/op_registration.h>

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/schema_parser.h>

#include <optional>
#include <set>
#include <variant>

namespace c10 {

namespace {

constexpr const char* kDebug = "registered by RegisterOperators";

} // namespace

struct RegisterOperators::Options::Registration {
  struct Kernel {
    std::optional<DispatchKey> dispatch_key;
    KernelFunction func;
    const std::type_info* signature;
    OwnedPtr<FunctionSchema> inferred_schema;
  };

  std::optional<std::variant<OperatorName, FunctionSchema>> schema_or_name;
  std::vector<Kernel> kernels;
  std::optional<AliasAnalysisKind> alias_analysis;
};

RegisterOperators::Options::Options() : registration_(new Registration()) {}
RegisterOperators::Options::Options(Options&&) noexcept = default;
RegisterOperators::Options& RegisterOperators::Options::operator=(Options&&) noexcept = default;
RegisterOperators::Options::~Options() = default;

RegisterOperators::Options&& RegisterOperators::Options::schema(const std::string& schemaOrName) && {
  TORCH_CHECK(
      !registration_->schema_or_name, "Tried to register operator ", schemaOrName,
      " but specified schema multiple times. You can only specify the schema once per operator registration.");
  registration_->schema_or_name = torch::jit::parseSchemaOrName(schemaOrName);
  return std::move(*this);
}

RegisterOperators::Options&& RegisterOperators::Options::aliasAnalysis(AliasAnalysisKind kind) && {
  registration_->alias_analysis = kind;
  return std::move(*this);
}

RegisterOperators::Options&& RegisterOperators::Options::add(
    DispatchKey key,
    KernelFunction func,
    const std::type_info* signature,
    OwnedPtr<FunctionSchema> inferred_schema) && {
  registration_->kernels.push_back(
      {key == DispatchKey::CatchAll ? std::nullopt : std::optional<DispatchKey>(key), std::move(func), signature,
       std::move(inferred_schema)});
  return std::move(*this);
}

void RegisterOperators::register_op(Options&& options) {
  Options::Registration& registration = *options.registration_;
  TORCH_CHECK(
      registration.schema_or_name,
      "In operator registration: Tried to register an operator without specifying a schema or operator name.");
  std::optional<FunctionSchema> schema;
  if (const auto* name = std::get_if<OperatorName>(&*registration.schema_or_name)) {
    for (const auto& kernel : registration.kernels) {
      if (!kernel.inferred_schema) {
        continue;
      }
      schema = kernel.inferred_schema->cloneWithName(name->name, name->overload_name);
      break;
    }
    TORCH_CHECK(
        !registration.kernels.empty(), "Cannot infer operator schema in registration of operator ", *name,
        " because there is no kernel specified.");
    TORCH_CHECK(
        schema, "Cannot infer operator schema for this kind of kernel in registration of operator ", *name,
        ". Please explicitly specify the operator schema or specify at least one kernel for which we can infer the "
        "schema.");
    TORCH_CHECK(
        registration.alias_analysis != AliasAnalysisKind::FROM_SCHEMA,
        "In operator registration: Tried to register operator ", *schema,
        " with AliasAnalysisKind::FROM_SCHEMA, but the schema is inferred.");
  } else {
    schema = std::get<FunctionSchema>(std::move(*registration.schema_or_name));
  }
  TORCH_CHECK(
      schema->getNamespace(), "operator ", schema->operator_name(), " needs a namespace: \"ns::", schema->name(), "\"");

  std::set<std::optional<DispatchKey>> seen;
  for (const auto& kernel : registration.kernels) {
    if (seen.insert(kernel.dispatch_key).second) {
      continue;
    }
    TORCH_CHECK(
        kernel.dispatch_key,
        "In operator registration: Tried to register multiple catch-all kernels for operator schema ", *schema);
    TORCH_CHECK(
        false, "In operator registration: Tried to register multiple kernels with same dispatch key ",
        *kernel.dispatch_key, " for operator schema ", *schema);
  }
  if (registration.alias_analysis) {
    schema->setAliasAnalysis(*registration.alias_analysis);
  }
  const OperatorName name = schema->operator_name();
  registrars_->push_back(Dispatcher::singleton().registerDef(std::move(*schema), kDebug));
  for (auto& kernel : registration.kernels) {
    registrars_->push_back(Dispatcher::singleton().registerImpl(
        name, kernel.dispatch_key, std::move(kernel.func),
        kernel.signature ? std::optional<impl::CppSignature>(*kernel.signature) : std::nullopt,
        std::unique_ptr<FunctionSchema>(kernel.inferred_schema.release()), kDebug));
  }
}

} // namespace c10
