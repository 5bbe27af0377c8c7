#include "test/fuzz/values.h"

#include <ATen/core/Generator.h>
#include <aten/core/random.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "test/fuzz/sparse.h"

namespace fuzz {

namespace {

using at::Tensor;
using c10::IValue;
using c10::ScalarType;
using c10::TypeKind;

constexpr ScalarType kTypes[] = {ScalarType::Float,         ScalarType::Double,        ScalarType::Long,
                                 ScalarType::Bool,          ScalarType::Byte,          ScalarType::Char,
                                 ScalarType::Short,         ScalarType::Int,           ScalarType::Half,
                                 ScalarType::BFloat16,      ScalarType::ComplexHalf,   ScalarType::ComplexFloat,
                                 ScalarType::ComplexDouble, ScalarType::UInt16,        ScalarType::UInt32,
                                 ScalarType::UInt64,        ScalarType::Float8_e4m3fn, ScalarType::Float8_e5m2};

constexpr int64_t kOddIntegers[] = {
    0,
    -1,
    -2,
    7,
    64,
    65,
    255,
    1000,
    100000,
    INT32_MAX,
    INT32_MIN,
    int64_t{INT32_MAX} + 1,
    int64_t{1} << 32,
    int64_t{1} << 40,
    int64_t{1} << 62,
    INT64_MAX - 1,
    INT64_MAX,
    INT64_MIN,
    INT64_MIN + 1};

constexpr const char* kTexts[] = {
    "mean",
    "sum",
    "none",
    "max",
    "nearest",
    "bilinear",
    "bicubic",
    "linear",
    "trilinear",
    "area",
    "reflect",
    "replicate",
    "constant",
    "circular",
    "zeros",
    "border",
    "reflection",
    "L",
    "U",
    "N",
    "T",
    "C",
    "V",
    "full",
    "reduced",
    "complete",
    "r",
    "fro",
    "nuc",
    "inf",
    "ortho",
    "forward",
    "backward",
    "norm",
    "trunc",
    "floor",
    "tanh",
    "prod",
    "amin",
    "amax",
    "add",
    "multiply",
    "ij",
    "xy",
    "left",
    "right",
    "raise",
    "warn",
    "gels",
    "gelsd",
    "gelsy",
    "gelss",
    "relu",
    "lower",
    "higher",
    "midpoint",
    "valid",
    "same",
    "mul",
    "batch_size",
    "sum_to",
    "ii->i",
    "ij,jk->ik",
    "ij->ji",
    "...ij->...ji",
    "ij,ij->",
    "i,j->ij",
    "bij,bjk->bik",
    "ab->aabb",
    "i->",
    "->",
    ",->",
    "i j , j k",
    "ij,",
    "....i->i",
    "",
    " ",
    "MEAN",
    "junk",
    "\xff\xfe\x01",
    "i..j->i",
    "ijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ->i"};

bool can_negate(ScalarType type) {
  return type != ScalarType::Bool && !c10::isBarebonesUnsignedType(type) && !c10::isFloat8Type(type);
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

bool names_dim(const std::string& name) {
  return contains(name, "dim") || contains(name, "axis") || contains(name, "dims");
}

int64_t wrapping_sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t numel_of(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) {
      return INT64_MAX;
    }
  }
  return count;
}

} // namespace

ArgumentMaker::ArgumentMaker(Random& random)
    : random_(random), plausible_(random.chance(60)), moderate_(random.chance(75)), dtype_(ScalarType::Float) {
  shape_ = shape();
  if (random_.chance(55)) {
    dtype_ = random_.pick(kTypes);
  }
}

void ArgumentMaker::know(const IValue& value) {
  if (value.isTensor() && value.toTensor().defined()) {
    tensors_.push_back(value.toTensor());
  }
  if (value.isTensorList()) {
    for (const Tensor& tensor : value.toTensorVector()) {
      if (tensor.defined()) {
        tensors_.push_back(tensor);
      }
    }
  }
}

// --- tensors

