// The types of options that are one of some constants, such as torch::kSum. libtorch takes a std::variant for each,
// which costs a program that includes <torch/torch.h> 2 to 3 MB of the compiler's memory apiece. These know what they
// hold by a number, and std::get_if, std::get, std::holds_alternative and std::visit take them as they take a variant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace torch::enumtype {

namespace detail {

/// The one object of a constant's type that pointers to it lead to.
template <class Constant>
inline constexpr Constant object{};

template <class T, class... Ts>
inline constexpr bool is_among = (std::is_same_v<T, Ts> || ...);

/// Where T stands among Ts.
template <class T, class... Ts>
constexpr uint8_t position_among() {
  uint8_t count = 0, position = 0;
  ((std::is_same_v<T, Ts> ? void(position = count) : void(), ++count), ...);
  return position;
}

/// Calls `visitor` with the object of the constant at `position`.
template <class Constant, class... Rest, class Visitor>
constexpr decltype(auto) visit_constant(Visitor&& visitor, size_t position) {
  if constexpr (sizeof...(Rest) > 0) {
    if (position > 0) {
      return visit_constant<Rest...>(std::forward<Visitor>(visitor), position - 1);
    }
  }
  return std::forward<Visitor>(visitor)(object<Constant>);
}

} // namespace detail

/// One of `Constants`; the first of them unless another is given.
template <class... Constants>
class Choice {
 public:
  constexpr Choice() = default;
  template <class T, std::enable_if_t<detail::is_among<T, Constants...>, int> = 0>
  constexpr Choice(T) : position_(detail::position_among<T, Constants...>()) {}
  /// From a variant of some of the constants.
  template <class... Others>
  Choice(const std::variant<Others...>& variant)
      : Choice(std::visit([](auto constant) { return Choice(constant); }, variant)) {}

  operator std::variant<Constants...>() const {
    return visit([](auto constant) { return std::variant<Constants...>(constant); });
  }

  constexpr size_t index() const noexcept {
    return position_;
  }

  /// The constant T if that is the choice, else null.
  template <class T>
  constexpr const T* get_if() const noexcept {
    static_assert(detail::is_among<T, Constants...>, "This option does not take that constant.");
    return position_ == detail::position_among<T, Constants...>() ? &detail::object<T> : nullptr;
  }

  template <class Visitor>
  constexpr decltype(auto) visit(Visitor&& visitor) const {
    return detail::visit_constant<Constants...>(std::forward<Visitor>(visitor), position_);
  }

  friend constexpr bool operator==(Choice a, Choice b) noexcept {
    return a.position_ == b.position_;
  }
  friend constexpr bool operator!=(Choice a, Choice b) noexcept {
    return a.position_ != b.position_;
  }

 private:
  uint8_t position_ = 0;
};

/// A value, or one of `Constants` in its place.
template <class Value, class... Constants>
class ValueOrChoice {
 public:
  template <class T, std::enable_if_t<detail::is_among<T, Constants...>, int> = 0>
  ValueOrChoice(T) : value_(no_value()), position_(1 + detail::position_among<T, Constants...>()) {}
  template <
      class T,
      std::enable_if_t<
          !detail::is_among<std::decay_t<T>, ValueOrChoice, Constants...> && std::is_convertible_v<T&&, Value>,
          int> = 0>
  ValueOrChoice(T&& value) : value_(std::forward<T>(value)) {}

  /// The value, or the constant T, if that is what there is, else null.
  template <class T>
  const T* get_if() const noexcept {
    static_assert(detail::is_among<T, Value, Constants...>, "This option does not take that type.");
    if constexpr (std::is_same_v<T, Value>) {
      return position_ == 0 ? &value_ : nullptr;
    } else {
      return position_ == 1 + detail::position_among<T, Constants...>() ? &detail::object<T> : nullptr;
    }
  }

  template <class Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    if (position_ == 0) {
      return std::forward<Visitor>(visitor)(value_);
    }
    return detail::visit_constant<Constants...>(std::forward<Visitor>(visitor), position_ - 1);
  }

 private:
  static Value no_value() {
    if constexpr (std::is_default_constructible_v<Value>) {
      return Value();
    } else {
      return Value(0);
    }
  }

  Value value_;
  uint8_t position_ = 0;
};

} // namespace torch::enumtype

namespace std {

template <class T, class... Constants>
constexpr const T* get_if(const torch::enumtype::Choice<Constants...>* choice) noexcept {
  return choice != nullptr ? choice->template get_if<T>() : nullptr;
}
template <class T, class... Types>
const T* get_if(const torch::enumtype::ValueOrChoice<Types...>* choice) noexcept {
  return choice != nullptr ? choice->template get_if<T>() : nullptr;
}

template <class T, class... Constants>
constexpr bool holds_alternative(const torch::enumtype::Choice<Constants...>& choice) noexcept {
  return choice.template get_if<T>() != nullptr;
}
template <class T, class... Types>
bool holds_alternative(const torch::enumtype::ValueOrChoice<Types...>& choice) noexcept {
  return choice.template get_if<T>() != nullptr;
}

/// Throws std::bad_variant_access where it is another.
template <class T, class... Constants>
constexpr const T& get(const torch::enumtype::Choice<Constants...>& choice) {
  const T* found = choice.template get_if<T>();
  return found != nullptr ? *found : throw bad_variant_access();
}
template <class T, class... Types>
const T& get(const torch::enumtype::ValueOrChoice<Types...>& choice) {
  const T* found = choice.template get_if<T>();
  return found != nullptr ? *found : throw bad_variant_access();
}

template <class Visitor, class... Constants>
constexpr decltype(auto) visit(Visitor&& visitor, const torch::enumtype::Choice<Constants...>& choice) {
  return choice.visit(std::forward<Visitor>(visitor));
}
template <class Visitor, class... Types>
decltype(auto) visit(Visitor&& visitor, const torch::enumtype::ValueOrChoice<Types...>& choice) {
  return choice.visit(std::forward<Visitor>(visitor));
}

} // namespace std

// What <c10/util/variant.h> names, with the functions above.
namespace c10 {
using std::get;
using std::get_if;
using std::holds_alternative;
using std::visit;
} // namespace c10
