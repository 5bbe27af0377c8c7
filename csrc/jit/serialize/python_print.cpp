// Printed files: functions and types one after the other.
#include <csrc/jit/serialize/python_print.h>

#include <aten/core/enum_type.h>
#include <aten/core/interface_type.h>
#include <c10/util/Exception.h>
#include <csrc/jit/serialize/print_context.h>
#include <csrc/jit/serialize/print_function.h>
#include <csrc/jit/serialize/ranged_text.h>

#include <optional>
#include <utility>

namespace torch::jit {

void PrintDepsTable::add(const c10::TypePtr& type) {
  if (known_.insert(type.get()).second) {
    table_.push_back(type);
  }
}

struct PythonPrint::State {
  State(std::vector<IValue>& constants, PrintDepsTable& deps, c10::TypePrinter printer, bool enforce_importable)
      : context(constants, deps, std::move(printer), enforce_importable) {}

  void print_function(const Function& function, size_t level) {
    text << FunctionPrinter(context, level).print(function);
  }
  // The name that a type is defined by: the last part of the one that it is known by.
  std::string last_name(const TypePtr& type) {
    const std::string full = type->annotation_str(context.type_printer);
    const size_t dot = full.rfind('.');
    return dot == std::string::npos ? full : full.substr(dot + 1);
  }
  void print_class(const ClassTypePtr& type);
  void print_module_members(const ClassType& type);
  void print_name_list(const char* what, const std::vector<std::string>& names);
  void print_attribute(const std::string& name, const TypePtr& type);
  void print_methods(const ClassType& type);
  void print_named_tuple(const TypePtr& type);
  void print_interface(const TypePtr& type);
  void print_enum(const TypePtr& type);