Shape ArgumentMaker::shape() {
  constexpr size_t kRanks[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5};
  size_t rank = random_.pick(kRanks);
  if (random_.chance(1)) {
    rank = random_.below(3) == 0 ? 66 : 6 + random_.below(4);
  }
  Shape sizes(rank);
  for (int64_t& size : sizes) {
    size = random_.between(1, rank > 3 ? 3 : 5);
    if (random_.chance(4)) {
      size = 0;
    }
    if (random_.chance(10) || rank > 9) {
      size = 1;
    }
  }
  if (rank > 0 && random_.chance(10)) {
    constexpr int64_t kLong[] = {8, 16, 17, 33, 64, 100, 257};
    const int64_t size = random_.pick(kLong);
    sizes[random_.below(rank)] = random_.chance(4) ? size * 150 : size;
  }
  return sizes;
}

/// Sizes that broadcast with `shape`, or share its leading or trailing part.
Shape ArgumentMaker::kin_of(Shape shape) {
  const size_t how = random_.below(20);
  if (how < 12 || shape.empty()) {
    return shape;
  }
  if (how < 14) {
    shape[random_.below(shape.size())] = 1;
  }
  if (how == 14) {
    shape.erase(shape.begin());
  }
  if (how == 15) {
    shape.pop_back();
  }
  if (how == 16) {
    return {};
  }
  if (how == 17) {
    return {shape[random_.below(shape.size())]};
  }
  if (how == 18 && shape.size() > 1) {
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  }
  if (how == 19) {
    shape.insert(shape.begin() + static_cast<int64_t>(random_.below(shape.size() + 1)), random_.between(1, 3));
  }
  return shape;
}

Shape ArgumentMaker::changed(Shape shape) {
  const size_t how = random_.below(8);
  if (how == 0 || shape.empty()) {
    shape.insert(shape.begin() + static_cast<int64_t>(random_.below(shape.size() + 1)), random_.between(0, 3));
    return shape;
  }
  const size_t d = random_.below(shape.size());
  if (how == 1) {
    shape.erase(shape.begin() + static_cast<int64_t>(d));
  }
  if (how == 2) {
    shape[d] = 0;
  }
  if (how == 3) {
    shape[d] = 1;
  }
  if (how == 4) {
    shape[d] += 1;
  }
  if (how == 5) {
    shape[d] = std::max<int64_t>(shape[d] - 1, 0);
  }
  if (how == 6 && numel_of(shape) < 10000) {
    shape[d] *= 2;
  }
  if (how == 7) {
    return this->shape();
  }
  return shape;
}

ScalarType ArgumentMaker::dtype() {
  return random_.chance(plausible_ ? 92 : 60) ? dtype_ : random_.pick(kTypes);
}

Placing ArgumentMaker::placing() {
  if (random_.chance(60)) {
    return Placing::Contiguous;
  }
  if (random_.chance(15)) {
    return random_.chance(60) ? Placing::Expanded : Placing::Overlapping;
  }
  constexpr Placing kPlacings[] = {
      Placing::Offset, Placing::Reversed, Placing::Stepped, Placing::Padded, Placing::ChannelsLast};
  return random_.pick(kPlacings);
}

Values ArgumentMaker::values() {
  if (!moderate_ && random_.chance(60)) {
    return Values::Extreme;
  }
  constexpr Values kValues[] = {Values::Small, Values::Small, Values::Unit, Values::Index, Values::Any};
  return random_.pick(kValues);
}

