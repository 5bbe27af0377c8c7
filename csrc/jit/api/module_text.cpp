// Modules as text.
#include <csrc/jit/api/module.h>

#include <c10/util/Exception.h>
#include <csrc/jit/api/module_object.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string_view>

namespace torch::jit {

namespace {

struct DumpOptions {
  bool method_bodies;
  bool attribute_values;
  bool parameter_values;
};

void append_indented(std::string& out, std::string_view text, size_t indent) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out.append(indent, ' ').append(text.substr(0, end)) += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

template <class T>
std::string assignment(const std::string& name, const T& value, bool print_value) {
  std::ostringstream out;
  out << name << " = ";
  if (print_value) {
    out << value;
  } else {
    out << "...";
  }
  out << '\n';
  return out.str();
}

class ModuleText {
 public:
  explicit ModuleText(DumpOptions options) : options_(options) {}

  std::string print(const Module& module) {
    print(module, 0);
    return std::move(text_);
  }

 private:
  void print(const Module& module, size_t indent) {
    const ObjectPtr object = module._ivalue();
    TORCH_CHECK(
        std::find(path_.begin(), path_.end(), object) == path_.end(), "module ", object->name(), " contains itself");
    TORCH_CHECK(path_.size() < kMaxModuleDepth, "modules are nested more than ", kMaxModuleDepth, " deep");
    path_.push_back(object);
    line(indent, "module " + object->name() + " {");
    print_parameters(module, indent + 2);
    print_attributes(module, indent + 2);
    print_methods(module, indent + 2);
    line(indent + 2, "submodules {");
    for (const Module& child : module.children()) {
      print(child, indent + 4);
    }
    line(indent + 2, "}");
    line(indent, "}");
    path_.pop_back();
  }

  void print_parameters(const Module& module, size_t indent) {
    line(indent, "parameters {");
    for (const NameTensor& parameter : module.named_parameters(false)) {
      append_indented(text_, assignment(parameter.name, parameter.value, options_.parameter_values), indent + 2);
    }
    line(indent, "}");
  }

  void print_attributes(const Module& module, size_t indent) {
    line(indent, "attributes {");
    for (const NameValue& attribute : module.named_attributes(false)) {
      const bool print_value = options_.attribute_values || !attribute.value.isTensor();
      append_indented(text_, assignment(attribute.name, attribute.value, print_value), indent + 2);
    }
    line(indent, "}");
  }

  void print_methods(const Module& module, size_t indent) {
    line(indent, "methods {");
    for (const Method& method : module.get_methods()) {
      line(indent + 2, "method " + method.name() + " {");
      if (options_.method_bodies) {
        append_indented(text_, method.graph()->toString(), indent + 4);
        // A body ends with an empty line of the indentation of its module.
        line(indent, "");
      }
      line(indent + 2, "}");
    }
    line(indent, "}");
  }

  void line(size_t indent, std::string_view text) {
    text_.append(indent, ' ').append(text) += '\n';
  }

  const DumpOptions options_;
  std::vector<ObjectPtr> path_;
  std::string text_;
};

} // namespace

std::string Module::dump_to_str(bool print_method_bodies, bool print_attr_values, bool print_param_values) const {
  return ModuleText({print_method_bodies, print_attr_values, print_param_values}).print(*this);
}

void Module::dump(bool print_method_bodies, bool print_attr_values, bool print_param_values) const {
  std::cout << dump_to_str(print_method_bodies, print_attr_values, print_param_values) << std::endl;
}

} // namespace torch::jit
