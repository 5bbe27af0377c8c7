#include "describe.h"

#include <cstdio>
#include <sstream>

namespace tensor_run {

namespace {

using torch::IValue;

std::string tensor_text(const torch::Tensor& tensor, bool full) {
  std::ostringstream text;
  if (!tensor.defined()) {
    return "undefined tensor";
  }
  text << torch::toString(tensor.scalar_type()) << tensor.sizes();
  if (!tensor.device().is_cpu()) {
    text << " on " << tensor.device();
  }
  if (full) {
    text << "\n" << tensor;
  } else if (tensor.numel() > 0 && torch::isFloatingType(tensor.scalar_type()) && tensor.layout() == torch::kStrided) {
    const torch::Tensor values = tensor.detach().to(torch::kFloat64);
    text << "  mean " << values.mean().item<double>() << ", from " << values.min().item<double>() << " to "
         << values.max().item<double>();
  }
  return text.str();
}

void append(std::ostringstream& text, const IValue& value, bool full, const std::string& indent);

template <class Elements>
void append_all(
    std::ostringstream& text, const char* what, const Elements& elements, bool full, const std::string& indent) {
  text << what << " of " << elements.size();
  size_t i = 0;
  for (const IValue& element : elements) {
    text << "\n" << indent << "  " << i++ << ": ";
    append(text, element, full, indent + "  ");
  }
}

void append(std::ostringstream& text, const IValue& value, bool full, const std::string& indent) {
  if (value.isTensor()) {
    text << tensor_text(value.toTensor(), full);
  } else if (value.isTuple()) {
    append_all(text, "tuple", value.toTupleRef().elements(), full, indent);
  } else if (value.isList() && !value.isIntList() && !value.isDoubleList() && !value.isBoolList()) {
    append_all(text, "list", value.toListRef(), full, indent);
  } else if (value.isGenericDict()) {
    const auto dict = value.toGenericDict();
    text << "dict of " << dict.size();
    for (const auto& entry : dict) {
      text << "\n" << indent << "  " << entry.key() << ": ";
      append(text, entry.value(), full, indent + "  ");
    }
  } else {
    text << value;
  }
}

} // namespace

void describe(const torch::jit::Module& module) {
  std::printf("module %s\n", module.type()->name()->qualifiedName().c_str());
  for (const auto& method : module.get_methods()) {
    std::ostringstream schema;
    schema << method.function().getSchema();
    std::printf("  %s\n", schema.str().c_str());
  }
  for (const auto& child : module.named_children()) {
    std::printf("  %s: %s\n", child.name.c_str(), child.value.type()->name()->name().c_str());
  }
  int64_t tensors = 0, elements = 0;
  for (const torch::Tensor& parameter : module.parameters()) {
    ++tensors;
    elements += parameter.numel();
  }
  std::printf("%lld parameters in %lld tensors\n", static_cast<long long>(elements), static_cast<long long>(tensors));
}

std::string describe(const IValue& value, bool full) {
  std::ostringstream text;
  append(text, value, full, "");
  return text.str();
}

} // namespace tensor_run
