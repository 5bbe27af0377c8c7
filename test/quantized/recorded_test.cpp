// Calls of quantized operators that PyTorch answered (tools/peer/quantized_calls), and the schemas that it has.
#include <catch2/catch.hpp>

#include <ATen/core/dispatch/Dispatcher.h>
#include <csrc/serialize/pickle_file.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/torch.h>

#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using at::Tensor;
using c10::IValue;

namespace {

std::string data_path(const char* name) {
  return std::string(TEST_QUANTIZED_DATA) + "/" + name;
}

struct RecordedCall {
  std::string op;
  c10::List<IValue> args;
  std::optional<IValue> result;
  int64_t steps;
};

std::vector<RecordedCall> recorded_calls(const char* name) {
  std::vector<RecordedCall> calls;
  const IValue file = torch::serialize::load_pickle(data_path(name));
  for (const IValue& row : file.toListRef()) {
    const auto fields = row.toGenericDict();
    const auto at = [&](const char* name) {
      const auto found = fields.find(name);
      return found == fields.end() ? std::nullopt : std::optional<IValue>(found->value());
    };
    calls.push_back({at("op")->toStringRef(), at("args")->toList(), at("result"), at("steps").value_or(0).toInt()});
  }
  return calls;
}

c10::OperatorHandle find(const std::string& full) {
  const size_t dot = full.find('.');
  const std::string name = full.substr(0, dot), overload = dot == std::string::npos ? "" : full.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload.c_str());
}

/// A list of Python's as the one that a schema asks for.
IValue typed(const IValue& value, const c10::Type& type) {
  if (const auto* optional = type.castRaw<c10::OptionalType>()) {
    return value.isNone() ? value : typed(value, *optional->getElementType());
  }
  const auto* list = type.castRaw<c10::ListType>();
  if (list == nullptr || !value.isList()) {
    return value;
  }
  c10::impl::GenericList result(list->getElementType());
  for (const IValue& element : value.toListRef()) {
    result.push_back(typed(element, *list->getElementType()));
  }
  return result;
}

struct Replay {
  explicit Replay(const char* file) : calls(recorded_calls(file)) {}

  /// What a call returns here.
  IValue run(size_t index) {
    const auto found = kept.find(index);
    if (found != kept.end()) {
      return found->second;
    }
    const RecordedCall& call = calls.at(index);
    const c10::OperatorHandle op = find(call.op);
    torch::jit::Stack stack;
    const auto& arguments = op.schema().arguments();
    for (size_t i = 0; i < arguments.size(); ++i) {
      stack.push_back(
          i < call.args.size() ? typed(resolved(call.args.get(i)), *arguments[i].type())
                               : arguments[i].default_value().value());
    }
    op.callBoxed(&stack);
    if (!call.result.has_value()) {
      kept.emplace(index, stack.at(0));
    }
    return stack.size() == 1 ? stack[0] : IValue(c10::ivalue::Tuple::create(std::move(stack)));
  }

  IValue resolved(const IValue& value) {
    if (value.isGenericDict()) {
      return run(static_cast<size_t>(value.toGenericDict().at("call").toInt()));
    }
    if (value.isList()) {
      c10::impl::GenericList list(c10::AnyType::get());
      for (const IValue& element : value.toListRef()) {
        list.push_back(resolved(element));
      }
      return list;
    }
    return value.isTensor() ? IValue(copied(value.toTensor())) : value;
  }

  /// In-place forms must not change what later calls get.
  static Tensor copied(const Tensor& t) {
    return t.defined() ? t.clone() : t;
  }

  std::vector<RecordedCall> calls;
  std::map<size_t, IValue> kept;
};

/// Elements of lists and tuples one behind the other.
void flatten(const IValue& value, std::vector<IValue>& to) {
  if (value.isTuple()) {
    for (const IValue& element : value.toTupleRef().elements()) {
      flatten(element, to);
    }
  } else if (value.isList()) {
    for (const IValue& element : value.toListRef()) {
      flatten(element, to);
    }
  } else {
    to.push_back(value);
  }
}

