#include <aten/library/library.h>

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/schema_parser.h>
#include <c10/core/Backend.h>
#include <c10/util/StringUtil.h>

namespace torch {

namespace {

const char* kind_name(Library::Kind kind) {
  switch (kind) {
    case Library::DEF:
      return "TORCH_LIBRARY";
    case Library::IMPL:
      return "TORCH_LIBRARY_IMPL";
    case Library::FRAGMENT:
      return "TORCH_LIBRARY_FRAGMENT";
  }
  return "(unknown)";
}

constexpr const char* kAnyNamespace = "_";

// CatchAll is the old way to say "any key".
std::optional<c10::DispatchKey> first_key(c10::DispatchKey of_kernel, c10::DispatchKey of_block) {
  const c10::DispatchKey key = of_kernel == c10::DispatchKey::CatchAll ? of_block : of_kernel;
  return key == c10::DispatchKey::CatchAll ? std::nullopt : std::optional<c10::DispatchKey>(key);
}

std::optional<c10::impl::CppSignature> signature_of(const std::type_info* type) {
  return type ? std::optional<c10::impl::CppSignature>(*type) : std::nullopt;
}

} // namespace

CppFunction::CppFunction(
    c10::KernelFunction func, const std::type_info* signature, c10::OwnedPtr<c10::FunctionSchema> schema)
    : func_(std::move(func)), signature_(signature), schema_(std::move(schema)) {}
CppFunction::~CppFunction() = default;
CppFunction::CppFunction(CppFunction&&) noexcept = default;

c10::DispatchKey dispatch_key_of(c10::DeviceType type) {
  switch (type) {
#define C10_CASE(name)        \
  case c10::DeviceType::name: \
    return c10::DispatchKey::name;
    C10_CASE(CPU)
    C10_CASE(CUDA)
    C10_CASE(IPU)
    C10_CASE(XLA)
    C10_CASE(Lazy)
    C10_CASE(XPU)
    C10_CASE(MPS)
    C10_CASE(Meta)
    C10_CASE(HIP)
    C10_CASE(MAIA)
    C10_CASE(HPU)
    C10_CASE(MTIA)
    C10_CASE(PrivateUse1)
#undef C10_CASE
    default:
      TORCH_CHECK(
          false, "Device type ", c10::DeviceTypeName(type), " cannot be overloaded at dispatch time, ",
          "please file a bug report explaining what you were trying to do.");
  }
}

c10::FunctionSchema schema(const char* str, c10::AliasAnalysisKind k, bool allow_typevars) {
  c10::FunctionSchema parsed = torch::jit::parseSchema(str, allow_typevars);
  parsed.setAliasAnalysis(k);
  return parsed;
}
c10::FunctionSchema schema(const char* str, bool allow_typevars) {
  return schema(str, c10::AliasAnalysisKind::FROM_SCHEMA, allow_typevars);
}

namespace detail {

std::variant<c10::OperatorName, c10::FunctionSchema> constructSchemaOrName(const char* str) {
  auto parsed = torch::jit::parseSchemaOrName(str);
  if (auto* const schema = std::get_if<c10::FunctionSchema>(&parsed)) {
    schema->setAliasAnalysis(c10::AliasAnalysisKind::FROM_SCHEMA);
  }
  return parsed;
}

std::variant<c10::OperatorName, c10::FunctionSchema> constructSchemaOrName(const std::string& str) {
  return constructSchemaOrName(str.c_str());
}

std::variant<c10::OperatorName, c10::FunctionSchema> constructSchemaOrName(c10::FunctionSchema&& s) {
  return std::move(s);
}

std::variant<c10::OperatorName, c10::FunctionSchema> constructSchemaOrName(c10::OperatorName&& n) {
  return std::move(n);
}

} // namespace detail

Library::Library(Kind kind, std::string ns, std::optional<c10::DispatchKey> k, const char* file, uint32_t line)
    : kind_(kind),
      has_ns_(ns != kAnyNamespace),
      ns_(has_ns_ ? std::move(ns) : std::string()),
      dispatch_key_(k.value_or(c10::DispatchKey::CatchAll)),
      file_(file),
      line_(line) {
  switch (kind_) {
    case DEF:
      registrars_->push_back(c10::Dispatcher::singleton().registerLibrary(this->ns(), debugString()));
      [[fallthrough]];
    case FRAGMENT:
      TORCH_CHECK(
          has_ns_, "cannot define ", kind_name(kind_), " with the wildcard namespace _ (every ", kind_name(kind_),
          " defines operators for a distinct namespace!) Did you mean to use TORCH_LIBRARY_IMPL instead?  Error "
          "occurred at ",
          debugString());
      TORCH_CHECK(
          dispatch_key_ == c10::DispatchKey::CatchAll, kind_name(kind_), " takes no dispatch key (got ",
          toString(dispatch_key_), "); use TORCH_LIBRARY_IMPL. ", debugString());
      break;
    case IMPL:
      break;
  }
}

const std::string& Library::ns() const {
  TORCH_CHECK(
      has_ns_, "cannot define ", kind_name(kind_), " with the wildcard namespace _. Error occurred at ", debugString());
  return ns_;
}

std::string Library::debugString(const char* file, uint32_t line) const {
  return c10::str("registered at ", file, ":", line);
}

void Library::registrarsAdd(c10::RegistrationHandleRAII raii) {
  registrars_->push_back(std::move(raii));
}

void Library::reset() {
  registrars_->clear();
}

Library& Library::_def(
    c10::FunctionSchema&& schema,
    c10::OperatorName* out_name,
    const std::vector<at::Tag>& tags,
    _RegisterOrVerify rv) & {
  TORCH_CHECK(
      kind_ == DEF || kind_ == FRAGMENT, "def(\"", schema.operator_name(),
      "\"): Cannot define an operator inside of a ", kind_name(kind_),
      " block.  All def()s should be placed in the (unique) TORCH_LIBRARY block for their namespace.  ", debugString());
  const std::optional<std::string_view> given = schema.getNamespace();
  TORCH_CHECK(
      !given || *given == ns_, "Explicitly provided namespace (", given.value_or(""),
      ") in schema string does not match namespace of enclosing ", kind_name(kind_), " block (", ns_,
      ").  Move this definition to the (unique) TORCH_LIBRARY block corresponding to this namespace ",
      "(and consider deleting the namespace from your schema string.)  ", debugString());
  schema.setNamespaceIfNotSet(ns_.c_str());
  if (out_name) {
    *out_name = schema.operator_name();
  }
  if (rv == _RegisterOrVerify::VERIFY) {
    c10::Dispatcher::singleton().findSchemaOrThrow(schema.name().c_str(), schema.overload_name().c_str());
    return *this;
  }
  registrars_->push_back(c10::Dispatcher::singleton().registerDef(std::move(schema), debugString(), tags));
  return *this;
}

Library& Library::_def(
    std::variant<c10::OperatorName, c10::FunctionSchema>&& name_or_schema,
    CppFunction&& f,
    const std::vector<at::Tag>& tags) & {
  std::optional<c10::FunctionSchema> schema;
  if (std::holds_alternative<c10::FunctionSchema>(name_or_schema)) {
    schema = std::get<c10::FunctionSchema>(std::move(name_or_schema));
  } else {
    const c10::OperatorName& name = std::get<c10::OperatorName>(name_or_schema);
    TORCH_CHECK(
        f.schema_, "def(\"", name, "\"): Full schema string was not specified, and we couldn't infer schema either.  ",
        "Please explicitly provide a schema string.  ", debugString());
    schema = f.schema_->cloneWithName(name.name, name.overload_name);
    // A C++ type does not tell what a kernel writes to.
    schema->setAliasAnalysis(c10::AliasAnalysisKind::CONSERVATIVE);
  }
  c10::OperatorName name("", "");
  _def(std::move(*schema), &name, tags, _RegisterOrVerify::REGISTER);
  const std::optional<c10::DispatchKey> key = first_key(f.dispatch_key_, dispatch_key_);
  registrars_->push_back(c10::Dispatcher::singleton().registerImpl(
      std::move(name), key, std::move(f.func_), signature_of(f.signature_),
      std::unique_ptr<c10::FunctionSchema>(f.schema_.release()), f.debug_.empty() ? debugString() : f.debug_));
  return *this;
}

c10::OperatorName Library::_parseNameForLib(const char* name_str) const {
  c10::OperatorName name = torch::jit::parseName(name_str);
  if (!has_ns_) {
    return name;
  }
  const std::optional<std::string_view> given = name.getNamespace();
  TORCH_CHECK(
      !given || *given == ns_, "Explicitly provided namespace (", given.value_or(""),
      ") in operator name does not match namespace of enclosing ", kind_name(kind_), " block (", ns_,
      ").  Move this definition to the ", kind_name(kind_), " block corresponding to this namespace ",
      "(and consider deleting the namespace from your schema string.)  ", debugString());
  name.setNamespaceIfNotSet(ns_.c_str());
  return name;
}

c10::OperatorName Library::_resolve(const char* name) const {
  return _parseNameForLib(name);
}

Library& Library::_impl(const char* name_str, CppFunction&& f, _RegisterOrVerify rv) & {
  c10::OperatorName name = _parseNameForLib(name_str);
  TORCH_CHECK(
      f.dispatch_key_ == c10::DispatchKey::CatchAll || dispatch_key_ == c10::DispatchKey::CatchAll ||
          f.dispatch_key_ == dispatch_key_,
      "Explicitly provided dispatch key (", toString(f.dispatch_key_),
      ") is inconsistent with the dispatch key of the enclosing ", kind_name(kind_), " block (",
      toString(dispatch_key_), ").  Please declare a separate ", kind_name(kind_),
      " block for this dispatch key and move your impl() there.  ", debugString());
  const std::optional<c10::DispatchKey> key = first_key(f.dispatch_key_, dispatch_key_);
  if (rv == _RegisterOrVerify::VERIFY) {
    const auto op = c10::Dispatcher::singleton().findOp(name);
    TORCH_CHECK(
        op && op->hasKernelForDispatchKey(key.value_or(c10::DispatchKey::CompositeImplicitAutograd)),
        "no kernel is registered for ", name, ". ", debugString());
    return *this;
  }
  registrars_->push_back(c10::Dispatcher::singleton().registerImpl(
      std::move(name), key, std::move(f.func_), signature_of(f.signature_),
      std::unique_ptr<c10::FunctionSchema>(f.schema_.release()), f.debug_.empty() ? debugString() : f.debug_));
  return *this;
}

Library& Library::_fallback(CppFunction&& f) & {
  TORCH_CHECK(
      kind_ == IMPL, "fallback(...): Cannot define a fallback inside of a ", kind_name(kind_),
      " block; use TORCH_LIBRARY_IMPL(_, key, m).  ", debugString());
  const std::optional<c10::DispatchKey> key = first_key(f.dispatch_key_, dispatch_key_);
  TORCH_CHECK(key, "fallback(...): a fallback needs a dispatch key.  ", debugString());
  TORCH_CHECK(
      !has_ns_, "fallback(...): Fallback functions which apply to only a single namespace (you specified ", ns_,
      ") are not supported.  If you intended to apply this fallback function globally, please define a separate "
      "block:\n\n",
      "    TORCH_LIBRARY_IMPL(_, ", toString(*key), ", m) {\n        m.fallback(...);\n    }\n\n", debugString());
  registrars_->push_back(c10::Dispatcher::singleton().registerFallback(
      *key, std::move(f.func_), f.debug_.empty() ? debugString() : f.debug_));
  return *this;
}

detail::TorchLibraryInit::TorchLibraryInit(
    Library::Kind kind, InitFn* fn, const char* ns, std::optional<c10::DispatchKey> k, const char* file, uint32_t line)
    : lib_(kind, ns, k, file, line) {
  fn(lib_);
}

} // namespace torch
