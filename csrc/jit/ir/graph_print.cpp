// The text of a graph, as libtorch prints it. irparser.h reads it.
#include <aten/core/ivalue_print.h>
#include <c10/util/StringUtil.h>
#include <csrc/jit/ir/ir.h>

#include <algorithm>
#include <iostream>
#include <sstream>

namespace at {
TORCH_API std::ostream& print(std::ostream& stream, const Tensor& tensor, int64_t linesize);
}

namespace torch::jit {

namespace {

// Larger tensors are printed as <Tensor>.
constexpr int64_t kMaxTensorElements = 10;

std::ostream& indent(std::ostream& out, size_t level) {
  for (size_t i = 0; i < level; ++i) {
    out << "  ";
  }
  return out;
}

void print_names(std::ostream& out, at::ArrayRef<const Value*> values) {
  const char* separator = "";
  for (const Value* value : values) {
    out << separator << '%' << value->debugName();
    separator = ", ";
  }
}

// A tensor of one element looks like a number, small ones are printed whole on one line.
void print_tensor(std::ostream& out, const at::Tensor& tensor) {
  if (!tensor.defined()) {
    out << "<Tensor>";
    return;
  }
  if (tensor.numel() == 1 && !tensor.is_meta()) {
    const c10::Scalar number = tensor.detach().item();
    out << '{';
    if (number.isFloatingPoint()) {
      out << number.toDouble();
    } else if (number.isComplex()) {
      out << number.toComplexDouble();
    } else {
      out << number.toLong();
    }
    out << '}';
  } else if (tensor.numel() <= kMaxTensorElements && !tensor.is_meta()) {
    std::ostringstream text;
    at::print(text, tensor, 80);
    std::string line = text.str();
    std::replace(line.begin(), line.end(), '\n', ' ');
    out << line;
  } else {
    out << "<Tensor>";
  }
}

template <class Items, class Print>
void print_list(std::ostream& out, const Items& items, Print&& print) {
  out << '[';
  const char* separator = "";
  for (const auto& item : items) {
    out << separator;
    print(item);
    separator = ", ";
  }
  out << ']';
}

// Values as expressions; tensors and objects have none.
void print_value(std::ostream& out, const IValue& value) {
  value.repr(out, [](std::ostream& stream, const IValue& inner) {
    if (inner.isTensor()) {
      print_tensor(stream, inner.toTensor());
      return true;
    }
    if (inner.isObject() || inner.isCapsule()) {
      stream << '<' << inner.type()->str() << " object>";
      return true;
    }
    if (inner.isNone()) {
      stream << "None";
      return true;
    }
    if (inner.isGenerator()) {
      const at::Generator generator = inner.toGenerator();
      stream << "torch.Generator(device=\"" << generator.device() << "\", seed=" << generator.current_seed() << ')';
      return true;
    }
    return false;
  });
}

// What libtorch's compiler makes without a place: its text shows none. Errors at these nodes have one here.
bool shows_place(const Node& node) {
  switch (static_cast<uint32_t>(node.kind())) {
    case prim::DictConstruct:
    case prim::Enter:
    case prim::Exit:
    case prim::GetAttr:
    case prim::ListConstruct:
    case prim::ListUnpack:
    case prim::SetAttr:
    case prim::TupleIndex:
    case prim::TupleUnpack:
    case prim::isinstance:
    case prim::tolist:
    case prim::unchecked_cast:
      return false;
    case prim::Constant: {
      const TypeKind kind = node.output()->type()->kind();
      return kind != TypeKind::FunctionType && kind != TypeKind::ComplexType && kind != TypeKind::TupleType &&
          kind != TypeKind::DeviceObjType;
    }
    case prim::TupleConstruct:
      return node.output()->type()->expectRef<TupleType>().schema() != nullptr;
    default:
      return true;
  }
}

} // namespace

void Node::printAttribute(std::ostream& out, const NodeAttribute& attribute) const {
  const auto quoted = [&](const std::string& text) { c10::printQuotedString(out, text); };
  const auto type = [&](const TypePtr& each) { out << *each; };
  const auto number = [&](const auto& each) { print_value(out, each); };
  switch (attribute.kind()) {
    case AttributeKind::f:
      number(f(attribute.name));
      break;
    case AttributeKind::fs:
      print_list(out, fs(attribute.name), number);
      break;
    case AttributeKind::c:
      number(c(attribute.name));
      break;
    case AttributeKind::cs:
      print_list(out, cs(attribute.name), number);
      break;
    case AttributeKind::i:
      out << i(attribute.name);
      break;
    case AttributeKind::is:
      print_list(out, is(attribute.name), number);
      break;
    case AttributeKind::s:
      quoted(s(attribute.name));
      break;
    case AttributeKind::ss:
      print_list(out, ss(attribute.name), quoted);
      break;
    case AttributeKind::t:
      print_tensor(out, t(attribute.name));
      break;
    case AttributeKind::ts:
      print_list(out, ts(attribute.name), [&](const at::Tensor&) { out << "<Tensor>"; });
      break;
    case AttributeKind::g:
      out << "<Graph>";
      break;
    case AttributeKind::gs:
      print_list(out, gs(attribute.name), [&](const auto&) { out << "<Graph>"; });
      break;
    case AttributeKind::ty:
      type(ty(attribute.name));
      break;
    case AttributeKind::tys:
      print_list(out, tys(attribute.name), type);
      break;
    case AttributeKind::ival:
      print_value(out, ival(attribute.name));
      break;
  }
}

void Node::printAttributes(std::ostream& out, bool ignore_subgraph) const {
  out << '[';
  const char* separator = "";
  for (const NodeAttribute& attribute : attributes_) {
    if (ignore_subgraph && attribute.name == attr::Subgraph) {
      continue;
    }
    out << separator << attribute.name.toUnqualString() << '=';
    printAttribute(out, attribute);
    separator = ", ";
  }
  out << ']';
}

std::ostream& Node::print(
    std::ostream& out,
    size_t level,
    std::vector<const Node*>* groups,
    bool print_source_locations,
    bool print_attributes,
    bool print_scopes,
    bool print_body) const {
  indent(out, level) << typedValueList(outputs()) << " = " << kind_.toQualString();
  if (groups && hasAttribute(attr::Subgraph)) {
    out << '_' << groups->size();
    if (print_attributes && numAttributes() > 1 && kind_ != prim::DifferentiableGraph) {
      printAttributes(out, true);
    }
    groups->push_back(this);
  } else if (print_attributes && hasAttributes()) {
    printAttributes(out, false);
  }
  out << '(';
  print_names(out, inputs());
  out << ')';
  if (print_scopes && !scopeName().empty()) {
    out << ", scope: " << scopeName();
  }
  if (print_source_locations && shows_place(*this)) {
    const std::optional<SourceRange> original = range_.findSourceRangeThatGenerated();
    if (const auto place = (original ? *original : range_).file_line_col()) {
      out << " # " << std::get<0>(*place) << ':' << std::get<1>(*place) << ':' << std::get<2>(*place);
    }
  }
  if (!print_body) {
    return out;
  }
  out << '\n';
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block* block = blocks_[i];
    indent(out, level + 1) << "block" << i << '(' << typedValueList(block->inputs()) << "):\n";
    for (const Node* node : block->nodes()) {
      // Within blocks, places are always printed, as in libtorch.
      node->print(out, level + 2, groups, /*print_source_locations=*/true, print_attributes, print_scopes);
    }
    indent(out, level + 2) << "-> (";
    print_names(out, block->outputs());
    out << ")\n";
  }
  return out;
}

