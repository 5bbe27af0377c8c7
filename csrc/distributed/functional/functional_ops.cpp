// The operators _c10d_functional::* and _c10d_functional_autograd::*.
//
// A gradient takes the way back: all_gather and reduce_scatter are each other's transposes, an all_to_all is that with
// its splits swapped, an all_reduce its own, and a broadcast's is the sum on the rank it came from.
#include <csrc/distributed/functional/functional_ops.h>

#include <aten/Functions.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <aten/library/custom_class.h>
#include <aten/library/library.h>
#include <autograd/custom_function.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/functional/Functional.h>
#include <csrc/distributed/c10d/GroupRegistry.h>
#include <csrc/distributed/c10d/operators.h>

#include <deque>

namespace c10d {

namespace {

using c10::IValue;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Group = c10::intrusive_ptr<ProcessGroup>;
using Op = c10::intrusive_ptr<ReduceOp>;
using Tensors = std::vector<at::Tensor>;

// A group, or its name.
Group group_of(const IValue& value) {
  return value.isString() ? resolve_process_group(value.toStringRef()) : value.toCustomClass<ProcessGroup>();
}

Op op_of(const IValue& value) {
  return value.isString() ? c10::make_intrusive<ReduceOp>(detail::reduction_named(value.toStringRef()))
                          : value.toCustomClass<ReduceOp>();
}

at::Tensor& op_all_reduce_(at::Tensor& input, IValue op, IValue group) {
  return all_reduce_(input, op_of(op), group_of(group));
}
at::Tensor op_all_reduce(const at::Tensor& input, IValue op, IValue group) {
  return all_reduce(input, op_of(op), group_of(group));
}
Tensors op_all_reduce_coalesced_(at::TensorList inputs, IValue op, IValue group) {
  return all_reduce_coalesced_(inputs.vec(), op_of(op), group_of(group));
}
Tensors op_all_reduce_coalesced(at::TensorList inputs, IValue op, IValue group) {
  return all_reduce_coalesced(inputs.vec(), op_of(op), group_of(group));
}
at::Tensor op_all_gather(const at::Tensor& input, int64_t size, IValue group) {
  return all_gather_into_tensor(input, size, group_of(group));
}
at::Tensor& op_all_gather_out(const at::Tensor& input, int64_t size, IValue group, at::Tensor& out) {
  at::Tensor dense = input.contiguous();
  return all_gather_into_tensor_out(dense, size, group_of(group), out);
}
Tensors op_all_gather_coalesced(at::TensorList inputs, int64_t size, IValue group) {
  return all_gather_into_tensor_coalesced(inputs.vec(), size, group_of(group));
}
at::Tensor op_reduce_scatter(const at::Tensor& input, std::string op, int64_t size, IValue group) {
  return reduce_scatter_tensor(input, std::move(op), size, group_of(group));
}
at::Tensor& op_reduce_scatter_out(
    const at::Tensor& input, std::string op, int64_t size, IValue group, at::Tensor& out) {
  reduce_scatter_tensor_out(input, std::move(op), size, group_of(group), out);
  return out;
}
Tensors op_reduce_scatter_coalesced(at::TensorList inputs, std::string op, int64_t size, IValue group) {
  return reduce_scatter_tensor_coalesced(inputs.vec(), std::move(op), size, group_of(group));
}
at::Tensor op_all_to_all(
    const at::Tensor& input, c10::SymIntArrayRef out_splits, c10::SymIntArrayRef in_splits, IValue group) {
  return all_to_all_single(input, out_splits, in_splits, group_of(group));
}
at::Tensor& op_broadcast_(at::Tensor& input, int64_t src, IValue group) {
  return broadcast_(input, src, group_of(group));
}
at::Tensor op_broadcast(const at::Tensor& input, int64_t src, IValue group) {
  return broadcast(input, src, group_of(group));
}
at::Tensor op_isend(const at::Tensor& tensor, int64_t dst, int64_t tag, std::string group) {
  at::Tensor buffer = tensor;
  return isend(buffer, dst, tag, std::move(group));
}
at::Tensor op_irecv(const at::Tensor& tensor, int64_t src, int64_t tag, std::string group) {
  at::Tensor buffer = tensor;
  return irecv(buffer, src, tag, std::move(group));
}
Tensors op_batch_p2p(
    std::vector<std::string> ops,
    std::vector<int64_t> peers,
    std::vector<int64_t> tags,
    at::TensorList tensors,
    std::string group) {
  return batch_p2p_ops(std::move(ops), std::move(peers), std::move(tags), tensors.vec(), std::move(group));
}
at::Tensor op_wait(const at::Tensor& tensor) {
  return wait_tensor(tensor);
}
Tensors op_waits(at::TensorList tensors) {
  return wait_tensors(tensors);
}

// Whether the reduction is a sum, or an average: others have no gradient.
bool averages(const IValue& op) {
  const auto kind = op_of(op)->op_;
  TORCH_CHECK(
      kind == ReduceOp::SUM || kind == ReduceOp::AVG,
      "a collective's gradient is defined for the reductions sum and avg only, but got number ",
      static_cast<int>(kind));
  return kind == ReduceOp::AVG;
}

struct AllReduce : torch::autograd::Function<AllReduce> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, IValue op, IValue group) {
    ctx->saved_data["op"] = op;
    ctx->saved_data["group"] = group;
    const at::AutoDispatchBelowADInplaceOrView guard;
    return op_all_reduce(input, op, group);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const IValue op = ctx->saved_data["op"];
    averages(op);
    return {wait_tensor(AllReduce::apply(grads[0], op, ctx->saved_data["group"])), {}, {}};
  }
};

