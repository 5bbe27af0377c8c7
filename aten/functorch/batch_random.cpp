// Operators that draw random numbers, inside of vmap: the kernels of the key FuncTorchVmapMode.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Tensor.h>
#include <aten/core/function_schema.h>
#include <aten/core/TensorOperators.h>
#include <aten/ops/empty_like.h>
#include <aten/ops/ones.h>
#include <aten/ops/stack.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// Note [Random numbers inside of vmap]
// Such a call reaches these kernels whether or not a tensor of it is batched, because the key is included while a vmap
// runs. The innermost level says what to do: to refuse; to draw once, outside of the level ("same"); or to draw for all
// samples in one call that has the batch in front ("different"). What then runs knows of the levels around alone.

namespace at::functorch {

namespace {

using torch::jit::Stack;

bool is_batched_at(const BatchCall& call) {
  bool batched = false;
  call.for_each_tensor([&](size_t, const Tensor& tensor) { batched |= value_at(tensor, call.level()).is_batched(); });
  return batched;
}

/// Whether values of a tensor take part in what is drawn: not for `rand_like` and what only writes self.
bool depends_on_values(const BatchCall& call) {
  const std::string& name = call.schema().name();
  const bool is_like = name.size() > 5 && name.compare(name.size() - 5, 5, "_like") == 0;
  bool others = false;
  call.for_each_tensor([&](size_t i, const Tensor&) { others |= !call.is_written(i); });
  return others && !is_like;
}

/// One mask for all samples: what dropout makes of ones is the factor for each element, and the mask.
void drop_same(const BatchCall& call) {
  const Tensor input = call.argument(0).toTensor();
  const Tensor value = call.tensor(0).batch_first();
  Stack arguments = call.with_tensors([&](size_t, const Tensor&) { return at::ones(input.sizes(), value.options()); });
  const Stack drawn = call.call(std::move(arguments));
  const Tensor mask = drawn[1].toTensor();
  call.finish({value * drawn[0].toTensor(), mask.unsqueeze(0).expand_as(value)});
}

/// One draw for all samples.
void draw_once(const BatchCall& call) {
  const LevelsBelowGuard below(call.level());
  if (!is_batched_at(call)) {
    return call.finish_unbatched(call.call(call.with_tensors([](size_t, const Tensor& tensor) { return tensor; })));
  }
  if (const std::string& name = call.schema().name();
      name == "aten::_fused_dropout" || name == "aten::native_dropout") {
    return drop_same(call);
  }
  TORCH_CHECK(
      !depends_on_values(call),
      "Vmap does not currently support same randomness with a batched tensor input: ", call.name(),
      " would draw from another distribution for each sample. Use randomness='different'");
  // A sample to be written, or like which the result is to be.
  std::vector<std::pair<Tensor, Tensor>> written;
  Stack results = call.call(call.with_tensors([&](size_t i, const Tensor& tensor) {
    const BatchedValue batched = value_at(tensor, call.level());
    const Tensor all = batched.batch_first();
    const Tensor sample = at::empty_like(tensor.dim() == all.dim() ? all : all.new_empty(tensor.sizes()));
    if (call.is_written(i)) {
      written.emplace_back(all, sample);
    }
    return sample;
  }));
  for (const auto& [all, sample] : written) {
    all.copy_(sample.expand_as(all));
  }
  if (written.empty()) {
    return call.finish_unbatched(std::move(results));
  }
  call.finish(std::move(results));
}

/// The call with the batch in front, for which other numbers are drawn for each sample.
Stack with_batch(const BatchCall& call) {
  int64_t rank = 0;
  call.for_each_tensor([&](size_t, const Tensor& tensor) { rank = std::max(rank, tensor.dim()); });
  Stack arguments = call.with_tensors([&](size_t i, const Tensor& tensor) {
    const BatchedValue sample = value_at(tensor, call.level());
    TORCH_CHECK(
        !call.is_written(i) || sample.is_batched(),
        "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
        "randomness. ",
        call.name(), " has to be given a tensor that is vmapped over, or used out-of-place");
    return pad_sample(sample.with_batch(call.batch_size()), sample.rank(), rank);
  });
  if (const std::optional<size_t> size = call.position("size")) {
    std::vector<int64_t> sizes = call.argument(*size).toIntVector();
    sizes.insert(sizes.begin(), call.batch_size());
    arguments[*size] = std::move(sizes);
  }
  return arguments;
}

void draw_for_each(const BatchCall& call) {
  const LevelsBelowGuard below(call.level());
  call.finish(call.call(with_batch(call)));
}

/// Operators whose result has no dimension for a batch.
void draw_permutations(const BatchCall& call) {
  const LevelsBelowGuard below(call.level());
  std::vector<Tensor> samples;
  for (int64_t b = 0; b < call.batch_size(); ++b) {
    samples.push_back(call.call(call.with_tensors([](size_t, const Tensor& tensor) { return tensor; }))[0].toTensor());
  }
  TORCH_CHECK(!samples.empty(), "randperm: vmap over no samples has no size to give");
  call.finish({at::stack(samples)});
}

/// Rows are samples already.
void draw_multinomial(const BatchCall& call) {
  const LevelsBelowGuard below(call.level());
  Stack arguments = with_batch(call);
  const Tensor weights = arguments[0].toTensor();
  TORCH_CHECK(weights.dim() == 2 || weights.dim() == 3, "prob_dist must be 1 or 2 dim");
  arguments[0] = weights.reshape({-1, weights.size(-1)});
  const Tensor drawn = call.call(std::move(arguments))[0].toTensor();
  std::vector<int64_t> sizes = weights.sizes().vec();
  sizes.back() = drawn.size(-1);
  call.finish({drawn.reshape(sizes)});
}

void random_kernel(c10::OperatorKernel*, const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  VmapLevelPtr level = current_vmap_level();
  const std::optional<int> train = op.schema().argumentIndexWithName("train");
  const auto draws_nothing = [&] { // dropout outside of training
    const c10::IValue& value = torch::jit::peek(*stack, static_cast<size_t>(*train), op.schema().arguments().size());
    return value.isBool() && !value.toBool();
  };
  if (!level || (train && draws_nothing())) {
    op.redispatchBoxed(
        keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::FuncTorchVmapMode), stack);
    return;
  }
  const BatchCall call(op, stack, level);
  TORCH_CHECK(
      level->randomness != RandomnessType::Error,
      "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
      "randomness flags on vmap or perform the randomness operation out of vmap: ",
      call.name());
  if (level->randomness == RandomnessType::Same) {
    return draw_once(call);
  }
  const std::string& name = call.schema().name();
  if (name == "aten::randperm") {
    return draw_permutations(call);
  }
  return name == "aten::multinomial" ? draw_multinomial(call) : draw_for_each(call);
}

constexpr c10::impl::BuiltinKernel kRandomKernel{nullptr, &random_kernel, nullptr, false};

constexpr c10::impl::BuiltinKernelRow random_row(const char* name, const char* overload_name = "") {
  return {name, overload_name, c10::DispatchKey::FuncTorchVmapMode, &kRandomKernel, "aten/functorch/batch_random.cpp"};
}
constexpr c10::impl::BuiltinKernelRow kRandomRows[] = {
    random_row("aten::random_"),
    random_row("aten::random_", "from"),
    random_row("aten::random_", "to"),
    random_row("aten::uniform_"),
    random_row("aten::normal_"),
    random_row("aten::log_normal_"),
    random_row("aten::exponential_"),
    random_row("aten::cauchy_"),
    random_row("aten::geometric_"),
    random_row("aten::bernoulli_", "float"),
    random_row("aten::bernoulli_", "Tensor"),
    random_row("aten::bernoulli"),
    random_row("aten::bernoulli", "p"),
    random_row("aten::bernoulli", "Tensor"),
    random_row("aten::rand"),
    random_row("aten::rand", "generator"),
    random_row("aten::rand_like"),
    random_row("aten::rand_like", "generator"),
    random_row("aten::randn"),
    random_row("aten::randn", "generator"),
    random_row("aten::randn_like"),
    random_row("aten::randn_like", "generator"),
    random_row("aten::randint"),
    random_row("aten::randint", "generator"),
    random_row("aten::randint", "low"),
    random_row("aten::randint", "low_generator"),
    random_row("aten::randint_like"),
    random_row("aten::randint_like", "generator"),
    random_row("aten::randint_like", "low_dtype"),
    random_row("aten::randint_like", "low_generator_dtype"),
    random_row("aten::randperm"),
    random_row("aten::randperm", "generator"),
    random_row("aten::normal", "Tensor_float"),
    random_row("aten::normal", "float_Tensor"),
    random_row("aten::normal", "Tensor_Tensor"),
    random_row("aten::normal", "float_float"),
    random_row("aten::multinomial"),
    random_row("aten::poisson"),
    random_row("aten::_standard_gamma"),
    random_row("aten::binomial"),
    random_row("aten::_sample_dirichlet"),
    random_row("aten::uniform"),
    random_row("aten::normal_functional"),
    random_row("aten::log_normal"),
    random_row("aten::exponential"),
    random_row("aten::cauchy"),
    random_row("aten::geometric"),
    random_row("aten::random"),
    random_row("aten::random", "from"),
    random_row("aten::random", "to"),
    random_row("aten::native_dropout"),
    random_row("aten::_fused_dropout"),
    random_row("aten::_rrelu_slopes"),
};
const c10::impl::BuiltinKernels kRandomRowsRegistered(kRandomRows);

} // namespace

} // namespace at::functorch