Tensor ArgumentMaker::tensor(const std::string& name) {
  if (random_.chance(0.5)) {
    return Tensor();
  }
  if (!tensors_.empty() && random_.chance(6)) {
    return random_.pick(tensors_);
  }
  ScalarType type = dtype();
  Values how = values();
  if (contains(name, "ind") || contains(name, "target") || contains(name, "offsets") || contains(name, "lengths")) {
    if (random_.chance(85)) {
      type = random_.chance(80) ? ScalarType::Long : ScalarType::Int;
    }
    if (random_.chance(85)) {
      how = Values::Index;
    }
  }
  if ((contains(name, "mask") || name == "condition") && random_.chance(80)) {
    type = ScalarType::Bool;
  }
  const Shape sizes = random_.chance(plausible_ ? 93 : 60) ? kin_of(shape_) : shape();
  if (random_.chance(sparse_percent_)) {
    tensors_.push_back(make_sparse(type, sizes, how, random_));
    return tensors_.back();
  }
  Tensor made = make_tensor(type, sizes, placing(), how, random_);
  if (random_.chance(2)) {
    made = on_meta(made);
  }
  if (sizes.empty() && random_.chance(10)) {
    made.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  if (random_.chance(2) && c10::isComplexType(type)) {
    made.unsafeGetTensorImpl()->_set_conj(true);
  }
  if (random_.chance(1) && can_negate(type)) {
    made.unsafeGetTensorImpl()->_set_neg(true);
  }
  tensors_.push_back(made);
  return made;
}

Tensor ArgumentMaker::replaced(const Tensor& tensor) {
  constexpr Placing kPlacings[] = {
      Placing::Offset, Placing::Reversed, Placing::Stepped, Placing::Padded, Placing::ChannelsLast};
  const Placing other = random_.pick(kPlacings);
  return is_sparse(tensor) ? placed_sparse(tensor, other) : placed(tensor, other);
}

Tensor ArgumentMaker::maybe_sparse(const Tensor& tensor) {
  if (!is_plain(tensor) || !random_.chance(sparse_percent_)) {
    return tensor;
  }
  return make_sparse(tensor.scalar_type(), tensor.sizes().vec(), values(), random_);
}

Tensor ArgumentMaker::nearby_tensor(const Tensor& tensor) {
  if (is_sparse(tensor) && random_.chance(70)) {
    if (random_.chance(25)) {
      return replaced(tensor);
    }
    const Shape sizes = tensor.sizes().vec();
    const ScalarType type = random_.chance(20) ? random_.pick(kTypes) : tensor.scalar_type();
    return make_sparse(type, random_.chance(40) ? changed(sizes) : sizes, values(), random_);
  }
  if (!is_plain(tensor)) {
    return this->tensor("");
  }
  const Shape sizes = tensor.sizes().vec();
  const ScalarType type = tensor.scalar_type();
  const size_t how = random_.below(100);
  if (how < 20) {
    return replaced(tensor);
  }
  if (how < 34) {
    return converted(tensor, random_.pick(kTypes));
  }
  if (how < 56) {
    return make_tensor(type, changed(sizes), placing(), values(), random_);
  }
  if (how < 72) {
    return make_tensor(type, sizes, placing(), random_.chance(60) ? Values::Extreme : values(), random_);
  }
  if (how < 78 && !tensors_.empty()) {
    return random_.pick(tensors_);
  }
  if (how < 84) { // overlaps the original, or an output that does
    const Tensor& base = tensors_.empty() ? tensor : random_.pick(tensors_);
    if (!is_plain(base) || base.numel() < 2) {
      return base;
    }
    Shape half = base.sizes().vec();
    Shape strides = base.strides().vec();
    const size_t d = random_.below(half.size());
    if (half.empty() || half[d] < 2) {
      return base;
    }
    if (random_.chance(50)) {
      half[d] -= 1;
      return view_of(base, half, strides, base.storage_offset() + strides[d]);
    }
    strides[d] = 0;
    return view_of(base, half, strides, base.storage_offset());
  }
  if (how < 86) {
    return Tensor();
  }
  if (how < 89) {
    return on_meta(tensor);
  }
  if (how < 93) {
    return make_tensor(type, sizes, random_.chance(50) ? Placing::Expanded : Placing::Overlapping, values(), random_);
  }
  if (how < 95) {
    Tensor flagged = placed(tensor, Placing::Contiguous);
    if (c10::isComplexType(type)) {
      flagged.unsafeGetTensorImpl()->_set_conj(true);
    }
    if (random_.chance(50) && can_negate(type)) {
      flagged.unsafeGetTensorImpl()->_set_neg(true);
    }
    return flagged;
  }
  return this->tensor("");
}

// --- numbers and texts

int64_t ArgumentMaker::integer(const std::string& name) {
  if (random_.chance(plausible_ ? 6 : 30)) {
    return random_.pick(kOddIntegers);
  }
  if (names_dim(name)) {
    const int64_t rank = tensors_.empty() ? 3 : tensors_[0].dim();
    return random_.between(-std::max<int64_t>(rank, 1), std::max<int64_t>(rank, 1) - (plausible_ ? 1 : 0));
  }
  if (name == "reduction") {
    return random_.between(0, 2);
  }
  return random_.chance(85) ? random_.between(0, 4) : random_.between(-5, 12);
}

int64_t ArgumentMaker::enumerator(TypeKind meaning) {
  if (random_.chance(6)) {
    return random_.pick(kOddIntegers);
  }
  if (meaning == TypeKind::ScalarTypeType) {
    return random_.chance(90) ? static_cast<int64_t>(random_.pick(kTypes)) : random_.between(-1, 50);
  }
  if (meaning == TypeKind::LayoutType) {
    return random_.chance(85) ? 0 : random_.between(-1, 9);
  }
  return random_.between(0, random_.chance(90) ? 3 : 8);
}

double ArgumentMaker::number() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kOdd[] = {
      0.0,   -0.0,   1.0,    -1.0, kInfinity,    -kInfinity, std::numeric_limits<double>::quiet_NaN(),
      1e308, -1e308, 1e-320, 1e20, 2147483648.0, 1e10,       1e-5};
  if (random_.chance(plausible_ ? 10 : 35)) {
    return random_.pick(kOdd);
  }
  return random_.chance(50) ? random_.uniform(0, 1) : static_cast<double>(random_.between(-3, 6)) / 2;
}

