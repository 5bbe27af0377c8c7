#include <csrc/compile/cpu/recipes.h>

#include <csrc/compile/cpu/loop_code.h>
#include <csrc/compile/cpu/recipe_rules.h>

#include <aten/native/support/convert.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace torch::fused::cpu {

namespace {

using c10::ScalarType;

bool is_reduced(ScalarType dtype) {
  return dtype == ScalarType::Half || dtype == ScalarType::BFloat16;
}

bool is_number(ScalarType dtype) {
  return is_reduced(dtype) || dtype == ScalarType::Float || dtype == ScalarType::Double;
}

/// The nearest bfloat16 number, ties to even. NaN stays one: what operators make of 16-bit numbers has no bits of a NaN
/// below those that are kept.
uint32_t round_to_bfloat16(MicroBody& b, uint32_t x) {
  const uint32_t odd = b.op(Micro::And, b.op(Micro::ShiftRightZeros, x, 0, 0, 16), b.integer(1));
  const uint32_t raised = b.op(Micro::AddInts, b.op(Micro::AddInts, x, b.integer(0x7FFF)), odd);
  return b.op(Micro::And, raised, b.constant({0xFFFF0000u}));
}

uint32_t round_to(MicroBody& b, uint32_t x, ScalarType dtype) {
  return dtype == ScalarType::Half    ? b.op(Micro::RoundToHalf, x)
      : dtype == ScalarType::BFloat16 ? round_to_bfloat16(b, x)
                                      : x;
}

/// Whether results are arguments, or their negatives, which need no rounding.
bool gives_arguments(const Inst& inst) {
  constexpr std::string_view names[] = {
      "aten::abs",     "aten::clamp",   "aten::clamp_max", "aten::clamp_min", "aten::masked_fill",
      "aten::maximum", "aten::minimum", "aten::neg",       "aten::relu",      "aten::threshold_backward",
      "aten::where"};
  const std::string_view name = std::string_view(inst.name).substr(0, inst.name.find('.'));
  return inst.wide_inputs == 0 && std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Numbers that tell arrangements apart, the argument `which` of several.
std::vector<double> trial_numbers(size_t which, size_t count) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kLeast = std::numeric_limits<float>::denorm_min();
  const double special[] = {0.0,    -0.0,    1,    -1,    kInf,  -kInf, std::numeric_limits<double>::quiet_NaN(),
                            kLeast, -kLeast, 3e38, -3e38, 1e-38, 2,     0.5};
  std::minstd_rand random(static_cast<uint32_t>(17 + which)); // cheap to begin
  std::normal_distribution<float> normal;
  std::vector<double> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    const float spread = i % 7 == 0 ? 50.0f : i % 7 == 1 ? 5.0f : 1.0f;
    numbers[i] = random() % 4 == 0 ? special[random() % std::size(special)] : normal(random) * spread;
  }
  return numbers;
}

std::vector<int64_t> trial_integers(size_t which, size_t count, ScalarType dtype) {
  const bool is_narrow = dtype == ScalarType::Int;
  const int64_t special[] = {
      0,
      1,
      -1,
      2,
      is_narrow ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max(),
      is_narrow ? std::numeric_limits<int32_t>::min() + 1 : std::numeric_limits<int64_t>::min() + 1};
  std::mt19937_64 random(17 + which);
  std::vector<int64_t> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    const auto any = static_cast<int64_t>(random());
    numbers[i] = i % 4 == 0 ? special[static_cast<uint64_t>(any) % std::size(special)]
        : i % 4 == 1        ? any % 100
        : is_narrow         ? static_cast<int32_t>(any)
                            : any;
  }
  return numbers;
}

/// Elements of a dtype to try a recipe with.
std::vector<char> trial_elements(size_t which, size_t count, ScalarType dtype) {
  const size_t size = c10::elementSize(dtype);
  std::vector<char> bytes(count * size);
  if (is_number(dtype)) {
    const std::vector<double> numbers = trial_numbers(which, count);
    at::native::convert_elements(
        dtype, bytes.data(), static_cast<int64_t>(size), ScalarType::Double,
        reinterpret_cast<const char*>(numbers.data()), sizeof(double), static_cast<int64_t>(count));
    return bytes;
  }
  const std::vector<int64_t> numbers = trial_integers(which, count, dtype);
  for (size_t i = 0; i < count; ++i) {
    if (dtype == ScalarType::Bool) {
      bytes[i] = static_cast<char>(numbers[i] & 1);
    } else {
      std::memcpy(bytes.data() + i * size, &numbers[i], size); // the lower bytes
    }
  }
  return bytes;
}