  PrintContext context;
  RangedText text;
};

void PythonPrint::State::print_name_list(const char* what, const std::vector<std::string>& names) {
  text << "  " << what << " = [";
  for (const std::string& name : names) {
    text << context.literal(name) << ", ";
  }
  text << "]\n";
}

void PythonPrint::State::print_module_members(const ClassType& type) {
  std::vector<std::string> parameters, buffers, pre_hooks, hooks;
  for (size_t i = 0; i < type.numAttributes(); ++i) {
    if (type.is_parameter(i)) {
      parameters.push_back(type.getAttributeName(i));
    }
    if (type.is_buffer(i)) {
      buffers.push_back(type.getAttributeName(i));
    }
  }
  for (const Function* hook : type.getForwardPreHooks()) {
    pre_hooks.push_back(hook->name());
  }
  for (const Function* hook : type.getForwardHooks()) {
    hooks.push_back(hook->name());
  }
  print_name_list("__parameters__", parameters);
  print_name_list("__buffers__", buffers);
  if (!pre_hooks.empty()) {
    print_name_list("__forward_pre_hooks__", pre_hooks);
  }
  if (!hooks.empty()) {
    print_name_list("__forward_hooks__", hooks);
  }
}

void PythonPrint::State::print_attribute(const std::string& name, const TypePtr& type) {
  const std::string annotation = context.annotation(type);
  if (is_identifier(name)) {
    text << "  " << name << " : " << annotation << "\n";
  } else {
    text << "  __annotations__[" << context.literal(name) << "] = " << annotation << "\n";
  }
}

void PythonPrint::State::print_methods(const ClassType& type) {
  std::unordered_set<const Function*> printed;
  const auto print_all = [&](const std::vector<Function*>& functions) {
    for (const Function* function : functions) {
      if (function->isGraphFunction() && printed.insert(function).second) {
        print_function(*function, 1);
      }
    }
  };
  print_all(type.methods());
  print_all(type.getForwardHooks());
  print_all(type.getForwardPreHooks());
}

void PythonPrint::State::print_class(const ClassTypePtr& type) {
  text << "class " << last_name(type) << (type->is_module() ? "(Module)" : "") << ":\n";
  const size_t header = text.size();
  if (type->is_module()) {
    print_module_members(*type);
  }
  for (size_t i = 0; i < type->numAttributes(); ++i) {
    print_attribute(type->getAttributeName(i), type->getAttribute(i));
  }
  for (size_t i = 0; i < type->numConstants(); ++i) {
    const IValue value = type->getConstant(i);
    text << "  " << type->getConstantName(i) << " : Final[" << context.annotation(value.type())
         << "] = " << context.literal(value) << "\n";
  }
  print_methods(*type);
  if (text.size() == header) {
    text << "  pass\n";
  }
}

void PythonPrint::State::print_named_tuple(const TypePtr& type) {
  const FunctionSchema& fields = *type->expectRef<TupleType>().schema();
  text << "class " << last_name(type) << "(NamedTuple):\n";
  for (const Argument& field : fields.arguments()) {
    text << "  " << field.name() << " : " << context.annotation(field.type()) << "\n";
  }
  if (fields.arguments().empty()) {
    text << "  pass\n";
  }
}

void PythonPrint::State::print_interface(const TypePtr& type) {
  const InterfaceType& interface = type->expectRef<InterfaceType>();
  text << "class " << last_name(type) << (interface.is_module() ? "(ModuleInterface):\n" : "(Interface):\n");
  for (const FunctionSchema& method : interface.methods()) {
    text << "  def " << method.name() << "(self";
    for (size_t i = 1; i < method.arguments().size(); ++i) {
      const Argument& argument = method.arguments()[i];
      text << ", " << argument.name() << ": " << context.annotation(argument.type());
    }
    text << ") -> " << context.annotation(method.returns().at(0).type()) << ":\n    pass\n";
  }
  if (interface.methods().empty()) {
    text << "  pass\n";
  }
}

void PythonPrint::State::print_enum(const TypePtr& type) {
  const EnumType& enumeration = type->expectRef<EnumType>();
  text << "class " << last_name(type) << "(Enum):\n";
  for (const c10::EnumNameValue& member : enumeration.enumNamesValues()) {
    text << "  " << member.first << " = " << context.literal(member.second) << "\n";
  }
}

PythonPrint::PythonPrint(
    std::vector<IValue>& constant_table, PrintDepsTable& deps_table, c10::TypePrinter printer, bool enforce_importable)
    : state_(std::make_shared<State>(constant_table, deps_table, std::move(printer), enforce_importable)) {}

void PythonPrint::printNamedType(const c10::TypePtr& type) {
  switch (type->kind()) {
    case TypeKind::ClassType:
      return state_->print_class(type->cast<ClassType>());
    case TypeKind::InterfaceType:
      return state_->print_interface(type);
    case TypeKind::EnumType:
      return state_->print_enum(type);
    case TypeKind::FunctionType:
      return state_->print_function(*type->expectRef<FunctionType>().function(), 0);
    case TypeKind::TupleType:
      if (type->expectRef<TupleType>().schema()) {
        return state_->print_named_tuple(type);
      }
      break;
    default:
      break;
  }
  TORCH_CHECK(false, "printNamedType: a type with a definition is needed, but got ", type->repr_str());
}

void PythonPrint::printFunction(const Function& callee) {
  state_->print_function(callee, 0);
}

void PythonPrint::printMethod(const Function& callee) {
  state_->print_function(callee, 1);
}

std::string PythonPrint::str() const {
  return state_->text.text();
}

const SourceRangeRecords& PythonPrint::ranges() const {
  return state_->text.ranges();
}

uint64_t PythonPrint::minVersion() const {
  return state_->context.min_version;
}

bool printerHasSpecialCaseFor(c10::Symbol symbol) {
  switch (symbol) {
    case prim::CallFunction:
    case prim::CallMethod:
    case prim::Closure:
    case prim::Constant:
    case prim::CreateObject:
    case prim::DictConstruct:
    case prim::Enter:
    case prim::EnumName:
    case prim::EnumValue:
    case prim::Exit:
    case prim::GetAttr:
    case prim::If:
    case prim::ListConstruct:
    case prim::ListUnpack:
    case prim::Loop:
    case prim::Print:
    case prim::SetAttr:
    case prim::TupleConstruct:
    case prim::TupleIndex:
    case prim::TupleSlice:
    case prim::TupleUnpack:
    case prim::Uninitialized:
    case prim::awaitable:
    case prim::fork:
    case prim::isinstance:
    case prim::tolist:
    case prim::unchecked_cast:
    case prim::ModuleContainerIndex:
      return true;
    default:
      return false;
  }
}

} // namespace torch::jit
