// Fields of options and states as data: comparing, inheriting, dictionaries. For the sources of optimizers.
#pragma once

#include <aten/Functions.h>
#include <aten/core/ivalue.h>
#include <c10/core/DefaultDtype.h>
#include <csrc/optim/optimizer.h>
#include <csrc/serialize/archive.h>

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace torch::optim::detail {

/// Says what fields a class has: `kNames`, and `of(object)`, a tuple of references in that order. For states also
/// `kNumbersAsTensors`: whether Python keeps their numbers as tensors.
template <class T>
struct Fields;

template <class T, class F>
void for_each_field(const F& f) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    (f(std::integral_constant<size_t, I>{}), ...);
  }(std::make_index_sequence<Fields<T>::kNames.size()>{});
}

// ---- values in and out of IValue
// -------------------------------------------------------------------------------------

inline double number_of(const c10::IValue& value) {
  if (value.isTensor()) {
    return value.toTensor().item<double>();
  }
  if (value.isBool()) {
    return value.toBool();
  }
  return value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble();
}

template <class T>
c10::IValue pack(const T& value) {
  return c10::IValue(value);
}
template <class T>
c10::IValue pack(const std::optional<T>& value) {
  return value.has_value() ? pack(*value) : c10::IValue();
}
inline c10::IValue pack(const std::deque<Tensor>& values) {
  return c10::List<Tensor>(std::vector<Tensor>(values.begin(), values.end()));
}

inline void unpack(const c10::IValue& value, double& to) {
  to = number_of(value);
}
inline void unpack(const c10::IValue& value, bool& to) {
  to = number_of(value) != 0;
}
inline void unpack(const c10::IValue& value, int64_t& to) {
  to = value.isInt() ? value.toInt() : static_cast<int64_t>(number_of(value));
}
inline void unpack(const c10::IValue& value, std::string& to) {
  to = value.toStringRef();
}
inline void unpack(const c10::IValue& value, Tensor& to) {
  to = value.toTensor();
}
inline void unpack(const c10::IValue& value, std::tuple<double, double>& to) {
  const auto pair = value.isTuple() ? std::vector<c10::IValue>(value.toTupleRef().elements()) : value.toListRef().vec();
  TORCH_CHECK(pair.size() == 2, "optimizer options: expected a pair of numbers, got ", pair.size(), " values");
  to = {number_of(pair[0]), number_of(pair[1])};
}
template <class Container>
void unpack_tensors(const c10::IValue& value, Container& to) {
  to.clear();
  for (const c10::IValue& element : value.toListRef()) {
    to.push_back(element.toTensor());
  }
}
inline void unpack(const c10::IValue& value, std::deque<Tensor>& to) {
  unpack_tensors(value, to);
}
inline void unpack(const c10::IValue& value, std::vector<Tensor>& to) {
  unpack_tensors(value, to);
}
template <class T>
void unpack(const c10::IValue& value, std::optional<T>& to) {
  if (value.isNone()) {
    to.reset();
  } else {
    unpack(value, to.emplace());
  }
}

// ---- equality
// ----------------------------------------------------------------------------------------------------------

template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
inline bool same(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || (a.sizes() == b.sizes() && at::equal(a, b)));
}
template <class Container>
bool same_tensors(const Container& a, const Container& b) {
  return a.size() == b.size() &&
      std::equal(a.begin(), a.end(), b.begin(), [](const Tensor& x, const Tensor& y) { return same(x, y); });
}
inline bool same(const std::deque<Tensor>& a, const std::deque<Tensor>& b) {
  return same_tensors(a, b);
}
inline bool same(const std::optional<std::vector<Tensor>>& a, const std::optional<std::vector<Tensor>>& b) {
  return a.has_value() == b.has_value() && (!a.has_value() || same_tensors(*a, *b));
}

template <class T>
bool same_fields(const T& a, const T& b) {
  const auto x = Fields<T>::of(a), y = Fields<T>::of(b);
  bool equal = true;
  for_each_field<T>([&](auto i) { equal = equal && same(std::get<i>(x), std::get<i>(y)); });
  return equal;
}

// ---- options
// -----------------------------------------------------------------------------------------------------------

