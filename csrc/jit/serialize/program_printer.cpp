#include <csrc/jit/serialize/program_printer.h>

#include <csrc/jit/api/module.h>

#include <algorithm>
#include <optional>

namespace torch::jit {

namespace {

// Classes bound in C++ are known to the reader by their names.
bool is_bound_class(const std::string& name) {
  static const std::string prefix = "__torch__.torch.classes.";
  return name.compare(0, prefix.size(), prefix) == 0;
}

} // namespace

std::string source_record(const std::string& name_space) {
  std::string path = name_space;
  std::replace(path.begin(), path.end(), '.', '/');
  return "code/" + path + ".py";
}

ProgramPrinter::ProgramPrinter()
    : type_printer_([this](const Type& type) -> std::optional<std::string> {
        return declared_name(type) ? std::optional(names_.getUniqueName(type.ptr()).qualifiedName()) : std::nullopt;
      }) {}

void ProgramPrinter::print(const TypePtr& type) {
  const c10::QualifiedName name = names_.getUniqueName(type);
  if (!printed_.insert(name.qualifiedName()).second || is_bound_class(name.qualifiedName())) {
    return;
  }
  const auto [file, is_new] =
      files_.try_emplace(name.prefix(), constants_, deps_, type_printer_, /*enforce_importable=*/true);
  file->second.printNamedType(type);
}

void ProgramPrinter::add(const TypePtr& type) {
  deps_.add(type);
  for (; deps_printed_ < deps_.size(); ++deps_printed_) {
    const TypePtr next = deps_[deps_printed_];
    print(next);
  }
}

uint64_t ProgramPrinter::min_version() const {
  uint64_t version = 0;
  for (const auto& [name_space, file] : files_) {
    version = std::max(version, file.minVersion());
  }
  return version;
}

void jitModuleToPythonCodeAndConstants(
    const Module& module, ExtraFilesMap* jit_sources, std::vector<IValue>* constants) {
  ProgramPrinter program;
  program.add(module.type());
  if (jit_sources) {
    for (const auto& [name_space, file] : program.files()) {
      (*jit_sources)[source_record(name_space).substr(std::string("code/").size())] = file.str();
    }
  }
  if (constants) {
    *constants = program.constants();
  }
}

} // namespace torch::jit
