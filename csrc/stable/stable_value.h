// C++ values from and to StableIValue: what a boxed kernel of the stable interface reads from its stack and leaves
// there.
//
//   StableIValue word = torch::stable::detail::from(tensor);                  // owned by the word
//   auto tensor = torch::stable::detail::to<torch::stable::Tensor>(word);     // owned by the tensor again
#pragma once

#include <aten/core/enum_tag.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <csrc/stable/tensor.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace torch::stable::detail {

template <class T>
StableIValue from(const T& value);
template <class T>
T to(StableIValue value);

// Handles: whatever is longer than a word.
TORCH_API StableIValue from_string(std::string_view text);
TORCH_API std::string to_string(StableIValue value);
TORCH_API StableIValue from_words(const StableIValue* words, size_t count);
TORCH_API std::vector<StableIValue> to_words(StableIValue list);
TORCH_API StableIValue from_some(StableIValue value);
/// Nullopt for None; else the value that the word held.
TORCH_API std::optional<StableIValue> to_some(StableIValue value);

template <class T>
struct Kind {
  static_assert(std::is_enum_v<T> || std::is_arithmetic_v<T>, "this type is not one of the stable interface's");
  static StableIValue from(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      const double wide = value;
      StableIValue word;
      std::memcpy(&word, &wide, sizeof(word));
      return word;
    } else {
      return static_cast<StableIValue>(static_cast<int64_t>(value));
    }
  }
  static T to(StableIValue word) {
    if constexpr (std::is_floating_point_v<T>) {
      double wide;
      std::memcpy(&wide, &word, sizeof(wide));
      return static_cast<T>(wide);
    } else {
      return static_cast<T>(static_cast<int64_t>(word));
    }
  }
};

template <>
struct Kind<std::nullopt_t> {
  static StableIValue from(std::nullopt_t /*none*/) {
    return 0;
  }
  static std::nullopt_t to(StableIValue /*none*/) {
    return std::nullopt;
  }
};

template <>
struct Kind<Tensor> {
  static StableIValue from(const Tensor& value) {
    AtenTensorHandle handle = nullptr;
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_new_tensor_handle(value.get(), &handle));
    return reinterpret_cast<StableIValue>(handle);
  }
  static Tensor to(StableIValue word) {
    return Tensor(reinterpret_cast<AtenTensorHandle>(word));
  }
};

template <>
struct Kind<Generator> {
  static StableIValue from(const Generator& value) {
    AtenGeneratorHandle handle = nullptr;
    STABLE_TORCH_ERROR_CODE_CHECK(torch_new_generator_handle(value.get(), &handle));
    return reinterpret_cast<StableIValue>(handle);
  }
  static Generator to(StableIValue word) {
    return Generator(reinterpret_cast<AtenGeneratorHandle>(word));
  }
};

template <>
struct Kind<Device> {
  static StableIValue from(const Device& value) {
    return static_cast<uint64_t>(value.type()) << 32 | static_cast<uint32_t>(value.index());
  }
  static Device to(StableIValue word) {
    return Device(static_cast<c10::DeviceType>(word >> 32), static_cast<int32_t>(word & 0xffffffffu));
  }
};

template <>
struct Kind<std::string> {
  static StableIValue from(const std::string& value) {
    return from_string(value);
  }
  static std::string to(StableIValue word) {
    return to_string(word);
  }
};
template <>
struct Kind<std::string_view> {
  static StableIValue from(std::string_view value) {
    return from_string(value);
  }
};
template <>
struct Kind<const char*> {
  static StableIValue from(const char* value) {
    return from_string(value);
  }
};

template <class T>
struct Kind<std::optional<T>> {
  static StableIValue from(const std::optional<T>& value) {
    return value ? from_some(detail::from(*value)) : 0;
  }
  static std::optional<T> to(StableIValue word) {
    const auto some = to_some(word);
    return some ? std::optional<T>(detail::to<T>(*some)) : std::nullopt;
  }
};

template <class T>
struct Kind<c10::ArrayRef<T>> {
  static StableIValue from(c10::ArrayRef<T> values) {
    std::vector<StableIValue> words;
    words.reserve(values.size());
    for (const T& value : values) {
      words.push_back(detail::from(value));
    }
    return from_words(words.data(), words.size());
  }
};
template <class T>
struct Kind<std::vector<T>> {
  static StableIValue from(const std::vector<T>& values) {
    std::vector<StableIValue> words;
    words.reserve(values.size());
    for (const T value : values) {
      words.push_back(detail::from(value));
    }
    return from_words(words.data(), words.size());
  }
  static std::vector<T> to(StableIValue word) {
    std::vector<T> values;
    for (StableIValue element : to_words(word)) {
      values.push_back(detail::to<T>(element));
    }
    return values;
  }
};

/// The word owns what it refers to: give it to a stack, or back by to<T>().
template <class T>
StableIValue from(const T& value) {
  return Kind<T>::from(value);
}
inline StableIValue from(const char* value) {
  return from_string(value);
}
/// Takes over what the word owned.
template <class T>
T to(StableIValue value) {
  return Kind<T>::to(value);
}

} // namespace torch::stable::detail