struct AllGather : torch::autograd::Function<AllGather> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, int64_t size, IValue group) {
    ctx->saved_data["size"] = size;
    ctx->saved_data["group"] = group;
    const at::AutoDispatchBelowADInplaceOrView guard;
    return op_all_gather(input, size, group);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads);
};

struct ReduceScatter : torch::autograd::Function<ReduceScatter> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, std::string op, int64_t size, IValue group) {
    ctx->saved_data["op"] = op;
    ctx->saved_data["size"] = size;
    ctx->saved_data["group"] = group;
    const at::AutoDispatchBelowADInplaceOrView guard;
    return op_reduce_scatter(input, std::move(op), size, group);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const int64_t size = ctx->saved_data["size"].toInt();
    auto grad = wait_tensor(AllGather::apply(grads[0], size, ctx->saved_data["group"]));
    return {averages(ctx->saved_data["op"]) ? grad / size : grad, {}, {}, {}};
  }
};

variable_list AllGather::backward(AutogradContext* ctx, variable_list grads) {
  const int64_t size = ctx->saved_data["size"].toInt();
  return {wait_tensor(ReduceScatter::apply(grads[0], std::string("sum"), size, ctx->saved_data["group"])), {}, {}};
}

struct AllToAll : torch::autograd::Function<AllToAll> {
  static at::Tensor forward(
      AutogradContext* ctx,
      const at::Tensor& input,
      std::vector<int64_t> out_splits,
      std::vector<int64_t> in_splits,
      IValue group) {
    ctx->saved_data["out"] = out_splits;
    ctx->saved_data["in"] = in_splits;
    ctx->saved_data["group"] = group;
    const at::AutoDispatchBelowADInplaceOrView guard;
    return op_all_to_all(input, c10::fromIntArrayRefSlow(out_splits), c10::fromIntArrayRefSlow(in_splits), group);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {
        wait_tensor(AllToAll::apply(
            grads[0], ctx->saved_data["in"].toIntVector(), ctx->saved_data["out"].toIntVector(),
            ctx->saved_data["group"])),
        {},
        {},
        {}};
  }
};

struct Broadcast : torch::autograd::Function<Broadcast> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, int64_t src, IValue group) {
    ctx->saved_data["src"] = src;
    ctx->saved_data["group"] = group;
    const at::AutoDispatchBelowADInplaceOrView guard;
    return op_broadcast(input, src, group);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const IValue group = ctx->saved_data["group"];
    const auto sum = wait_tensor(AllReduce::apply(grads[0], IValue("sum"), group));
    return {group_of(group)->getRank() == ctx->saved_data["src"].toInt() ? sum : at::zeros_like(sum), {}, {}};
  }
};

at::Tensor autograd_all_reduce(const at::Tensor& input, IValue op, IValue group) {
  return AllReduce::apply(input, std::move(op), std::move(group));
}
at::Tensor autograd_all_gather(const at::Tensor& input, int64_t size, IValue group) {
  return AllGather::apply(input, size, std::move(group));
}
at::Tensor autograd_reduce_scatter(const at::Tensor& input, std::string op, int64_t size, IValue group) {
  return ReduceScatter::apply(input, std::move(op), size, std::move(group));
}
at::Tensor autograd_all_to_all(
    const at::Tensor& input, c10::SymIntArrayRef out_splits, c10::SymIntArrayRef in_splits, IValue group) {
  const auto plain = [](c10::SymIntArrayRef splits) {
    std::vector<int64_t> all;
    for (const auto& split : splits) {
      all.push_back(split.expect_int());
    }
    return all;
  };
  return AllToAll::apply(input, plain(out_splits), plain(in_splits), std::move(group));
}
at::Tensor autograd_broadcast(const at::Tensor& input, int64_t src, IValue group) {
  return Broadcast::apply(input, src, std::move(group));
}

