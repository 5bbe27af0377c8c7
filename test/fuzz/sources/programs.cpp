#include "test/fuzz/sources/programs.h"

#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/runtime/jit_exception.h>
#include <torch/script.h>

#include <sstream>

#include "test/support/refusals.h"

namespace fuzz::sources {

namespace {

using c10::IValue;
using c10::TypeKind;

IValue draw(const c10::Type& type, Random& random, int depth);

IValue draw_list(const c10::Type& type, Random& random, int depth) {
  const c10::TypePtr element = type.expectRef<c10::ListType>().getElementType();
  c10::impl::GenericList list(element);
  for (size_t i = random.below(4); i > 0; --i) {
    list.push_back(draw(*element, random, depth - 1));
  }
  return list;
}

IValue draw_dict(const c10::Type& type, Random& random, int depth) {
  const auto& dict_type = type.expectRef<c10::DictType>();
  c10::impl::GenericDict dict(dict_type.getKeyType(), dict_type.getValueType());
  for (size_t i = random.below(3); i > 0; --i) {
    dict.insert_or_assign(
        draw(*dict_type.getKeyType(), random, depth - 1), draw(*dict_type.getValueType(), random, depth - 1));
  }
  return dict;
}

/// A small value of the type; None for types that nobody can draw values of.
IValue draw(const c10::Type& type, Random& random, int depth) {
  constexpr int64_t kInts[] = {0, 1, 2, 3, -1, 7, INT64_MAX, INT64_MIN};
  constexpr double kFloats[] = {0.0, 1.0, -2.5, 1e300, 0.1};
  constexpr const char* kTexts[] = {"", "a", "b c", "12", "Hello, World"};
  if (depth < 0) {
    return {};
  }
  switch (type.kind()) {
    case TypeKind::IntType:
      return random.pick(kInts);
    case TypeKind::FloatType:
    case TypeKind::NumberType:
      return random.pick(kFloats);
    case TypeKind::BoolType:
      return random.chance(50);
    case TypeKind::ComplexType:
      return c10::complex<double>(random.pick(kFloats), 1.0);
    case TypeKind::StringType:
      return std::string(random.pick(kTexts));
    case TypeKind::TensorType:
      return random.chance(80) ? torch::arange(6, torch::kFloat).view({2, 3}) : torch::arange(2);
    case TypeKind::ListType:
      return draw_list(type, random, depth);
    case TypeKind::DictType:
      return draw_dict(type, random, depth);
    case TypeKind::OptionalType:
      return random.chance(40) ? IValue()
                               : draw(*type.expectRef<c10::OptionalType>().getElementType(), random, depth - 1);
    case TypeKind::TupleType: {
      std::vector<IValue> elements;
      for (const c10::TypePtr& element : type.expectRef<c10::TupleType>().elements()) {
        elements.push_back(draw(*element, random, depth - 1));
      }
      return c10::ivalue::Tuple::create(std::move(elements));
    }
    case TypeKind::DeviceObjType:
      return c10::Device("cpu");
    default:
      return {};
  }
}

/// Throws what is no refusal.
template <class Call>
void tried(const Call& call) {
  try {
    call();
  } catch (const torch::jit::JITException&) {
  } catch (const std::exception& error) {
    if (!test::is_refusal(error)) {
      throw;
    }
  }
}

std::vector<IValue> arguments(const c10::FunctionSchema& schema, size_t first, Random& random) {
  std::vector<IValue> out;
  for (size_t i = first; i < schema.arguments().size(); ++i) {
    out.push_back(draw(*schema.arguments()[i].type(), random, 3));
  }
  return out;
}

/// The text of the graph, and the graph of the text, which may be changed in a place.
void print(const std::shared_ptr<torch::jit::Graph>& graph, Random& random) {
  std::string text = graph->toString();
  for (size_t changes = random.below(3); changes > 0 && !text.empty(); --changes) {
    text.erase(random.below(text.size()), 1 + random.below(3));
  }
  tried([&] {
    torch::jit::Graph parsed;
    torch::jit::parseIR(text, &parsed);
    parsed.toString();
  });
}

void use_functions(const std::string& source, Random& random, std::atomic<int>& phase) {
  const std::shared_ptr<torch::jit::CompilationUnit> unit = torch::jit::compile(source);
  for (torch::jit::Function* function : unit->get_functions()) {
    if (random.chance(20)) {
      phase = Phase::Print;
      print(torch::jit::toGraphFunction(*function).graph(), random);
    }
    phase = Phase::Run;
    tried([&] { (*function)(arguments(function->getSchema(), 0, random)); });
    phase = Phase::Compile;
  }
}

void use_module(const std::string& source, Random& random, std::atomic<int>& phase) {
  torch::jit::Module module("M");
  module.register_parameter("w", torch::ones({3}), /*is_buffer=*/false);
  module.register_attribute("n", c10::IntType::get(), 2);
  module.define(source);
  phase = Phase::Save;
  std::stringstream file;
  module.save(file);
  torch::jit::Module loaded = torch::jit::load(file);
  for (const torch::jit::Method& method : loaded.get_methods()) {
    phase = Phase::Save;
    method.function().ensure_defined();
    phase = Phase::Run;
    tried([&] { method(arguments(method.function().getSchema(), 1, random)); });
  }
}

// Functions as methods: each takes self as well.
std::string as_methods(std::string source) {
  for (size_t at = source.find("def "); at != std::string::npos; at = source.find("def ", at + 4)) {
    const size_t open = source.find('(', at);
    if (open != std::string::npos && (at == 0 || source[at - 1] == '\n')) {
      source.insert(open + 1, open + 1 < source.size() && source[open + 1] == ')' ? "self" : "self, ");
    }
  }
  return source;
}

} // namespace

void use_source(const std::string& source, Random& random, std::atomic<int>& phase) {
  phase = Phase::Compile;
  if (random.chance(75)) {
    use_functions(source, random, phase);
  } else {
    use_module(source.find("self") == std::string::npos ? as_methods(source) : source, random, phase);
  }
}

} // namespace fuzz::sources
