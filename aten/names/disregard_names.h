// What operators made of others do with named tensors where their parts take none.
#pragma once

#include <aten/names/NamedTensorUtils.h>

#include <utility>
#include <vector>

namespace at::names {

/// `make()` with names disregarded, a new tensor or view; it gets `names`, which may be empty.
template <class Make>
Tensor with_names(const std::vector<Dimname>& names, Make&& make) {
  Tensor result = [&] {
    const NoNamesGuard guard;
    return std::forward<Make>(make)();
  }();
  internal_set_names_inplace(result, names.empty() ? std::nullopt : std::optional<DimnameList>(names));
  return result;
}

} // namespace at::names