class Definitions {
 public:
  explicit Definitions(torch::Library& library) : library_(library) {}
  template <class Kernel>
  void plain(const std::string& schema, Kernel* kernel) {
    library_.def(schema, torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, kernel));
  }
  template <class Kernel>
  void with_gradient(const std::string& schema, Kernel* kernel, Kernel* autograd) {
    plain(schema, kernel);
    library_.impl(schema.substr(0, schema.find('(')).c_str(), torch::dispatch(c10::DispatchKey::Autograd, autograd));
  }

 private:
  torch::Library& library_;
};

void define_functional(torch::Library& library) {
  Definitions m(library);
  m.plain("all_reduce_(Tensor(a!) input, Any reduce_op, Any group_name) -> Tensor(a!)", &op_all_reduce_);
  m.with_gradient(
      "all_reduce(Tensor input, Any reduce_op, Any group_name) -> Tensor", &op_all_reduce, &autograd_all_reduce);
  m.plain(
      "all_reduce_coalesced_(Tensor[](a!) inputs, Any reduce_op, Any group_name) -> Tensor[](a!)",
      &op_all_reduce_coalesced_);
  m.plain("all_reduce_coalesced(Tensor[] inputs, Any reduce_op, Any group_name) -> Tensor[]", &op_all_reduce_coalesced);
  m.with_gradient(
      "all_gather_into_tensor(Tensor input, int group_size, Any group_name) -> Tensor", &op_all_gather,
      &autograd_all_gather);
  m.plain(
      "all_gather_into_tensor_out(Tensor input, int group_size, Any group_name, *, Tensor(a!) out) -> Tensor(a!)",
      &op_all_gather_out);
  m.plain(
      "all_gather_into_tensor_coalesced(Tensor[] inputs, int group_size, Any group_name) -> Tensor[]",
      &op_all_gather_coalesced);
  m.with_gradient(
      "reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, Any group_name) -> Tensor",
      &op_reduce_scatter, &autograd_reduce_scatter);
  m.plain(
      "reduce_scatter_tensor_out(Tensor input, str reduce_op, int group_size, Any group_name, *, Tensor(a!) out) -> "
      "Tensor(a!)",
      &op_reduce_scatter_out);
  m.plain(
      "reduce_scatter_tensor_coalesced(Tensor[] inputs, str reduce_op, int group_size, Any group_name) -> Tensor[]",
      &op_reduce_scatter_coalesced);
  m.with_gradient(
      "all_to_all_single(Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes, Any group_name) -> "
      "Tensor",
      &op_all_to_all, &autograd_all_to_all);
  m.plain("broadcast_(Tensor(a!) input, int src, Any group_name) -> Tensor(a!)", &op_broadcast_);
  m.with_gradient("broadcast(Tensor input, int src, Any group_name) -> Tensor", &op_broadcast, &autograd_broadcast);
  m.plain("isend(Tensor tensor, int dst, int tag, str group_name) -> Tensor", &op_isend);
  m.plain("irecv(Tensor tensor, int src, int tag, str group_name) -> Tensor", &op_irecv);
  m.plain(
      "batch_p2p_ops(str[] op_list, int[] peer_list, int[] tag_list, Tensor[] tensors, str group_name) -> Tensor[]",
      &op_batch_p2p);
  m.plain("wait_tensor(Tensor tensor) -> Tensor", &op_wait);
  m.plain("wait_tensors(Tensor[] tensors) -> Tensor[]", &op_waits);
}

void define_functional_autograd(torch::Library& library) {
  Definitions m(library);
  m.with_gradient(
      "all_to_all_single(Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes, Any group_name) -> "
      "Tensor",
      &op_all_to_all, &autograd_all_to_all);
  m.with_gradient(
      "reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, Any group_name) -> Tensor",
      &op_reduce_scatter, &autograd_reduce_scatter);
  m.with_gradient(
      "all_gather_into_tensor(Tensor input, int group_size, Any group_name) -> Tensor", &op_all_gather,
      &autograd_all_gather);
}

} // namespace

void detail::register_functional_operators() {
  // For as long as the process lives.
  static auto* const libraries = new std::deque<torch::Library>;
  for (const auto& [name, define] :
       {std::pair{"_c10d_functional", &define_functional},
        std::pair{"_c10d_functional_autograd", &define_functional_autograd}}) {
    define(libraries->emplace_back(torch::Library::DEF, name, std::nullopt, __FILE__, __LINE__));
  }
}

} // namespace c10d
