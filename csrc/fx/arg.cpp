#include <csrc/fx/arg.h>

#include <c10/util/Exception.h>

#include <cstring>
#include <functional>

namespace torch::fx {

namespace {

void mix(size_t& seed, size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2);
}

bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0 || (a != a && b != b);
}

size_t hash_constant(const c10::IValue& value) {
  size_t seed = value.isNone() ? 1 : 2;
  if (value.isInt()) {
    mix(seed, std::hash<int64_t>()(value.toInt()));
  } else if (value.isDouble()) {
    mix(seed, value.toDouble() == value.toDouble() ? std::hash<double>()(value.toDouble()) : 7);
  } else if (value.isBool()) {
    mix(seed, value.toBool() ? 3 : 5);
  } else if (value.isString()) {
    mix(seed, std::hash<std::string>()(value.toStringRef()));
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) {
      mix(seed, hash_constant(item));
    }
  } else if (value.isTensor()) {
    mix(seed, std::hash<const void*>()(value.toTensor().unsafeGetTensorImpl()));
  }
  return seed;
}

} // namespace

bool same_constant(const c10::IValue& a, const c10::IValue& b) {
  if (a.isDouble() && b.isDouble()) {
    return same_bits(a.toDouble(), b.toDouble());
  }
  if (a.isComplexDouble() && b.isComplexDouble()) {
    const auto x = a.toComplexDouble(), y = b.toComplexDouble();
    return same_bits(x.real(), y.real()) && same_bits(x.imag(), y.imag());
  }
  if (a.isTensor() || b.isTensor()) {
    return a.isTensor() && b.isTensor() && a.toTensor().is_same(b.toTensor());
  }
  if (a.isList() && b.isList()) {
    const auto x = a.toListRef(), y = b.toListRef();
    bool same = x.size() == y.size() && *a.toList().elementType() == *b.toList().elementType();
    for (size_t i = 0; same && i < x.size(); ++i) {
      same = same_constant(x[i], y[i]);
    }
    return same;
  }
  return (a.isNone() && b.isNone()) || (a.isInt() && b.isInt() && a.toInt() == b.toInt()) ||
      (a.isBool() && b.isBool() && a.toBool() == b.toBool()) ||
      (a.isString() && b.isString() && a.toStringRef() == b.toStringRef()) ||
      (a.isDevice() && b.isDevice() && a.toDevice() == b.toDevice());
}

Arg::Arg(Dim dim) : data_(dim) {
  if (!dim.is_expression()) {
    data_ = c10::IValue(dim.value());
  }
}

const c10::IValue& Arg::constant() const {
  TORCH_CHECK(is_constant(), "the argument is no constant");
  return std::get<c10::IValue>(data_);
}
fx::Value Arg::value() const {
  TORCH_CHECK(is_value(), "the argument is no result of a node");
  return std::get<fx::Value>(data_);
}
Dim Arg::size() const {
  TORCH_CHECK(kind() == Kind::Size, "the argument is no size");
  return std::get<Dim>(data_);
}
const std::shared_ptr<fx::Graph>& Arg::graph() const {
  TORCH_CHECK(kind() == Kind::Graph, "the argument is no graph");
  return std::get<std::shared_ptr<fx::Graph>>(data_);
}
const std::vector<Arg>& Arg::list() const {
  TORCH_CHECK(is_list(), "the argument is no list");
  return std::get<std::vector<Arg>>(data_);
}

bool Arg::operator==(const Arg& other) const {
  if (kind() != other.kind()) {
    return false;
  }
  if (is_constant()) {
    return same_constant(constant(), other.constant());
  }
  switch (kind()) {
    case Kind::Value:
      return value() == other.value();
    case Kind::Size:
      return size() == other.size();
    case Kind::Graph:
      return graph() == other.graph();
    default:
      return list() == other.list();
  }
}

size_t Arg::hash() const {
  size_t seed = data_.index();
  switch (kind()) {
    case Kind::Constant:
      mix(seed, hash_constant(constant()));
      break;
    case Kind::Value:
      mix(seed, std::hash<const void*>()(value().node) + value().result);
      break;
    case Kind::Size:
      mix(seed, size().index());
      break;
    case Kind::Graph:
      mix(seed, std::hash<const void*>()(graph().get()));
      break;
    case Kind::List:
      for (const Arg& item : list()) {
        mix(seed, item.hash());
      }
      break;
  }
  return seed;
}

} // namespace torch::fx
