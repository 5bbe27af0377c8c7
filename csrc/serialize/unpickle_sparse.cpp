// Sparse tensors in pickles.
#include <csrc/serialize/pickle_global.h>
#include <csrc/serialize/unpickler.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

namespace torch::serialize {

namespace {

// How often all elements of a storage may be looked at as members of sparse tensors; honest files share indices among
// some.
constexpr uint64_t kMaxSparseUses = 256;

} // namespace

// Python writes _rebuild_sparse_tensor(layout, (indices, values, size[, is_coalesced])), with two tensors of indices
// for compressed layouts; libtorch's archives have (layout, size, requires_grad, indices..., values).
c10::IValue Unpickler::rebuild_sparse(c10::ArrayRef<c10::IValue> arguments) {
  constexpr const char* kTakes = "torch._utils._rebuild_sparse_tensor takes (layout, (indices, values, size))";
  if (arguments.size() < 2 || !arguments[0].isInt() || !arguments[1].isTuple()) {
    fail(kTakes);
  }
  const int64_t number = arguments[0].toInt();
  if (number < 0 || number >= static_cast<int64_t>(c10::Layout::NumOptions)) {
    fail(fmt::format("there is no layout {}", number));
  }
  const auto layout = static_cast<c10::Layout>(number);
  const size_t members = layout == c10::kSparse ? 2 : 3;
  const bool python = arguments.size() == 2;
  const c10::ArrayRef<c10::IValue> fields =
      python ? c10::ArrayRef<c10::IValue>(arguments[1].toTupleRef().elements()) : arguments.slice(2);
  const size_t first = python ? 0 : 1;
  if (fields.size() < first + members + (python ? 1 : 0)) {
    fail(kTakes);
  }

  std::vector<at::Tensor> tensors;
  for (const c10::IValue& field : fields.slice(first, members)) {
    if (!field.isTensor() || field.toTensor().layout() != c10::kStrided || field.toTensor().is_meta()) {
      fail(kTakes);
    }
    tensors.push_back(field.toTensor().detach());
    // Members are looked at element by element: what a small storage is expanded to would take time and memory without
    // bound, and so would many tensors of one storage.
    const at::Tensor& tensor = tensors.back();
    const uint64_t elements = tensor.storage().nbytes() / tensor.itemsize();
    uint64_t& work = sparse_work_[tensor.storage().unsafeGetStorageImpl()];
    if (static_cast<uint64_t>(tensor.numel()) > elements || (work += tensor.numel()) > kMaxSparseUses * elements) {
      fail("the indices and values of sparse tensors must not be expanded, nor one and the same many times");
    }
  }
  // Others would be copied for each tensor that has them.
  if (layout == c10::kSparse && tensors[0].scalar_type() != c10::kLong) {
    fail(kTakes);
  }
  const std::vector<int64_t> sizes = int_vector(python ? fields[members] : arguments[1], "size");
  const auto options = tensors.back().options().layout(layout);
  try {
    const bool coalesced =
        python && fields.size() > members + 1 && fields[members + 1].isBool() && fields[members + 1].toBool();
    at::Tensor result = layout == c10::kSparse
        ? at::sparse_coo_tensor(tensors[0], tensors[1], sizes, options, coalesced)
        : at::sparse_compressed_tensor(tensors[0], tensors[1], tensors[2], sizes, options);
    return result.set_requires_grad(!python && fields[0].isBool() && fields[0].toBool());
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error& error) {
    fail(error.what_without_backtrace());
  }
}

} // namespace torch::serialize
