#include <aten/core/qualified_name.h>

#include <c10/util/Exception.h>

namespace c10 {

QualifiedName::QualifiedName(const std::string& name) : qualified_(name) {
  size_t begin = 0;
  while (true) {
    const size_t dot = name.find('.', begin);
    atoms_.push_back(name.substr(begin, dot == std::string::npos ? dot : dot - begin));
    TORCH_CHECK(
        !atoms_.back().empty(), "Invalid name for a qualified name: '", name, "': a part between dots is empty");
    if (dot == std::string::npos) {
      break;
    }
    begin = dot + 1;
  }
}

QualifiedName::QualifiedName(std::vector<std::string> atoms) : atoms_(std::move(atoms)) {
  for (const std::string& atom : atoms_) {
    TORCH_CHECK(!atom.empty(), "Atom cannot be empty");
    if (!qualified_.empty()) {
      qualified_ += '.';
    }
    qualified_ += atom;
  }
}

} // namespace c10
