#include <csrc/compile/probe.h>

#include <csrc/compile/ir.h>

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/support/convert.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace torch::fused {

namespace {

using at::native::BlockFunctor;
using at::native::BlockKernel;

/// Sizes become small, equal ones equal, 1 stays 1; and there is always more than one element. Another `least` gives
/// other sizes to all.
class SmallSizes {
 public:
  SmallSizes(const std::vector<int64_t>& result, int64_t least) : rank_(result.size()), least_(least) {
    grows_ = std::all_of(result.begin(), result.end(), [](int64_t size) { return size == 1; });
  }

  std::vector<int64_t> of(const std::vector<int64_t>& sizes) {
    std::vector<int64_t> small;
    for (const int64_t size : sizes) {
      small.push_back(size == 1 ? 1 : small_of(size));
    }
    if (grows_ && (!small.empty() || rank_ == 0)) {
      // All are of one element: the last dimension, or a new one, gets more.
      small.resize(std::max<size_t>(1, small.size()), 1);
      small.back() = least_;
    }
    return small;
  }

 private:
  int64_t small_of(int64_t size) {
    const auto known = std::find(known_.begin(), known_.end(), size);
    const int64_t index = known - known_.begin();
    if (known == known_.end()) {
      known_.push_back(size);
    }
    return index % 3 + least_;
  }

  size_t rank_;
  int64_t least_;
  bool grows_;
  std::vector<int64_t> known_;
};

/// A tensor with gaps between its elements, so that no call takes a short way around the general loop.
at::Tensor spread_tensor(c10::ScalarType dtype, const std::vector<int64_t>& sizes, int64_t seed) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 2;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= sizes[d];
  }
  const at::Tensor values = at::empty({stride}, at::TensorOptions(c10::ScalarType::Double));
  auto* const data = values.mutable_data_ptr<double>();
  const bool is_floating = c10::isFloatingType(dtype);
  for (int64_t i = 0; i < stride; ++i) {
    const int64_t n = (i * 7 + seed * 5) % 23;
    data[i] = dtype == c10::ScalarType::Bool ? static_cast<double>(n % 2)
        : is_floating                        ? static_cast<double>(n - 9) * 0.171875
                                             : static_cast<double>(n % 6 + 1);
  }
  return values.to(dtype).as_strided(sizes, strides);
}

/// What run_pointwise() was asked for.
struct Heard {
  int count = 0;
  LearnedKernel kernel;
  const void* written = nullptr;
  std::vector<const void*> read; // by operand
  std::vector<at::Tensor> constants;
  bool is_understood = true;

  void hear(at::TensorIteratorBase& iter, BlockKernel kernel, BlockFunctor functor);
};

void Heard::hear(at::TensorIteratorBase& iter, BlockKernel block_kernel, BlockFunctor functor) {
  ++count;
  if (iter.noutputs() != 1 || iter.ntensors() > 9 || functor.size > kFunctorBytes ||
      (functor.data != nullptr && functor.size == 0)) {
    is_understood = false;
    return;
  }
  kernel.kernel = block_kernel;
  const auto* const bytes = static_cast<const char*>(functor.data);
  kernel.functor.assign(bytes, bytes + functor.size);
  kernel.written = iter.dtype(0);
  const auto& target = iter.operand(0).original_tensor_base();
  written = (target.defined() ? target : iter.tensor_base(0)).const_data_ptr();
  for (int i = 1; i < iter.ntensors(); ++i) {
    const at::OperandInfo& info = iter.operand(i);
    LearnedKernel::Operand operand;
    operand.dtype = iter.dtype(i);
    if (info.is_scalar()) {
      if (functor.wide_scalars) {
        const auto value = iter.original_scalar_value<float>(i);
        std::memcpy(operand.value.data(), &value, sizeof(value));
        operand.dtype = c10::ScalarType::Float;
        kernel.wide_inputs |= 1u << (i - 1);
      } else {
        std::memcpy(operand.value.data(), iter.data_ptr(i), c10::elementSize(operand.dtype));
      }
      read.push_back(nullptr);
    } else {
      const auto& original = info.original_tensor_base();
      const at::TensorBase& source = original.defined() ? original : iter.tensor_base(i);
      // The value, should it be that of a constant.
      if (source.numel() == 1) {
        std::memcpy(operand.value.data(), iter.data_ptr(i), c10::elementSize(operand.dtype));
      }
      read.push_back(source.const_data_ptr());
    }
    kernel.operands.push_back(operand);
  }
}

