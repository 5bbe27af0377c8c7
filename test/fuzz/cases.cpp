#include "test/fuzz/cases.h"

#include <algorithm>
#include <sstream>

#include "test/conformance/arguments.h"
#include "test/fuzz/sparse.h"
#include "test/fuzz/tensors.h"

namespace fuzz {

namespace {

using at::Tensor;
using c10::IValue;
using c10::TypeKind;

// They end the process, wait, write files, or ask for what a test machine need not have.
constexpr const char* kNotCalled[] = {"aten::from_file", "aten::_cuda",   "aten::_cudnn",
                                      "aten::cudnn_",    "aten::miopen_", "aten::mkldnn_"};

bool can_make(const c10::Type& type) {
  switch (type.kind()) {
    case TypeKind::OptionalType:
    case TypeKind::ListType:
      return can_make(*type.containedType(0));
    case TypeKind::TensorType:
    case TypeKind::IntType:
    case TypeKind::SymIntType:
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
    case TypeKind::BoolType:
    case TypeKind::SymBoolType:
    case TypeKind::NumberType:
    case TypeKind::ComplexType:
    case TypeKind::StringType:
    case TypeKind::DeviceObjType:
    case TypeKind::GeneratorType:
    case TypeKind::StorageType:
      return true;
    default:
      return false;
  }
}

bool is_about_sparse(const c10::FunctionSchema& schema) {
  for (const char* part :
       {"sparse", "coalesce", "indices", "values", "_nnz", "_dim", "to_dense", "spdiags", "smm", "row_sum"}) {
    if (schema.name().find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

bool is_callable(const c10::FunctionSchema& schema) {
  if (schema.name().rfind("aten::", 0) != 0) {
    return false;
  }
  for (const char* prefix : kNotCalled) {
    if (schema.name().rfind(prefix, 0) == 0) {
      return false;
    }
  }
  return std::all_of(schema.arguments().begin(), schema.arguments().end(), [](const c10::Argument& argument) {
    return can_make(*argument.type());
  });
}

/// "aten::add" of aten::add, aten::add_ and aten::add.out.
std::string family(std::string name) {
  name = name.substr(0, name.find('.'));
  while (!name.empty() && name.back() == '_') {
    name.pop_back();
  }
  return name;
}

bool is_written(const c10::Argument& argument) {
  if (argument.alias_info() == nullptr) {
    return false;
  }
  if (argument.alias_info()->isWrite()) {
    return true;
  }
  const auto& inner = argument.alias_info()->containedTypes();
  return std::any_of(inner.begin(), inner.end(), [](const c10::AliasInfo& info) { return info.isWrite(); });
}

IValue without_grad(const IValue& value) {
  if (value.isTensor() && value.toTensor().defined() && value.toTensor().requires_grad()) {
    value.toTensor().unsafeGetTensorImpl()->set_requires_grad(false);
  }
  if (value.isTensorList()) {
    for (const Tensor& tensor : value.toTensorVector()) {
      without_grad(tensor);
    }
  }
  return value;
}

std::string text_of(const Tensor& tensor) {
  return is_sparse(tensor) ? describe_sparse(tensor) : describe(tensor);
}

/// Changes each tensor, those in lists included.
template <class Change>
void change_tensors(Stack& args, const Change& change) {
  args = test::with_tensors(args, change);
}

bool share_memory(const Stack& args) {
  const std::vector<Tensor> tensors = test::tensors_of(args);
  for (size_t i = 0; i < tensors.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (shares_storage(tensors[i], tensors[j])) {
        return true;
      }
    }
  }
  return false;
}

} // namespace

std::string full_name(const c10::FunctionSchema& schema) {
  return schema.overload_name().empty() ? schema.name() : schema.name() + "." + schema.overload_name();
}

std::vector<bool> written_arguments(const c10::FunctionSchema& schema) {
  std::vector<bool> written;
  for (const c10::Argument& argument : schema.arguments()) {
    written.push_back(is_written(argument));
  }
  return written;
}

Cases::Cases(uint64_t seed, const std::string& corpus) : seed_(seed) {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findSchema(name);
    if (op.has_value() && is_callable(op->schema())) {
      operators_.push_back(*op);
    }
  }
  std::sort(operators_.begin(), operators_.end(), [](const auto& a, const auto& b) {
    return full_name(a.schema()) < full_name(b.schema());
  });
  if (corpus.empty()) {
    return;
  }
  corpus_ = std::make_unique<conformance::Corpus>(corpus);
  for (const conformance::Case& record : corpus_->cases()) {
    std::vector<const conformance::Case*>& of_operator = records_[record.op];
    if (of_operator.empty()) {
      kin_[family(record.op)].push_back(record.op);
    }
    of_operator.push_back(&record);
  }
}

size_t Cases::operator_of(uint64_t index) const {
  return Random(seed_, index).below(operators_.size());
}

Call Cases::make(uint64_t index, Variant variant) const {
  Random random(seed_, index);
  const c10::OperatorHandle& op = operators_[random.below(operators_.size())];
  Call call{op, {}, true};
  call.args = draw(op, random, call.moderate);
  if (variant == Variant::PlacedOtherwise) {
    ArgumentMaker maker(random);
    if (!share_memory(call.args)) {
      change_tensors(call.args, [&](const Tensor& tensor) { return maker.replaced(tensor); });
    }
  }
  return call;
}

Stack Cases::draw(const c10::OperatorHandle& op, Random& random, bool& moderate) const {
  ArgumentMaker maker(random);
  moderate = maker.moderate();
  const auto& arguments = op.schema().arguments();
  if (is_about_sparse(op.schema()) ? random.chance(70) : random.chance(6)) {
    maker.allow_sparse(is_about_sparse(op.schema()));
  }
  Stack args;
  if (random.chance(70) && start_from_record(op, random, args)) {
    for (const IValue& value : args) {
      without_grad(value);
    }
    change_tensors(args, [&](const Tensor& tensor) { return maker.maybe_sparse(tensor); });
    for (const IValue& value : args) {
      maker.know(value);
    }
    const size_t how = random.below(100);
    const size_t changes = how < 20 ? 0 : how < 65 ? 1 : how < 90 ? 2 : 4;
    for (size_t i = 0; i < changes && !args.empty(); ++i) {
      const size_t position = random.below(args.size());
      args[position] = maker.nearby(args[position], arguments[position]);
    }
  } else {
    args.clear();
    for (const c10::Argument& argument : arguments) {
      args.push_back(maker.fresh(argument));
    }
  }
  if (random.chance(10)) {
    change_tensors(args, [&](const Tensor& tensor) {
      const c10::ScalarType dtype = tensor.scalar_type();
      if (random.chance(30) || !(c10::isFloatingType(dtype) || c10::isComplexType(dtype))) {
        return tensor;
      }
      tensor.unsafeGetTensorImpl()->set_requires_grad(true);
      return tensor;
    });
  }
  return args;
}

const std::vector<const conformance::Case*>* Cases::records_for(
    const c10::FunctionSchema& schema, Random& random) const {
  const auto own = records_.find(full_name(schema));
  const auto kin = kin_.find(family(schema.name()));
  if (own != records_.end() && (kin == kin_.end() || random.chance(80))) {
    return &own->second;
  }
  if (kin == kin_.end()) {
    return nullptr;
  }
  return &records_.at(random.pick(kin->second));
}

/// Arguments of a recorded call of this operator, or of one of its family: then those of the same name and kind.
bool Cases::start_from_record(const c10::OperatorHandle& op, Random& random, Stack& args) const {
  const auto* records = records_for(op.schema(), random);
  if (records == nullptr) {
    return false;
  }
  const conformance::Case& record = *random.pick(*records);
  const size_t dot = record.op.find('.');
  const auto recorded_op = c10::Dispatcher::singleton().findSchema(
      c10::OperatorName{record.op.substr(0, dot), dot == std::string::npos ? "" : record.op.substr(dot + 1)});
  if (!recorded_op.has_value()) {
    return false;
  }
  Stack recorded;
  try {
    const conformance::Json line = conformance::Json::parse(record.line);
    const conformance::Inputs inputs(line.at("tensors"), record.file->data, c10::Device(c10::DeviceType::CPU));
    recorded =
        conformance::make_arguments(line.at("args"), recorded_op->schema(), inputs, c10::Device(c10::DeviceType::CPU));
  } catch (const std::exception&) {
    return false; // a schema that changed since, or a dtype that this harness cannot make
  }
  if (*recorded_op == op) {
    args = std::move(recorded);
    return true;
  }
  ArgumentMaker maker(random);
  for (const IValue& value : recorded) {
    maker.know(value);
  }
  for (const c10::Argument& argument : op.schema().arguments()) {
    const auto from = recorded_op->schema().argumentIndexWithName(argument.name());
    const bool fits = from.has_value() && recorded_op->schema().arguments()[*from].type()->equals(*argument.type());
    args.push_back(fits ? recorded[*from] : maker.fresh(argument));
  }
  return true;
}

std::string describe(const Call& call) {
  std::ostringstream out;
  out << call.op.schema();
  for (size_t i = 0; i < call.args.size(); ++i) {
    const IValue& value = call.args[i];
    out << "\n    " << call.op.schema().arguments()[i].name() << " = ";
    if (value.isTensor()) {
      out << text_of(value.toTensor());
    } else if (value.isTensorList() || value.isOptionalTensorList()) {
      for (const IValue& item : value.toListRef()) {
        out << "\n        " << (item.isTensor() ? text_of(item.toTensor()) : "None");
      }
    } else if (value.isString()) {
      out << '"' << value.toStringRef().substr(0, 100) << '"';
    } else {
      out << value;
    }
  }
  return out.str();
}

} // namespace fuzz