using GenericDict = c10::impl::GenericDict;

inline GenericDict string_dict() {
  return GenericDict(c10::StringType::get(), c10::AnyType::get());
}

/// Options with nothing set. SGD's learning rate has no default of its own; Python's stands for it.
template <class T>
T initial_options() {
  if constexpr (std::is_default_constructible_v<T>) {
    return T();
  } else {
    return T(1e-3);
  }
}

template <class Derived>
std::unique_ptr<OptimizerOptions> BuiltinOptions<Derived>::clone() const {
  return std::make_unique<Derived>(static_cast<const Derived&>(*this));
}

template <class Derived>
bool BuiltinOptions<Derived>::equal(const Derived& lhs, const Derived& rhs) {
  return same_fields(lhs, rhs);
}

/// Each field under its name, without undefined tensors. libtorch writes options without a value, but not such state.
template <class T>
void write_fields(serialize::OutputArchive& archive, const T& object, bool with_none) {
  const auto values = Fields<T>::of(object);
  for_each_field<T>([&](auto i) {
    const c10::IValue packed = pack(std::get<i>(values));
    if (packed.isNone() ? !with_none : packed.isTensor() && !packed.toTensor().defined()) {
      return;
    }
    archive.write(Fields<T>::kNames[i], packed);
  });
}

template <class T>
void read_fields(serialize::InputArchive& archive, T& object) {
  const auto values = Fields<T>::of(object);
  for_each_field<T>([&](auto i) {
    c10::IValue packed;
    if (archive.try_read(Fields<T>::kNames[i], packed)) {
      unpack(packed, std::get<i>(values));
    }
  });
}

template <class Derived>
void BuiltinOptions<Derived>::serialize(torch::serialize::OutputArchive& archive) const {
  write_fields(archive, static_cast<const Derived&>(*this), true);
}
/// Options that only our optimizers have: files of libtorch lack them.
constexpr bool is_own_option(std::string_view name) {
  return name == "maximize" || name == "fused";
}

template <class Derived>
void BuiltinOptions<Derived>::serialize(torch::serialize::InputArchive& archive) {
  for (const std::string_view name : Fields<Derived>::kNames) {
    c10::IValue packed;
    TORCH_CHECK(
        is_own_option(name) || archive.try_read(std::string(name), packed), "Optimizer: the archive has no option '",
        name, "'; was it written by another kind of optimizer?");
  }
  read_fields(archive, static_cast<Derived&>(*this));
}

template <class Derived>
double BuiltinOptions<Derived>::get_lr() const {
  return static_cast<const Derived&>(*this).lr();
}

template <class Derived>
void BuiltinOptions<Derived>::set_lr(const double lr) {
  static_cast<Derived&>(*this).lr(lr);
}

template <class Derived>
std::optional<double> BuiltinOptions<Derived>::get_momentum() const {
  [[maybe_unused]] const auto& self = static_cast<const Derived&>(*this);
  if constexpr (requires { self.betas(); }) {
    return std::get<0>(self.betas());
  } else if constexpr (requires { self.momentum(); }) {
    return self.momentum();
  } else {
    return std::nullopt;
  }
}

template <class Derived>
void BuiltinOptions<Derived>::set_momentum(double momentum) {
  [[maybe_unused]] auto& self = static_cast<Derived&>(*this);
  if constexpr (requires { self.betas(); }) {
    std::get<0>(self.betas()) = momentum;
  } else if constexpr (requires { self.momentum(); }) {
    self.momentum(momentum);
  } else {
    OptimizerOptions::set_momentum(momentum);
  }
}

template <class Derived>
void BuiltinOptions<Derived>::inherit(const OptimizerOptions& defaults) {
  const auto* same_class = dynamic_cast<const Derived*>(&defaults);
  if (!same_class) {
    return;
  }
  const Derived initial = initial_options<Derived>();
  const auto unset = Fields<Derived>::of(initial), theirs = Fields<Derived>::of(*same_class);
  const auto mine = Fields<Derived>::of(static_cast<Derived&>(*this));
  for_each_field<Derived>([&](auto i) {
    if (std::get<i>(mine) == std::get<i>(unset)) {
      std::get<i>(mine) = std::get<i>(theirs);
    }
  });
}

