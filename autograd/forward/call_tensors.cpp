#include <autograd/forward/call_tensors.h>

#include <aten/core/ivalue.h>
#include <autograd/forward/levels.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace torch::autograd::forward_ad {

namespace {

void add_places(TensorPlaces& places, size_t value, const c10::IValue& content) {
  if (content.isTensor()) {
    places.push_back({value, 0, content.toTensor(), {}});
  } else if (content.isTensorList()) {
    size_t element = 0;
    for (const at::Tensor& tensor : content.toTensorVector()) {
      places.push_back({value, element++, tensor, {}});
    }
  } else if (content.isOptionalTensorList()) {
    const c10::List<std::optional<at::Tensor>> list = content.toOptionalTensorList();
    for (size_t element = 0; element < list.size(); ++element) {
      const auto tensor = static_cast<std::optional<at::Tensor>>(list.get(element));
      places.push_back({value, element, tensor.value_or(at::Tensor()), {}});
    }
  }
}

// Puts the tensors of places [begin, end), all of one value, into it.
void put(c10::IValue& content, const TensorPlaces& places, size_t begin, size_t end) {
  if (content.isTensor()) {
    content = places[begin].tensor;
    return;
  }
  if (content.isTensorList()) {
    std::vector<at::Tensor> tensors;
    for (size_t i = begin; i < end; ++i) {
      tensors.push_back(places[i].tensor);
    }
    content = std::move(tensors);
    return;
  }
  c10::List<std::optional<at::Tensor>> tensors;
  for (size_t i = begin; i < end; ++i) {
    tensors.push_back(places[i].tensor.defined() ? std::optional<at::Tensor>(places[i].tensor) : std::nullopt);
  }
  content = std::move(tensors);
}

} // namespace

TensorPlaces tensor_places(const torch::jit::Stack& stack, size_t count) {
  TensorPlaces places;
  places.reserve(count);
  const size_t begin = stack.size() - count;
  for (size_t i = 0; i < count; ++i) {
    add_places(places, i, stack[begin + i]);
  }
  return places;
}

void put_tensors(torch::jit::Stack& stack, size_t count, const TensorPlaces& places) {
  const size_t begin = stack.size() - count;
  for (size_t i = 0; i < places.size();) {
    size_t end = i + 1;
    while (end < places.size() && places[end].value == places[i].value) {
      ++end;
    }
    put(stack[begin + places[i].value], places, i, end);
    i = end;
  }
}

at::Tensor tangent_of(const at::Tensor& tensor, uint64_t level) {
  const std::shared_ptr<ForwardGrad>& grad = impl::forward_grad(tensor);
  return grad != nullptr ? grad->value(level) : at::Tensor();
}

std::optional<uint64_t> read_tangents(TensorPlaces& places, OtherLevels& others) {
  const bool watches_all = watches_all_tensors();
  c10::SmallVector<const ForwardGrad*, 4> grads;
  c10::SmallVector<at::Tensor*, 4> tangents;
  for (TensorPlace& place : places) {
    if (watches_all && place.tensor.defined()) {
      impl::adopt_tangents_of_base(place.tensor);
    }
    if (const std::shared_ptr<ForwardGrad>& grad = impl::forward_grad(place.tensor)) {
      grads.push_back(grad.get());
      tangents.push_back(&place.tangent);
    }
  }
  if (grads.empty()) {
    return std::nullopt;
  }
  const std::optional<ForwardGrad::Highest> highest = ForwardGrad::read_highest(grads, tangents);
  if (!highest.has_value()) {
    return std::nullopt;
  }
  others.of_tensors = highest->visible_besides;
  for (const at::Tensor* const tangent : tangents) {
    others.of_tangents |= tangent->defined() && tangent->key_set().has(c10::DispatchKey::ForwardAD);
  }
  return highest->level;
}

} // namespace torch::autograd::forward_ad