IValue ArgumentMaker::scalar() {
  const size_t how = random_.below(20);
  if (how < 8) {
    return integer("");
  }
  if (how < 16) {
    return number();
  }
  if (how < 18) {
    return random_.chance(50);
  }
  return c10::complex<double>(number(), number());
}

std::string ArgumentMaker::text(const c10::Argument& argument) {
  if (random_.chance(30) && argument.default_value().has_value() && argument.default_value()->isString()) {
    return argument.default_value()->toStringRef();
  }
  if (random_.chance(1)) {
    return std::string(5000, 'i');
  }
  return random_.pick(kTexts);
}

c10::Device ArgumentMaker::device() {
  const size_t how = random_.below(20);
  if (how < 12) {
    return c10::Device(c10::DeviceType::CPU);
  }
  if (how < 15) {
    return c10::Device(c10::DeviceType::Meta);
  }
  if (how == 15) {
    return c10::Device(c10::DeviceType::CUDA, 0);
  }
  if (how == 16) {
    return c10::Device(c10::DeviceType::CUDA, 100);
  }
  if (how == 17) {
    return c10::Device(c10::DeviceType::PrivateUse1);
  }
  return c10::Device(
      static_cast<c10::DeviceType>(random_.below(static_cast<size_t>(c10::COMPILE_TIME_MAX_DEVICE_TYPES))));
}

// --- values of schema types

IValue ArgumentMaker::fresh(const c10::Argument& argument) {
  const c10::TypePtr& real = argument.real_type() != nullptr ? argument.real_type() : argument.type();
  TypeKind meaning = real->kind();
  if (meaning == TypeKind::OptionalType) {
    meaning = real->containedType(0)->kind();
  }
  if (argument.default_value().has_value() && random_.chance(plausible_ ? 45 : 20)) {
    return *argument.default_value();
  }
  return fresh(*argument.type(), meaning, argument);
}

IValue ArgumentMaker::fresh(const c10::Type& type, TypeKind meaning, const c10::Argument& argument) {
  switch (type.kind()) {
    case TypeKind::TensorType:
      return tensor(argument.name());
    case TypeKind::OptionalType:
      if (random_.chance(35)) {
        return IValue();
      }
      return fresh(*type.containedType(0), meaning, argument);
    case TypeKind::ListType:
      return fresh_list(*type.containedType(0), meaning, argument);
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      if (meaning == TypeKind::ScalarTypeType || meaning == TypeKind::LayoutType ||
          meaning == TypeKind::MemoryFormatType || meaning == TypeKind::QSchemeType) {
        return enumerator(meaning);
      }
      return integer(argument.name());
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
      return number();
    case TypeKind::BoolType:
    case TypeKind::SymBoolType:
      return random_.chance(50);
    case TypeKind::NumberType:
      return scalar();
    case TypeKind::ComplexType:
      return c10::complex<double>(number(), number());
    case TypeKind::StringType:
      return text(argument);
    case TypeKind::DeviceObjType:
      return device();
    case TypeKind::GeneratorType:
      return random_.chance(85) ? IValue(at::detail::createCPUGenerator(1)) : IValue(at::Generator());
    case TypeKind::StorageType:
      return tensors_.empty() || !tensors_[0].has_storage() ? IValue(c10::Storage()) : IValue(tensors_[0].storage());
    default:
      return IValue();
  }
}