std::string different(const IValue& ours, const IValue& theirs, int64_t steps) {
  if (!theirs.isTensor()) {
    return ours == theirs || (theirs.isDouble() && std::abs(ours.toDouble() - theirs.toDouble()) < 1e-9)
        ? std::string()
        : c10::str("expected ", theirs, ", got ", ours);
  }
  const Tensor a = ours.toTensor(), b = theirs.toTensor();
  if (!b.defined()) {
    return a.defined() ? "expected no tensor" : "";
  }
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) {
    return c10::str("expected ", b.scalar_type(), " ", b.sizes(), ", got ", a.scalar_type(), " ", a.sizes());
  }
  if (!b.is_quantized()) {
    return at::allclose(a.to(at::kDouble), b.to(at::kDouble), 1e-5, 1e-5) && (b.is_floating_point() || at::equal(a, b))
        ? std::string()
        : c10::str("expected\n", b, "\ngot\n", a);
  }
  if (at::qscheme(a) != at::qscheme(b) ||
      (at::qscheme(b) == at::kPerTensorAffine &&
       (std::abs(at::q_scale(a) - at::q_scale(b)) > 1e-9 || at::q_zero_point(a) != at::q_zero_point(b)))) {
    return at::qscheme(b) == at::kPerTensorAffine
        ? c10::str(
              "expected scale ", at::q_scale(b), " and zero point ", at::q_zero_point(b), ", got ", at::q_scale(a),
              " and ", at::q_zero_point(a))
        : "another scheme";
  }
  const Tensor x = at::int_repr(a).to(at::kLong), y = at::int_repr(b).to(at::kLong);
  return x.numel() == 0 || (x - y).abs().max().item<int64_t>() <= steps
      ? std::string()
      : c10::str("expected integers\n", y, "\ngot\n", x);
}

} // namespace

TEST_CASE("quantized operators compute PyTorch's integers", "[quantized]") {
  const auto [file, count] = GENERATE(table<const char*, size_t>({{"operators.pt", 300}, {"compiled.pt", 200}}));
  Replay replay(file);
  REQUIRE(replay.calls.size() > count);
  for (size_t i = 0; i < replay.calls.size(); ++i) {
    const RecordedCall& call = replay.calls[i];
    INFO("call " << i << ": " << call.op);
    if (!call.result.has_value()) {
      continue;
    }
    std::string difference;
    try {
      std::vector<IValue> ours, theirs;
      flatten(replay.run(i), ours);
      flatten(*call.result, theirs);
      difference =
          ours.size() == theirs.size() ? "" : c10::str("expected ", theirs.size(), " results, got ", ours.size());
      for (size_t j = 0; j < theirs.size() && difference.empty(); ++j) {
        difference = different(ours[j], theirs[j], call.steps);
      }
    } catch (const std::exception& error) {
      difference = error.what();
    }
    CHECK(difference == "");
  }
}

namespace {

/// Operators that PyTorch has and this library has not: the beginning of the name, and why.
const std::vector<std::pair<std::string, std::string>> kMissing{
    {"aten::dequantize.any", "takes a value of any type"},
    {"quantized::conv2d_unpack_sizes", "takes a value of any type"},
};

bool is_out_form(const std::string& name) {
  const size_t dot = name.find('.');
  return name.rfind("aten::", 0) == 0 && dot != std::string::npos && name.find("out", dot) != std::string::npos;
}

} // namespace

TEST_CASE("quantized operators have PyTorch's schemas and a kernel", "[quantized]") {
  std::ifstream file(data_path("schemas.txt"));
  size_t count = 0, missing = 0;
  for (std::string line; std::getline(file, line);) {
    const c10::FunctionSchema schema = torch::jit::parseSchema(line);
    const std::string name =
        schema.name() + (schema.overload_name().empty() ? std::string() : "." + schema.overload_name());
    INFO(line);
    ++count;
    const auto op = c10::Dispatcher::singleton().findSchema({schema.name(), schema.overload_name()});
    const bool known = is_out_form(name) ||
        std::any_of(kMissing.begin(), kMissing.end(), [&](const auto& row) { return name.rfind(row.first, 0) == 0; });
    if (!op.has_value()) {
      CHECK(known);
      ++missing;
      continue;
    }
    CHECK(c10::str(op->schema()) == c10::str(schema));
    CHECK(
        (op->hasKernelForAnyDispatchKey(c10::DispatchKeySet(c10::DispatchKeySet::FULL)) ||
         op->hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
         op->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)));
  }
  CHECK(count > 250);
  CHECK(missing <= 8);
}