bool is_nan(const char* element, ScalarType dtype) {
  double value = 0;
  if (is_number(dtype)) {
    at::native::convert_elements(
        ScalarType::Double, reinterpret_cast<char*>(&value), sizeof(value), dtype, element,
        static_cast<int64_t>(c10::elementSize(dtype)), 1);
  }
  return std::isnan(value);
}

/// The same bits, but for those of NaN.
bool are_same(const std::vector<char>& a, const std::vector<char>& b, ScalarType dtype) {
  const size_t size = c10::elementSize(dtype);
  for (size_t i = 0; i < a.size(); i += size) {
    if (std::memcmp(a.data() + i, b.data() + i, size) != 0 &&
        !(is_nan(a.data() + i, dtype) && is_nan(b.data() + i, dtype))) {
      return false;
    }
  }
  return true;
}

/// Whether an argument decides on what the kernel does.
bool depends_on_constants(const Inst& inst) {
  return inst.name.rfind("aten::pow", 0) == 0 || inst.name.rfind("aten::square", 0) == 0;
}

/// Whether a recipe gives what the kernel gives.
bool gives_the_same(const Inst& inst, const std::vector<const Inst*>& sources, Recipe recipe, ScalarType domain) {
  constexpr size_t kCount = 1003;
  const size_t num_args = inst.args.size();
  MicroBody body(std::max<uint8_t>(4, lane_width(domain).value_or(4)));
  std::vector<uint32_t> args;
  for (size_t i = 0; i < num_args; ++i) {
    args.push_back(body.load(static_cast<uint16_t>(i), load_of(sources[i]->dtype)));
  }
  body.store(static_cast<uint16_t>(num_args), apply(recipe, body, inst, args.data(), domain), store_of(inst.dtype));
  const LoopCode code = code_for(body, static_cast<uint16_t>(num_args + 1));
  if (!code) {
    return false;
  }
  std::vector<std::vector<char>> inputs;
  std::vector<char*> operands;
  std::vector<const char*> pointers;
  for (size_t i = 0; i < num_args; ++i) {
    const ScalarType dtype = sources[i]->dtype;
    const size_t size = c10::elementSize(dtype);
    inputs.push_back(trial_elements(i, kCount, dtype));
    for (size_t k = 0; depends_on_constants(inst) && sources[i]->kind == InstKind::Constant && k < kCount; ++k) {
      std::memcpy(inputs.back().data() + k * size, sources[i]->value.data(), size);
    }
  }
  for (auto& input : inputs) {
    operands.push_back(input.data());
    pointers.push_back(input.data());
  }
  const size_t size = c10::elementSize(inst.dtype);
  std::vector<char> wanted(kCount * size), got(kCount * size);
  inst.kernel({inst.functor.data(), inst.wide_inputs}, wanted.data(), pointers.data(), kCount);
  operands.push_back(got.data());
  code(operands.data(), kCount);
  return are_same(got, wanted, inst.dtype);
}

/// The first recipe of an operator that gives the bits of its kernel.
Recipe choose(const Inst& inst, const std::vector<const Inst*>& sources, const std::string& op, ScalarType domain) {
  const auto from = [&](const RecipeRules& rules) -> Recipe {
    for (const RecipeRule& rule : rules) {
      if (rule.op != op || rule.num_args != inst.args.size()) {
        continue;
      }
      for (const Recipe recipe : rule.recipes) {
        if (recipe && gives_the_same(inst, sources, recipe, domain)) {
          return recipe;
        }
      }
    }
    return nullptr;
  };
  if (domain == ScalarType::Bool) {
    return from(bool_rules());
  }
  if (!is_number(domain)) {
    return from(integer_rules());
  }
  const Recipe any = from(arithmetic_rules());
  return any || domain == ScalarType::Double ? any : from(float_rules());
}

} // namespace

std::optional<uint8_t> lane_width(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Float:
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Int:
      return 4;
    case ScalarType::Double:
    case ScalarType::Long:
      return 8;
    case ScalarType::Bool:
      return 0;
    default:
      return std::nullopt;
  }
}

Micro load_of(ScalarType dtype) {
  return dtype == ScalarType::Half    ? Micro::LoadHalf
      : dtype == ScalarType::BFloat16 ? Micro::LoadBFloat16
      : dtype == ScalarType::Bool     ? Micro::LoadMask
                                      : Micro::Load;
}