IValue ArgumentMaker::fresh_list(const c10::Type& element, TypeKind meaning, const c10::Argument& argument) {
  const int64_t usual = argument.N().value_or(
      tensors_.empty() ? 2 : std::clamp<int64_t>(names_dim(argument.name()) ? 1 : tensors_[0].dim(), 1, 8));
  const int64_t length = random_.chance(plausible_ ? 90 : 60) ? usual : random_.chance(2) ? 70 : random_.between(0, 5);
  switch (element.kind()) {
    case TypeKind::TensorType: {
      c10::List<Tensor> list;
      for (int64_t i = 0; i < length; ++i) {
        list.push_back(tensor(argument.name()));
      }
      return list;
    }
    case TypeKind::OptionalType: {
      c10::List<std::optional<Tensor>> list;
      for (int64_t i = 0; i < length; ++i) {
        list.push_back(random_.chance(30) ? std::nullopt : std::optional<Tensor>(tensor(argument.name())));
      }
      return list;
    }
    case TypeKind::IntType:
    case TypeKind::SymIntType: {
      std::vector<int64_t> list;
      for (int64_t i = 0; i < length; ++i) {
        list.push_back(integer(argument.name()));
      }
      if (contains(argument.name(), "size") && !tensors_.empty() && random_.chance(50)) {
        list = tensors_[0].sizes().vec();
      }
      return list;
    }
    case TypeKind::FloatType: {
      std::vector<double> list;
      for (int64_t i = 0; i < length; ++i) {
        list.push_back(number());
      }
      return list;
    }
    case TypeKind::BoolType: {
      c10::List<bool> list;
      for (int64_t i = 0; i < length; ++i) {
        list.push_back(random_.chance(50));
      }
      return list;
    }
    case TypeKind::NumberType: {
      c10::List<at::Scalar> list;
      for (int64_t i = 0; i < length; ++i) {
        list.push_back(scalar().toScalar());
      }
      return list;
    }
    default:
      (void)meaning;
      return IValue();
  }
}

IValue ArgumentMaker::nearby(const IValue& value, const c10::Argument& argument) {
  const bool optional = argument.type()->kind() == TypeKind::OptionalType;
  if (optional && random_.chance(10)) {
    return IValue();
  }
  if (value.isTensor()) {
    return nearby_tensor(value.toTensor());
  }
  if (value.isList()) {
    return nearby_list(value, argument);
  }
  if (value.isInt() && argument.type()->kind() == TypeKind::IntType && random_.chance(50)) {
    return wrapping_sum(value.toInt(), random_.between(-2, 2));
  }
  if (value.isBool() && argument.type()->kind() == TypeKind::BoolType) {
    return !value.toBool();
  }
  return fresh(argument);
}

IValue ArgumentMaker::nearby_list(const IValue& value, const c10::Argument& argument) {
  if (value.isTensorList()) {
    std::vector<Tensor> list = value.toTensorVector();
    if (list.empty() || random_.chance(10)) {
      return fresh(argument);
    }
    const size_t i = random_.below(list.size());
    const size_t how = random_.below(10);
    if (how == 0) {
      list.erase(list.begin() + static_cast<int64_t>(i));
    } else if (how == 1) {
      list.push_back(list[i]);
    } else if (how == 2) {
      list.clear();
    } else {
      list[i] = nearby_tensor(list[i]);
    }
    return list;
  }
  if (value.isIntList()) {
    std::vector<int64_t> list = value.toIntVector();
    const size_t how = random_.below(10);
    if (list.empty() || how == 0) {
      list.push_back(integer(argument.name()));
    } else if (how == 1) {
      list.pop_back();
    } else if (how == 2) {
      list.clear();
    } else {
      int64_t& item = list[random_.below(list.size())];
      if (how < 6) {
        item = wrapping_sum(item, random_.between(-2, 2));
      } else {
        item = random_.chance(40) ? random_.pick(kOddIntegers) : integer(argument.name());
      }
    }
    return list;
  }
  return fresh(argument);
}

} // namespace fuzz
