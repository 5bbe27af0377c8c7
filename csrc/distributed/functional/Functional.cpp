// Collectives that return their results.
#include <csrc/distributed/functional/Functional.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/c10d/GroupRegistry.h>
#include <csrc/distributed/functional/functional_ops.h>

namespace c10d {

namespace detail {

ReduceOp reduction_named(const std::string& name) {
  static const std::unordered_map<std::string, ReduceOp::RedOpType> names = {
      {"sum", ReduceOp::SUM}, {"avg", ReduceOp::AVG},   {"product", ReduceOp::PRODUCT}, {"min", ReduceOp::MIN},
      {"max", ReduceOp::MAX}, {"band", ReduceOp::BAND}, {"bor", ReduceOp::BOR},         {"bxor", ReduceOp::BXOR},
  };
  const auto found = names.find(name);
  TORCH_CHECK(
      found != names.end(), "Unrecognized reduce_op: ", name,
      "; there are sum, avg, product, min, max, band, bor and bxor");
  return found->second;
}

at::Tensor new_all_gathered(const at::Tensor& input, int64_t group_size) {
  TORCH_CHECK(
      input.dim() > 0 && group_size > 0,
      "all_gather_into_tensor: needs at least one dimension and a group size of at least 1, but got sizes ",
      input.sizes(), " and ", group_size);
  auto sizes = input.sizes().vec();
  sizes[0] *= group_size;
  return at::empty(sizes, input.options());
}

at::Tensor new_reduce_scattered(const at::Tensor& input, int64_t group_size) {
  TORCH_CHECK(
      input.dim() > 0 && group_size > 0 && input.size(0) % group_size == 0,
      "reduce_scatter_tensor: The first dimension of the reduce_scatter input (", input.dim() > 0 ? input.size(0) : 0,
      ") is not divisible by the group size (", group_size, ").");
  auto sizes = input.sizes().vec();
  sizes[0] /= group_size;
  return at::empty(sizes, input.options());
}

} // namespace detail

using detail::reduction_named;
using Group = c10::intrusive_ptr<ProcessGroup>;
using Op = c10::intrusive_ptr<ReduceOp>;
using Tensors = std::vector<at::Tensor>;

namespace {

Op op_named(const std::string& name) {
  return c10::make_intrusive<ReduceOp>(reduction_named(name));
}

at::Tensor dense_copy(const at::Tensor& input) {
  return input.clone(at::MemoryFormat::Contiguous);
}

Tensors dense_copies(const Tensors& inputs) {
  Tensors copies;
  for (const auto& input : inputs) {
    copies.push_back(dense_copy(input));
  }
  return copies;
}

void note(const Tensors& results, const c10::intrusive_ptr<Work>& work) {
  for (const auto& result : results) {
    register_work(result, work);
  }
}

} // namespace

at::Tensor& all_reduce_(at::Tensor& input, Op reduce_op, Group group) {
  AllreduceOptions options;
  options.reduceOp = *reduce_op;
  Tensors tensors{input};
  register_work(input, group->allreduce(tensors, options));
  return input;
}

at::Tensor& all_reduce_(at::Tensor& input, std::string reduce_op, std::string group_name) {
  return all_reduce_(input, op_named(reduce_op), resolve_process_group(group_name));
}

at::Tensor all_reduce(const at::Tensor& input, Op reduce_op, Group group) {
  at::Tensor output = dense_copy(input);
  return all_reduce_(output, std::move(reduce_op), std::move(group));
}

at::Tensor all_reduce(const at::Tensor& input, std::string reduce_op, std::string group_name) {
  return all_reduce(input, op_named(reduce_op), resolve_process_group(group_name));
}

Tensors all_reduce_coalesced_(Tensors inputs, Op reduce_op, Group group) {
  AllreduceCoalescedOptions options;
  options.reduceOp = *reduce_op;
  note(inputs, group->allreduce_coalesced(inputs, options));
  return inputs;
}

Tensors all_reduce_coalesced_(Tensors inputs, std::string reduce_op, std::string group_name) {
  return all_reduce_coalesced_(std::move(inputs), op_named(reduce_op), resolve_process_group(group_name));
}

Tensors all_reduce_coalesced(Tensors inputs, Op reduce_op, Group group) {
  return all_reduce_coalesced_(dense_copies(inputs), std::move(reduce_op), std::move(group));
}

Tensors all_reduce_coalesced(Tensors inputs, std::string reduce_op, std::string group_name) {
  return all_reduce_coalesced(std::move(inputs), op_named(reduce_op), resolve_process_group(group_name));
}

at::Tensor all_gather_into_tensor(const at::Tensor& input, int64_t group_size, Group group) {
  at::Tensor dense = input.contiguous();
  at::Tensor output = detail::new_all_gathered(input, group_size);
  return all_gather_into_tensor_out(dense, group_size, std::move(group), output);
}

at::Tensor all_gather_into_tensor(const at::Tensor& input, int64_t group_size, std::string group_name) {
  return all_gather_into_tensor(input, group_size, resolve_process_group(group_name));
}

at::Tensor& all_gather_into_tensor_out(at::Tensor& input, int64_t, Group group, at::Tensor& output) {
  register_work(output, group->all_gather_single(output, input));
  return output;
}

at::Tensor& all_gather_into_tensor_out(
    at::Tensor& input, int64_t group_size, const std::string& group_name, at::Tensor& output) {
  return all_gather_into_tensor_out(input, group_size, resolve_process_group(group_name), output);
}

Tensors all_gather_into_tensor_coalesced(Tensors inputs, int64_t group_size, Group group) {
  Tensors outputs;
  for (auto& input : inputs) {
    outputs.push_back(detail::new_all_gathered(input, group_size));
    input = input.contiguous();
  }
  note(outputs, group->all_gather_single_coalesced(outputs, inputs));
  return outputs;
}

Tensors all_gather_into_tensor_coalesced(Tensors inputs, int64_t group_size, std::string group_name) {
  return all_gather_into_tensor_coalesced(std::move(inputs), group_size, resolve_process_group(group_name));
}

at::Tensor reduce_scatter_tensor(const at::Tensor& input, std::string reduce_op, int64_t group_size, Group group) {
  at::Tensor output = detail::new_reduce_scattered(input, group_size);
  return reduce_scatter_tensor_out(input, std::move(reduce_op), group_size, std::move(group), output);
}

at::Tensor reduce_scatter_tensor(
    const at::Tensor& input, std::string reduce_op, int64_t group_size, std::string group_name) {
  return reduce_scatter_tensor(input, std::move(reduce_op), group_size, resolve_process_group(group_name));
}

at::Tensor reduce_scatter_tensor_out(
    const at::Tensor& input, std::string reduce_op, int64_t, Group group, at::Tensor& output) {
  ReduceScatterOptions options;
  options.reduceOp = reduction_named(reduce_op);
  at::Tensor dense = input.contiguous();
  register_work(output, group->reduce_scatter_single(output, dense, options));
  return output;
}

at::Tensor reduce_scatter_tensor_out(
    const at::Tensor& input, std::string reduce_op, int64_t group_size, std::string group_name, at::Tensor& output) {
  return reduce_scatter_tensor_out(input, std::move(reduce_op), group_size, resolve_process_group(group_name), output);
}

Tensors reduce_scatter_tensor_coalesced(Tensors inputs, std::string reduce_op, int64_t group_size, Group group) {
  ReduceScatterOptions options;
  options.reduceOp = reduction_named(reduce_op);
  Tensors outputs;
  for (auto& input : inputs) {
    outputs.push_back(detail::new_reduce_scattered(input, group_size));
    input = input.contiguous();
  }
  note(outputs, group->reduce_scatter_single_coalesced(outputs, inputs, options));
  return outputs;
}

Tensors reduce_scatter_tensor_coalesced(
    Tensors inputs, std::string reduce_op, int64_t group_size, std::string group_name) {
  return reduce_scatter_tensor_coalesced(
      std::move(inputs), std::move(reduce_op), group_size, resolve_process_group(group_name));
}

at::Tensor all_to_all_single(
    const at::Tensor& input, at::SymIntArrayRef output_split_sizes, at::SymIntArrayRef input_split_sizes, Group group) {
  TORCH_CHECK(input.dim() > 0, "all_to_all_single: needs at least one dimension");
  std::vector<int64_t> to;
  std::vector<int64_t> from;
  int64_t rows = 0;
  for (const auto& size : output_split_sizes) {
    from.push_back(size.expect_int());
    TORCH_CHECK(from.back() >= 0, "Split sizes must be non-negative, but got ", from.back());
    rows += from.back();
  }
  for (const auto& size : input_split_sizes) {
    to.push_back(size.expect_int());
  }
  auto sizes = input.sizes().vec();
  sizes[0] = from.empty() ? sizes[0] : rows;
  at::Tensor dense = input.contiguous();
  at::Tensor output = at::empty(sizes, input.options());
  register_work(output, group->all_to_all_single(output, dense, from, to));
  return output;
}

at::Tensor all_to_all_single(
    const at::Tensor& input,
    at::SymIntArrayRef output_split_sizes,
    at::SymIntArrayRef input_split_sizes,
    std::string group_name) {
  return all_to_all_single(input, output_split_sizes, input_split_sizes, resolve_process_group(group_name));
}

at::Tensor& broadcast_(at::Tensor& input, int64_t src, Group group) {
  BroadcastOptions options;
  options.rootRank = src;
  Tensors tensors{input};
  register_work(input, group->broadcast(tensors, options));
  return input;
}

at::Tensor& broadcast_(at::Tensor& input, int64_t src, std::string group_name) {
  return broadcast_(input, src, resolve_process_group(group_name));
}

at::Tensor broadcast(const at::Tensor& input, int64_t src, Group group) {
  at::Tensor output = dense_copy(input);
  return broadcast_(output, src, std::move(group));
}

at::Tensor broadcast(const at::Tensor& input, int64_t src, std::string group_name) {
  return broadcast(input, src, resolve_process_group(group_name));
}

at::Tensor isend(at::Tensor& send_buf, int64_t dst, int64_t tag, std::string group_name) {
  Tensors tensors{send_buf};
  register_work(
      send_buf, resolve_process_group(group_name)->send(tensors, static_cast<int>(dst), static_cast<int>(tag)));
  return send_buf;
}

at::Tensor irecv(at::Tensor& recv_buf, int64_t src, int64_t tag, std::string group_name) {
  Tensors tensors{recv_buf};
  register_work(
      recv_buf, resolve_process_group(group_name)->recv(tensors, static_cast<int>(src), static_cast<int>(tag)));
  return recv_buf;
}

Tensors batch_p2p_ops(
    std::vector<std::string> op_list,
    std::vector<int64_t> peer_list,
    std::vector<int64_t> tag_list,
    Tensors tensors_for_op,
    std::string group_name) {
  const size_t n = op_list.size();
  TORCH_CHECK(
      peer_list.size() == n && tag_list.size() == n && tensors_for_op.size() == n,
      "batch_p2p_ops: the lists must have one length, but got ", n, " operations, ", peer_list.size(), " ranks, ",
      tag_list.size(), " tags and ", tensors_for_op.size(), " tensors");
  for (const auto& op : op_list) {
    TORCH_CHECK(op == "isend" || op == "irecv", "batch_p2p_ops: an operation is isend or irecv, but got ", op);
  }
  for (size_t i = 0; i < n; ++i) {
    (op_list[i] == "isend" ? isend : irecv)(tensors_for_op[i], peer_list[i], tag_list[i], group_name);
  }
  return tensors_for_op;
}

} // namespace c10d
