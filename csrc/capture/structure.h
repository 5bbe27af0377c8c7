// Arguments and results of C++ functions as trees of tuples, lists and dicts with tensors and constants as leaves.
#pragma once

#include <aten/core/Dict.h>
#include <aten/core/Tensor.h>
#include <aten/core/ivalue.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch::capture {

/// Which containers hold the leaves of a value.
struct Shape {
  enum class Kind : uint8_t { Leaf, Tuple, List, Dict };

  Kind kind = Kind::Leaf;
  std::vector<std::string> keys = {}; ///< of a dict
  std::vector<Shape> children = {};
};

/// Leaves in order: tensors, numbers, strings, None. `paths` says where each stands: "x[1]['key']".
struct Leaves {
  std::vector<c10::IValue> values;
  std::vector<std::string> paths;
  size_t next = 0; ///< the one that is taken next

  void add(c10::IValue value, const std::string& path) {
    values.push_back(std::move(value));
    paths.push_back(path);
  }
  c10::IValue take() {
    return values.at(next++);
  }
};

/// How values of a type are taken apart, and put together again with other leaves: `like` says how they look.
template <class T, class = void>
struct Structure {
  static_assert(
      std::is_constructible_v<c10::IValue, T>,
      "export_() takes tensors, numbers, strings, and vectors, tuples, optionals and dicts by name of them");
  static Shape add(const T& value, const std::string& path, Leaves& leaves) {
    leaves.add(c10::IValue(value), path);
    return {};
  }
  static T take(const T& like, Leaves& leaves) {
    leaves.take();
    return like; // a constant
  }
};

template <>
struct Structure<at::Tensor> {
  static Shape add(const at::Tensor& value, const std::string& path, Leaves& leaves) {
    leaves.add(value.defined() ? c10::IValue(value) : c10::IValue(), path);
    return {};
  }
  static at::Tensor take(const at::Tensor&, Leaves& leaves) {
    const c10::IValue value = leaves.take();
    return value.isTensor() ? value.toTensor() : at::Tensor();
  }
};

template <class T>
struct Structure<std::optional<T>> {
  static Shape add(const std::optional<T>& value, const std::string& path, Leaves& leaves) {
    if (value) {
      return Structure<T>::add(*value, path, leaves);
    }
    leaves.add(c10::IValue(), path);
    return {};
  }
  static std::optional<T> take(const std::optional<T>& like, Leaves& leaves) {
    if (like) {
      return Structure<T>::take(*like, leaves);
    }
    leaves.take();
    return std::nullopt;
  }
};

template <class T>
struct Structure<std::vector<T>> {
  static Shape add(const std::vector<T>& values, const std::string& path, Leaves& leaves) {
    Shape shape{Shape::Kind::List, {}, {}};
    for (size_t i = 0; i < values.size(); ++i) {
      shape.children.push_back(Structure<T>::add(values[i], path + "[" + std::to_string(i) + "]", leaves));
    }
    return shape;
  }
  static std::vector<T> take(const std::vector<T>& like, Leaves& leaves) {
    std::vector<T> values;
    for (const T& value : like) {
      values.push_back(Structure<T>::take(value, leaves));
    }
    return values;
  }
};

template <class... T>
struct Structure<std::tuple<T...>> {
  static Shape add(const std::tuple<T...>& values, const std::string& path, Leaves& leaves) {
    Shape shape{Shape::Kind::Tuple, {}, {}};
    [[maybe_unused]] size_t i = 0;
    std::apply(
        [&](const T&... value) {
          (shape.children.push_back(Structure<T>::add(value, path + "[" + std::to_string(i++) + "]", leaves)), ...);
        },
        values);
    return shape;
  }
  static std::tuple<T...> take(const std::tuple<T...>& like, Leaves& leaves) {
    return std::apply(
        // Braces, so that elements are taken in their order.
        [&](const T&... value) { return std::tuple<T...>{Structure<T>::take(value, leaves)...}; }, like);
  }
};

template <class A, class B>
struct Structure<std::pair<A, B>> {
  static Shape add(const std::pair<A, B>& value, const std::string& path, Leaves& leaves) {
    Shape shape{Shape::Kind::Tuple, {}, {}};
    shape.children.push_back(Structure<A>::add(value.first, path + "[0]", leaves));
    shape.children.push_back(Structure<B>::add(value.second, path + "[1]", leaves));
    return shape;
  }
  static std::pair<A, B> take(const std::pair<A, B>& like, Leaves& leaves) {
    A first = Structure<A>::take(like.first, leaves);
    return {std::move(first), Structure<B>::take(like.second, leaves)};
  }
};

/// Maps by name go in the order of their keys.
template <class Map>
struct StructureOfMap {
  using Value = typename Map::mapped_type;

  static std::map<std::string, const Value*> sorted(const Map& map) {
    std::map<std::string, const Value*> entries;
    for (const auto& entry : map) {
      entries.emplace(entry.first, &entry.second);
    }
    return entries;
  }
  static Shape add(const Map& map, const std::string& path, Leaves& leaves) {
    Shape shape{Shape::Kind::Dict, {}, {}};
    for (const auto& [key, value] : sorted(map)) {
      shape.keys.push_back(key);
      shape.children.push_back(Structure<Value>::add(*value, path + "['" + key + "']", leaves));
    }
    return shape;
  }
  static Map take(const Map& like, Leaves& leaves) {
    Map map;
    for (const auto& [key, value] : sorted(like)) {
      map.emplace(key, Structure<Value>::take(*value, leaves));
    }
    return map;
  }
};

template <class T>
struct Structure<std::map<std::string, T>> : StructureOfMap<std::map<std::string, T>> {};
template <class T>
struct Structure<std::unordered_map<std::string, T>> : StructureOfMap<std::unordered_map<std::string, T>> {};

/// Dicts keep the order in which entries were put in.
template <class T>
struct Structure<c10::Dict<std::string, T>> {
  static Shape add(const c10::Dict<std::string, T>& dict, const std::string& path, Leaves& leaves) {
    Shape shape{Shape::Kind::Dict, {}, {}};
    for (const auto& entry : dict) {
      const std::string key = entry.key();
      shape.keys.push_back(key);
      shape.children.push_back(Structure<T>::add(entry.value(), path + "['" + key + "']", leaves));
    }
    return shape;
  }
  static c10::Dict<std::string, T> take(const c10::Dict<std::string, T>& like, Leaves& leaves) {
    c10::Dict<std::string, T> dict;
    for (const auto& entry : like) {
      dict.insert(entry.key(), Structure<T>::take(entry.value(), leaves));
    }
    return dict;
  }
};

} // namespace torch::capture
