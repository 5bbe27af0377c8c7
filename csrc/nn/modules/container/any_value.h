// A value of any copyable type: what goes from module to module when their types are not known.
#pragma once

#include <c10/util/SwapValues.h>
#include <c10/macros/Export.h>

#include <type_traits>
#include <typeinfo>
#include <utility>

namespace torch::nn {

namespace detail {
[[noreturn]] TORCH_API void throw_bad_any_value(const std::type_info& wanted, const std::type_info& actual);
} // namespace detail

class AnyValue {
 public:
  AnyValue(AnyValue&& other) noexcept : content_(c10::detail::exchange_value<Placeholder*>(other.content_, nullptr)) {}
  AnyValue& operator=(AnyValue&& other) noexcept {
    c10::detail::swap_values(content_, other.content_);
    return *this;
  }
  AnyValue(const AnyValue& other) : content_(other.content_ ? other.content_->clone() : nullptr) {}
  AnyValue& operator=(const AnyValue& other) {
    return *this = AnyValue(other);
  }
  ~AnyValue() {
    delete content_;
  }

  template <typename T, typename = std::enable_if_t<!std::is_same_v<std::decay_t<T>, AnyValue>>>
  explicit AnyValue(T&& value) : content_(new Holder<std::decay_t<T>>(std::forward<T>(value))) {}

  /// A pointer to the value if its type is T, else null.
  template <typename T>
  T* try_get() {
    static_assert(!std::is_reference_v<T>, "AnyValue stores decayed types, you cannot cast it to a reference type");
    static_assert(!std::is_array_v<T>, "AnyValue stores decayed types, you must cast it to T* instead of T[]");
    return typeid(T) == type_info() ? &static_cast<Holder<T>&>(*content_).value : nullptr;
  }
  /// A copy of the value. Throws when its type is not T.
  template <typename T>
  T get() {
    if (T* value = try_get<T>()) {
      return *value;
    }
    detail::throw_bad_any_value(typeid(T), type_info());
  }
  /// The type of the value; void when it was moved away.
  const std::type_info& type_info() const noexcept {
    return content_ ? content_->type_info : typeid(void);
  }

 private:
  struct Placeholder {
    explicit Placeholder(const std::type_info& type) noexcept : type_info(type) {}
    virtual ~Placeholder() = default;
    virtual Placeholder* clone() const = 0;
    const std::type_info& type_info;
  };
  template <typename T>
  struct Holder final : Placeholder {
    template <typename U>
    explicit Holder(U&& value) : Placeholder(typeid(T)), value(std::forward<U>(value)) {}
    Placeholder* clone() const override {
      return new Holder<T>(value);
    }
    T value;
  };

  // Not a unique_ptr, whose templates cost every program that includes this.
  Placeholder* content_;
};

} // namespace torch::nn
