#include <csrc/jit/serialize/source_importer.h>

#include <aten/core/custom_class_registry.h>
#include <c10/util/Exception.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/frontend/emitter.h>
#include <csrc/jit/frontend/syntax_parser.h>
#include <csrc/jit/serialize/import_values.h>
#include <csrc/jit/serialize/stack_room.h>
#include <csrc/jit/serialize/upgraders.h>

#include <limits>

namespace torch::jit {

namespace {

constexpr std::string_view kCustomClasses = "__torch__.torch.classes.";

} // namespace

SourceImporterImpl::SourceImporterImpl(
    const std::shared_ptr<CompilationUnit>& cu, Constants constants, SourceLoader source_loader, uint64_t version)
    : cu_(cu), constants_(std::move(constants)), source_loader_(std::move(source_loader)), version_(version) {}

SourceImporterImpl::~SourceImporterImpl() = default;

CompilationUnit& SourceImporterImpl::unit() const {
  // What is compiled belongs to the unit, so it is there.
  const std::shared_ptr<CompilationUnit> cu = cu_.lock();
  TORCH_CHECK(cu, "the compilation unit of an archive's program is gone: keep the module, or an object of it");
  return *cu;
}

// ---- finding definitions --------------------------------------------------------------------------------------------

void SourceImporterImpl::index_source(const std::string& qualifier) {
  if (!indexed_.insert(qualifier).second) {
    return;
  }
  const std::shared_ptr<Source> source = source_loader_(qualifier);
  if (!source) {
    return;
  }
  SourceIndex index(source);
  for (IndexedDefinition& definition : index.definitions) {
    const std::string& name = definition.all.name;
    TORCH_CHECK(!name.empty(), "a definition in the source of ", qualifier, " has no name");
    const c10::QualifiedName full_name(qualifier.empty() ? name : qualifier + '.' + name);
    pending_.insert_or_assign(full_name, Pending{source, std::move(definition)});
  }
}

const SourceImporterImpl::Pending* SourceImporterImpl::find_pending(const c10::QualifiedName& name) {
  index_source(name.prefix());
  const auto found = pending_.find(name);
  return found == pending_.end() ? nullptr : &found->second;
}

TypePtr SourceImporterImpl::findNamedType(const c10::QualifiedName& name) {
  if (name.qualifiedName().compare(0, kCustomClasses.size(), kCustomClasses) == 0) {
    return torch::getCustomClass(name.qualifiedName());
  }
  const auto lock = unit().lock();
  if (c10::NamedTypePtr known = unit().get_type(name)) {
    return known;
  }
  const auto known = enums_.find(name);
  if (known != enums_.end()) {
    return known->second;
  }
  const Pending* pending = find_pending(name);
  return pending && pending->definition.is_class ? import_type(name, *pending) : nullptr;
}

Function* SourceImporterImpl::findFunction(const c10::QualifiedName& name) {
  const auto lock = unit().lock();
  if (Function* known = unit().find_function(name)) {
    return known;
  }
  const Pending* pending = find_pending(name);
  return pending && !pending->definition.is_class ? define_later(name, *pending, pending->definition.all, nullptr)
                                                  : nullptr;
}

// ---- names in sources -----------------------------------------------------------------------------------------------

std::shared_ptr<SugaredValue> SourceImporterImpl::resolveValue(
    const std::string& name, GraphFunction&, const SourceRange&) {
  if (name == "torch") {
    return torchOfVersion(version_);
  }
  if (name == "__torch__") {
    return std::make_shared<ArchiveNamespace>(c10::QualifiedName(name), shared_from_this());
  }
  if (name == "CONSTANTS") {
    return std::make_shared<ArchiveConstants>(constants_);
  }
  if (name == "ops") {
    return std::make_shared<OpsValue>();
  }
  // What nodes without a spelling in Python are written as.
  static const auto& forms = *new std::unordered_map<std::string, Symbol>{
      {"annotate", prim::annotate},
      {"unchecked_cast", prim::unchecked_cast},
      {"uninitialized", prim::Uninitialized},
      {"fork", prim::fork},
      {"awaitable", prim::awaitable}};
  if (const auto form = forms.find(name); form != forms.end()) {
    return SpecialFormValue::create(form->second);
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (name == "inf" || name == "nan") {
    return std::make_shared<ConstantValue>(IValue(name == "inf" ? kInfinity : kNan));
  }
  if (name == "infj" || name == "nanj") {
    return std::make_shared<ConstantValue>(IValue(c10::complex<double>(0, name == "infj" ? kInfinity : kNan)));
  }
  return nullptr;
}

TypePtr SourceImporterImpl::resolveType(const std::string& name, const SourceRange&) {
  return name.find('.') == std::string::npos ? nullptr : findNamedType(c10::QualifiedName(name));
}

// ---- functions ------------------------------------------------------------------------------------------------------

Function* SourceImporterImpl::define_later(
    const c10::QualifiedName& name, const Pending& pending, const SourcePart& part, c10::ClassTypePtr self) {
  const auto importer = shared_from_this();
  const std::shared_ptr<Source> source = pending.source;
  auto creator = [importer, source, part, self = std::move(self)](GraphFunction& method) {
    check_stack_room("functions that call each other");
    SyntaxParser parser(source, part.begin, part.end);
    const SyntaxPtr definition = parser.parseFunction();
    const std::optional<SimpleSelf> own = self ? std::optional<SimpleSelf>(self) : std::nullopt;
    compileFunction(*definition, own ? &*own : nullptr, method, importer);
  };
  return unit().register_function(std::make_unique<GraphFunction>(name, std::make_shared<Graph>(), std::move(creator)));
}

// ---- for programs ---------------------------------------------------------------------------------------------------

SourceImporter::SourceImporter(
    std::shared_ptr<CompilationUnit> cu,
    const std::vector<at::IValue>* constant_table,
    SourceLoader loader,
    size_t version)
    : cu_(std::move(cu)),
      impl_(std::make_shared<SourceImporterImpl>(
          cu_, SourceImporterImpl::Constants(std::shared_ptr<void>(), constant_table), std::move(loader), version)) {}

SourceImporter::~SourceImporter() = default;

TypePtr SourceImporter::loadType(const c10::QualifiedName& name) const {
  return impl_->findNamedType(name);
}

} // namespace torch::jit