Micro store_of(ScalarType dtype) {
  return dtype == ScalarType::Half    ? Micro::StoreHalf
      : dtype == ScalarType::BFloat16 ? Micro::StoreBFloat16
      : dtype == ScalarType::Bool     ? Micro::StoreMask
                                      : Micro::Store;
}

uint32_t constant_of(MicroBody& body, const Inst& inst) {
  const char* const bytes = inst.value.data();
  if (inst.dtype == ScalarType::Bool) {
    return body.constant({bytes[0] != 0 ? 0xFFFFFFFFu : 0u});
  }
  if (is_number(inst.dtype)) {
    double value = 0;
    at::native::convert_elements(
        ScalarType::Double, reinterpret_cast<char*>(&value), sizeof(value), inst.dtype, bytes,
        static_cast<int64_t>(c10::elementSize(inst.dtype)), 1);
    return body.number(value);
  }
  int64_t value = 0;
  if (inst.dtype == ScalarType::Int) {
    int32_t narrow = 0;
    std::memcpy(&narrow, bytes, sizeof(narrow));
    value = narrow;
  } else {
    std::memcpy(&value, bytes, sizeof(value));
  }
  return body.integer(value);
}

std::optional<uint32_t> convert(MicroBody& body, uint32_t value, ScalarType from, ScalarType to) {
  if (from == to) {
    return value;
  }
  if (from == ScalarType::Bool) {
    return body.op(Micro::And, value, is_number(to) ? body.number(1) : body.integer(1));
  }
  if (to == ScalarType::Bool) {
    constexpr uint8_t kNotEqual = 4;
    return is_number(from)
        ? body.op(Micro::Compare, value, body.number(0), 0, kNotEqual)
        : body.op(Micro::Xor, body.op(Micro::EqualInts, value, body.integer(0)), body.constant({0xFFFFFFFFu}));
  }
  if (lane_width(from) != lane_width(to) || lane_width(from) != 4 || to == ScalarType::Int) {
    return std::nullopt;
  }
  return round_to(body, from == ScalarType::Int ? body.op(Micro::FloatsOfInts, value) : value, to);
}

std::optional<ScalarType> domain_of(const Inst& inst, const std::vector<const Inst*>& sources) {
  std::optional<ScalarType> domain;
  for (size_t i = 0; i < sources.size(); ++i) {
    const ScalarType dtype = sources[i]->dtype;
    if (dtype == ScalarType::Bool || (inst.wide_inputs >> i & 1) != 0) {
      continue;
    }
    if (domain.value_or(dtype) != dtype) {
      return std::nullopt;
    }
    domain = dtype;
  }
  return domain.value_or(inst.dtype);
}

uint32_t apply(Recipe recipe, MicroBody& body, const Inst& inst, const uint32_t* args, ScalarType domain) {
  const uint32_t value = recipe(body, args, {inst.functor.data(), domain});
  return gives_arguments(inst) ? value : round_to(body, value, inst.dtype);
}

Recipe find_recipe(const Inst& inst, const std::vector<const Inst*>& sources) {
  using Key = std::tuple<
      at::native::BlockKernel, std::array<char, kFunctorBytes>, std::string, std::vector<ScalarType>, std::string>;
  static std::mutex mutex;
  static auto* const known = new std::map<Key, Recipe>(); // is used until the process ends
  const auto domain = domain_of(inst, sources);
  if (!domain || !lane_width(*domain) || (inst.dtype != *domain && inst.dtype != ScalarType::Bool)) {
    return nullptr;
  }
  const std::string op = inst.name.substr(0, inst.name.find('.'));
  Key key{inst.kernel, inst.functor, op, {}, std::to_string(inst.wide_inputs)};
  for (const Inst* source : sources) {
    std::get<3>(key).push_back(source->dtype);
    if (depends_on_constants(inst) && source->kind == InstKind::Constant) {
      std::get<4>(key).append(source->value.data(), c10::elementSize(source->dtype));
    }
  }
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = known->find(key);
    if (found != known->end()) {
      return found->second;
    }
  }
  const Recipe chosen = choose(inst, sources, op, *domain);
  constexpr size_t kMostKnown = 16384;
  const std::lock_guard<std::mutex> lock(mutex);
  if (known->size() >= kMostKnown) {
    known->clear();
  }
  (*known)[key] = chosen;
  return chosen;
}

} // namespace torch::fused::cpu
