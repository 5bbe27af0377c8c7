#include <autograd/validate_outputs.h>

#include <aten/Functions.h>
#include <autograd/engine.h>
#include <c10/util/StringUtil.h>

namespace torch::autograd {

namespace {

using FormatError = std::function<std::string(const std::string&)>;

C10_ALWAYS_INLINE bool has_sizes(c10::IntArrayRef wanted, c10::IntArrayRef sizes) {
  // Dimensions are few: a loop beats the call to memcmp.
  bool same = wanted.size() == sizes.size();
  for (size_t d = 0; same && d < sizes.size(); ++d) {
    same = wanted[d] == sizes[d];
  }
  return same;
}

// For dense tensors on the CPU; false for others, which may fit too.
C10_ALWAYS_INLINE bool fits_plainly(const InputMetadata& expected, const at::Tensor& grad) {
  const c10::TensorImpl& impl = *grad.unsafeGetTensorImpl();
  return impl.dtype() == expected.dtype() && impl.is_plain_cpu() && expected.device().is_cpu() &&
      expected.layout() == at::kStrided && has_sizes(expected.sizes(), impl.sizes_and_strides().sizes_arrayref());
}

bool fits(const InputMetadata& expected, const at::Tensor& grad) {
  return grad.scalar_type() == expected.scalar_type() && has_sizes(expected.sizes(), grad.sizes()) &&
      grad.device() == expected.device() && grad.layout() == expected.layout();
}

[[noreturn]] void fail(size_t index, const std::string& problem, const FormatError& format_error) {
  TORCH_CHECK(false, format_error(c10::str("invalid gradient at index ", index, " - ", problem)));
}

at::Tensor fitted(size_t index, const InputMetadata& expected, at::Tensor grad, const FormatError& format_error) {
  if (!expected.is_same_shape(grad)) {
    TORCH_CHECK(
        expected.is_expandable_to_shape(grad), format_error(expected.incompatible_shape_error_message(index, grad)));
    grad = expected.reduce_grad(grad);
  }
  const bool expects_complex = c10::isComplexType(expected.scalar_type());
  if (c10::isComplexType(grad.scalar_type()) != expects_complex && !c10::isFloatingType(grad.scalar_type())) {
    fail(index, c10::str("expected dtype ", expected.scalar_type(), " but got ", grad.scalar_type()), format_error);
  }
  if (grad.scalar_type() != expected.scalar_type()) {
    grad = grad.to(expected.scalar_type());
  }
  // A strided gradient serves any tensor, and one in coordinates a strided tensor: of a table that was read in few
  // rows.
  const bool serves =
      grad.layout() == at::kStrided || (grad.layout() == at::kSparse && expected.layout() == at::kStrided);
  if (grad.layout() != expected.layout() && !serves) {
    fail(index, c10::str("expected layout ", expected.layout(), " but got ", grad.layout()), format_error);
  }
  if (grad.device() != expected.device()) {
    // A number may come from anywhere.
    if (grad.dim() != 0) {
      fail(index, c10::str("expected device ", expected.device(), " but got ", grad.device()), format_error);
    }
    grad = grad.to(expected.device());
  }
  return grad;
}

void check_count(size_t expected, const variable_list& grads, const FormatError& format_error) {
  TORCH_CHECK(
      grads.size() == expected,
      format_error(c10::str("invalid number of gradients - expected ", expected, ", but got ", grads.size())));
}

void make_fit(size_t index, const InputMetadata& expected, at::Tensor& grad, const FormatError& format_error) {
  if (!expected.was_default_constructed() && C10_UNLIKELY(!fits(expected, grad))) {
    grad = fitted(index, expected, std::move(grad), format_error);
  }
}

const InputMetadata& metadata_of(const Edge& edge) {
  TORCH_CHECK(
      edge.input_nr < edge.function->num_inputs(), "an edge leads to input ", edge.input_nr, " of ",
      edge.function->name(), ", which has ", edge.function->num_inputs(), ": call its add_input_metadata first");
  return edge.function->input_metadata(edge.input_nr);
}

// From gradient `first` on, whatever they are.
C10_NOINLINE void validate_rest(
    const edge_list& edges, variable_list& grads, size_t first, const FormatError& format_error) {
  check_count(edges.size(), grads, format_error);
  for (size_t i = first; i < grads.size(); ++i) {
    if (edges[i].is_valid() && grads[i].defined()) {
      make_fit(i, metadata_of(edges[i]), grads[i], format_error);
    }
  }
}

} // namespace

void validate_outputs(const edge_list& edges, variable_list& grads, const FormatError& format_error) {
  // Most fit: to see that takes no call, and so no frame.
  const size_t count = grads.size();
  if (C10_UNLIKELY(count != edges.size())) {
    return validate_rest(edges, grads, 0, format_error);
  }
  const at::Tensor* const grad = grads.data();
  for (size_t i = 0; i < count; ++i) {
    const Node* const node = edges[i].function.get();
    if (node == nullptr || !grad[i].defined()) {
      continue;
    }
    const uint32_t input_nr = edges[i].input_nr;
    if (C10_UNLIKELY(input_nr >= node->num_inputs() || !fits_plainly(node->input_metadata(input_nr), grad[i]))) {
      return validate_rest(edges, grads, i, format_error);
    }
  }
}

void validate_outputs(
    const std::vector<std::optional<InputMetadata>>& input_metadata,
    variable_list& grads,
    const FormatError& format_error) {
  check_count(input_metadata.size(), grads, format_error);
  for (size_t i = 0; i < grads.size(); ++i) {
    if (input_metadata[i] && grads[i].defined()) {
      make_fit(i, *input_metadata[i], grads[i], format_error);
    }
  }
}

std::vector<std::optional<InputMetadata>> collect_input_metadata(const edge_list& edges) {
  std::vector<std::optional<InputMetadata>> metadata;
  for (const Edge& edge : edges) {
    metadata.push_back(edge.is_valid() ? std::optional(metadata_of(edge)) : std::nullopt);
  }
  return metadata;
}

} // namespace torch::autograd