/// Whether the operator gives what the kernel gives.
bool is_confirmed(const LearnedKernel& learned, const std::vector<at::Tensor>& tensors, const at::Tensor& result) {
  const int64_t n = result.numel();
  std::vector<at::Tensor> inputs;
  const char* pointers[9];
  for (size_t i = 0; i < learned.operands.size(); ++i) {
    const auto& operand = learned.operands[i];
    if (operand.tensor >= 0) {
      inputs.push_back(tensors[operand.tensor].expand(result.sizes()).to(operand.dtype).contiguous());
    } else {
      const auto size = static_cast<int64_t>(c10::elementSize(operand.dtype));
      inputs.push_back(at::empty({n}, at::TensorOptions(operand.dtype)));
      for (int64_t j = 0; j < n; ++j) {
        std::memcpy(static_cast<char*>(inputs.back().mutable_data_ptr()) + j * size, operand.value.data(), size);
      }
    }
    pointers[i] = static_cast<const char*>(inputs.back().const_data_ptr());
  }
  const at::Tensor got = at::empty(result.sizes(), at::TensorOptions(learned.written));
  alignas(16) std::array<char, kFunctorBytes> functor{};
  std::copy(learned.functor.begin(), learned.functor.end(), functor.begin());
  learned.kernel({functor.data(), learned.wide_inputs}, static_cast<char*>(got.mutable_data_ptr()), pointers, n);
  const at::Tensor a = got.to(result.scalar_type()), b = result.contiguous();
  return std::memcmp(a.const_data_ptr(), b.const_data_ptr(), n * a.element_size()) == 0;
}

/// Operators that were found to be no pointwise ones.
struct Others {
  std::mutex mutex;
  std::set<std::pair<std::string, std::string>> names;

  bool holds(const c10::OperatorName& name) {
    const std::lock_guard<std::mutex> lock(mutex);
    return names.count({name.name, name.overload_name}) != 0;
  }
  void add(const c10::OperatorName& name) {
    const std::lock_guard<std::mutex> lock(mutex);
    names.emplace(name.name, name.overload_name);
  }
};

Others& others() {
  static auto* const others = new Others(); // is used until the process ends
  return *others;
}

/// The operator on made-up elements.
struct Trial {
  std::vector<at::Tensor> dummies; // by tensor
  torch::jit::Stack stack;
  std::vector<int64_t> sizes; // of the result
  const c10::OperatorHandle& op;

  Trial(
      const c10::OperatorHandle& op_,
      const torch::jit::Stack& constants,
      const std::vector<ProbeTensor>& tensors,
      const std::vector<int64_t>& result_sizes,
      int64_t least)
      : stack(constants), op(op_) {
    SmallSizes small(result_sizes, least);
    for (const ProbeTensor& tensor : tensors) {
      dummies.push_back(spread_tensor(tensor.dtype, small.of(tensor.sizes), static_cast<int64_t>(dummies.size())));
      stack[tensor.place] = dummies.back();
    }
    sizes = small.of(result_sizes);
  }

  /// The result; undefined where the operator refuses such elements or sizes.
  at::Tensor run(std::optional<at::native::PointwiseListener::Hear> hear) const {
    torch::jit::Stack call = stack;
    try {
      std::optional<at::native::PointwiseListener> listener;
      if (hear) {
        listener.emplace(*hear);
      }
      op.callBoxed(&call);
    } catch (const c10::Error&) {
      return at::Tensor();
    }
    return call.size() == 1 && call[0].isTensor() ? call[0].toTensor() : at::Tensor();
  }

  /// Finds out which tensor an operand reads; false where it is none of these.
  bool name_operand(const void* read, LearnedKernel::Operand& operand) const {
    for (size_t t = 0; t < dummies.size(); ++t) {
      if (dummies[t].const_data_ptr() == read) {
        operand.tensor = static_cast<int64_t>(t);
        return true;
      }
    }
    // Numbers that stand for tensors.
    return std::any_of(stack.begin(), stack.end(), [&](const c10::IValue& arg) {
      return arg.isTensor() && arg.toTensor().defined() && arg.toTensor().numel() == 1 &&
          arg.toTensor().const_data_ptr() == read;
    });
  }
};

} // namespace

std::optional<LearnedKernel> learn_kernel(
    const c10::OperatorHandle& op,
    const std::vector<c10::IValue>& stack,
    const std::vector<ProbeTensor>& tensors,
    c10::ScalarType result_dtype,
    const std::vector<int64_t>& result_sizes) {
  if (others().holds(op.operator_name())) {
    return std::nullopt;
  }
  Trial trial(op, stack, tensors, result_sizes, /*least=*/2);
  Heard heard;
  const at::Tensor result = trial.run([&](at::TensorIteratorBase& iter, BlockKernel kernel, BlockFunctor functor) {
    heard.hear(iter, kernel, functor);
  });
  if (heard.count == 0 && result.defined()) {
    others().add(op.operator_name());
  }
  if (heard.count != 1 || !heard.is_understood || !result.defined() || result.scalar_type() != result_dtype ||
      !result.sizes().equals(trial.sizes) || result.const_data_ptr() != heard.written) {
    return std::nullopt;
  }
  LearnedKernel& learned = heard.kernel;
  for (size_t i = 0; i < learned.operands.size(); ++i) {
    if (heard.read[i] && !trial.name_operand(heard.read[i], learned.operands[i])) {
      return std::nullopt;
    }
  }
  // With other sizes, so that parameters which follow from sizes (the scale of a mean) are found out.
  Trial other(op, stack, tensors, result_sizes, /*least=*/3);
  const at::Tensor expected = other.run(std::nullopt);
  if (!expected.defined() || !is_confirmed(learned, other.dummies, expected)) {
    return std::nullopt;
  }
  return learned;
}

} // namespace torch::fused