std::string typedValueList(at::ArrayRef<const Value*> values, const char* delimiter) {
  std::ostringstream out;
  const char* separator = "";
  for (const Value* value : values) {
    out << separator << '%' << value->debugName() << " : " << *value->type();
    separator = delimiter;
  }
  return out.str();
}

std::ostream& Graph::print(std::ostream& out, bool print_source_locations) const {
  out << "graph(" << typedValueList(inputs(), ",\n      ") << "):\n";
  std::vector<const Node*> groups;
  for (const Node* node : nodes()) {
    node->print(out, 1, &groups, print_source_locations);
  }
  out << "  return (";
  print_names(out, outputs());
  out << ")\n";
  for (size_t i = 0; i < groups.size(); ++i) {
    out << "with " << groups[i]->kind().toQualString() << '_' << i << " = ";
    groups[i]->g(attr::Subgraph)->print(out, print_source_locations);
  }
  return out;
}

std::string Graph::toString(bool print_source_locations) const {
  std::ostringstream out;
  print(out, print_source_locations);
  return out.str();
}

void Graph::dump() const {
  std::cout << *this << '\n';
}

void Node::dump() const {
  std::cout << *this << '\n';
}

std::ostream& operator<<(std::ostream& out, const Graph& graph) {
  return graph.print(out, true);
}

std::ostream& operator<<(std::ostream& out, const Node& node) {
  return node.print(out, 0, nullptr);
}

} // namespace torch::jit
