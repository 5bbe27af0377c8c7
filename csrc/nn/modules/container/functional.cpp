#include <csrc/nn/modules/container/functional.h>

#include <c10/util/Exception.h>

#include <ostream>

namespace torch::nn {

FunctionalImpl::FunctionalImpl(Function function) : function_(std::move(function)) {
  TORCH_CHECK(function_, "Functional: the function is empty");
}

void FunctionalImpl::reset() {}

void FunctionalImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Functional()";
}

Tensor FunctionalImpl::forward(Tensor input) {
  return function_(std::move(input));
}

Tensor FunctionalImpl::operator()(Tensor input) {
  return forward(std::move(input));
}

bool FunctionalImpl::is_serializable() const {
  return false;
}

} // namespace torch::nn
