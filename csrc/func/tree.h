// Arguments and results of the functions that are transformed, as lists of leaves.
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/capture/structure.h>
#include <csrc/ordered_dict.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::capture {

/// Entries in the order in which they were put in, as of other dicts.
template <class T>
struct Structure<torch::OrderedDict<std::string, T>> {
  using Dict = torch::OrderedDict<std::string, T>;

  static Shape add(const Dict& dict, const std::string& path, Leaves& leaves) {
    Shape shape{Shape::Kind::Dict, {}, {}};
    for (const auto& entry : dict) {
      shape.keys.push_back(entry.key());
      shape.children.push_back(Structure<T>::add(entry.value(), path + "['" + entry.key() + "']", leaves));
    }
    return shape;
  }
  static Dict take(const Dict& like, Leaves& leaves) {
    Dict dict;
    for (const auto& entry : like) {
      dict.insert(entry.key(), Structure<T>::take(entry.value(), leaves));
    }
    return dict;
  }
};

} // namespace torch::capture

namespace torch::func::detail {

using capture::Leaves;

template <class T>
Leaves leaves_of(const T& value, const std::string& path) {
  Leaves leaves;
  capture::Structure<std::decay_t<T>>::add(value, path, leaves);
  return leaves;
}

/// `like` with other leaves. There are as many.
template <class T>
std::decay_t<T> with_leaves(const T& like, Leaves leaves) {
  leaves.next = 0;
  return capture::Structure<std::decay_t<T>>::take(like, leaves);
}

/// The tensors among leaves, undefined ones left out, and the places where they stand.
struct TensorLeaves {
  explicit TensorLeaves(const Leaves& leaves) {
    for (size_t i = 0; i < leaves.values.size(); ++i) {
      if (leaves.values[i].isTensor() && leaves.values[i].toTensor().defined()) {
        tensors.push_back(leaves.values[i].toTensor());
        places.push_back(i);
      }
    }
  }
  /// Puts these tensors where the others stand.
  void put(const std::vector<at::Tensor>& others, Leaves& leaves) const {
    for (size_t i = 0; i < places.size(); ++i) {
      leaves.values[places[i]] = others[i];
    }
  }

  std::vector<at::Tensor> tensors;
  std::vector<size_t> places;
};

/// A structure like `value` with other tensors in the place of its own.
template <class T>
std::decay_t<T> with_tensors(const T& value, const std::vector<at::Tensor>& tensors) {
  Leaves leaves = leaves_of(value, "");
  TensorLeaves(leaves).put(tensors, leaves);
  return with_leaves(value, std::move(leaves));
}

template <class T>
std::vector<at::Tensor> tensors_of(const T& value) {
  return TensorLeaves(leaves_of(value, "")).tensors;
}

} // namespace torch::func::detail