template <class Derived>
c10::IValue BuiltinOptions<Derived>::state_dict() const {
  const auto values = Fields<Derived>::of(static_cast<const Derived&>(*this));
  GenericDict dict = string_dict();
  for_each_field<Derived>(
      [&](auto i) { dict.insert(std::string(Fields<Derived>::kNames[i]), pack(std::get<i>(values))); });
  return dict;
}

template <class Derived>
void BuiltinOptions<Derived>::load_state_dict(const c10::IValue& fields) {
  const GenericDict dict = fields.toGenericDict();
  const auto values = Fields<Derived>::of(static_cast<Derived&>(*this));
  for_each_field<Derived>([&](auto i) {
    const auto found = dict.find(std::string(Fields<Derived>::kNames[i]));
    if (found != dict.end()) {
      unpack(found->value(), std::get<i>(values));
    }
  });
}

// ---- state of a parameter
// -----------------------------------------------------------------------------------------------

template <class Derived>
std::unique_ptr<OptimizerParamState> BuiltinParamState<Derived>::clone() const {
  return std::make_unique<Derived>(static_cast<const Derived&>(*this));
}

template <class Derived>
bool BuiltinParamState<Derived>::equal(const Derived& lhs, const Derived& rhs) {
  return same_fields(lhs, rhs);
}

template <class Derived>
void BuiltinParamState<Derived>::serialize(torch::serialize::OutputArchive& archive) const {
  write_fields(archive, static_cast<const Derived&>(*this), false);
}
template <class Derived>
void BuiltinParamState<Derived>::serialize(torch::serialize::InputArchive& archive) {
  read_fields(archive, static_cast<Derived&>(*this));
}

template <class Derived>
c10::IValue BuiltinParamState<Derived>::state_dict() const {
  const auto values = Fields<Derived>::of(static_cast<const Derived&>(*this));
  GenericDict dict = string_dict();
  for_each_field<Derived>([&](auto i) {
    const auto& value = std::get<i>(values);
    using Value = std::decay_t<decltype(value)>;
    c10::IValue packed = pack(value);
    if (packed.isNone() || (packed.isTensor() && !packed.toTensor().defined())) {
      return;
    }
    if constexpr (std::is_arithmetic_v<Value> && Fields<Derived>::kNumbersAsTensors) {
      // float32 as in PyTorch, unless that would round it: training goes on as if it had not stopped.
      const bool exact = static_cast<Value>(static_cast<float>(value)) == value;
      packed = at::scalar_tensor(value, exact ? at::kFloat : at::kDouble);
    }
    dict.insert(std::string(Fields<Derived>::kNames[i]), std::move(packed));
  });
  return dict;
}

/// A copy in what the parameter computes with.
inline void match(Tensor& value, const Tensor& param) {
  if (!value.defined()) {
    return;
  }
  const auto dtype =
      c10::isFloatingType(param.scalar_type()) || param.is_complex() ? param.scalar_type() : value.scalar_type();
  value = value.detach().to(param.device(), dtype, /*non_blocking=*/false, /*copy=*/true);
}
template <class T>
void match(T& value, const Tensor& param) {
  if constexpr (std::is_same_v<T, std::optional<std::vector<Tensor>>>) {
    if (value.has_value()) {
      for (Tensor& t : *value) {
        match(t, param);
      }
    }
  } else if constexpr (std::is_same_v<T, std::deque<Tensor>>) {
    for (Tensor& t : value) {
      match(t, param);
    }
  }
}

template <class Derived>
void BuiltinParamState<Derived>::load_state_dict(const c10::IValue& fields, const Tensor& param) {
  const GenericDict dict = fields.toGenericDict();
  const auto values = Fields<Derived>::of(static_cast<Derived&>(*this));
  for_each_field<Derived>([&](auto i) {
    const auto found = dict.find(std::string(Fields<Derived>::kNames[i]));
    if (found == dict.end() || found->value().isNone()) {
      return;
    }
    unpack(found->value(), std::get<i>(values));
    match(std::get<i>(values), param);
  });
}

} // namespace torch::optim::detail
