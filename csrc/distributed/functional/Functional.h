// Collectives that return their results, as the operators _c10d_functional::*. A result is there after wait_tensor.
#pragma once

#include <csrc/distributed/c10d/ProcessGroup.h>
#include <csrc/distributed/c10d/Types.h>

// Each takes a group, or the name that it is registered by, and a reduction, or its name: "sum", "avg", "product",
// "min", "max", "band", "bor" or "bxor". Gradients flow back by the collective that is the other's transpose.
namespace c10d {

/// In place: each element becomes the reduction over all ranks.
TORCH_API at::Tensor& all_reduce_(at::Tensor& input, std::string reduce_op, std::string group_name);
TORCH_API at::Tensor& all_reduce_(
    at::Tensor& input, c10::intrusive_ptr<ReduceOp> reduce_op, c10::intrusive_ptr<ProcessGroup> group);
/// The same in a new tensor.
TORCH_API at::Tensor all_reduce(const at::Tensor& input, std::string reduce_op, std::string group_name);
TORCH_API at::Tensor all_reduce(
    const at::Tensor& input, c10::intrusive_ptr<ReduceOp> reduce_op, c10::intrusive_ptr<ProcessGroup> group);

/// Several tensors as one operation.
TORCH_API std::vector<at::Tensor> all_reduce_coalesced_(
    std::vector<at::Tensor> inputs, c10::intrusive_ptr<ReduceOp> reduce_op, c10::intrusive_ptr<ProcessGroup> group);
TORCH_API std::vector<at::Tensor> all_reduce_coalesced_(
    std::vector<at::Tensor> inputs, std::string reduce_op, std::string group_name);
TORCH_API std::vector<at::Tensor> all_reduce_coalesced(
    std::vector<at::Tensor> inputs, c10::intrusive_ptr<ReduceOp> reduce_op, c10::intrusive_ptr<ProcessGroup> group);
TORCH_API std::vector<at::Tensor> all_reduce_coalesced(
    std::vector<at::Tensor> inputs, std::string reduce_op, std::string group_name);

/// The tensors of all ranks along dimension 0.
TORCH_API at::Tensor all_gather_into_tensor(const at::Tensor& input, int64_t group_size, std::string group_name);
TORCH_API at::Tensor all_gather_into_tensor(
    const at::Tensor& input, int64_t group_size, c10::intrusive_ptr<ProcessGroup> group);
/// The same, into a tensor that is there.
TORCH_API at::Tensor& all_gather_into_tensor_out(
    at::Tensor& input, int64_t group_size, const std::string& group_name, at::Tensor& output);
TORCH_API at::Tensor& all_gather_into_tensor_out(
    at::Tensor& input, int64_t group_size, c10::intrusive_ptr<ProcessGroup> group, at::Tensor& output);
/// The same for several tensors.
TORCH_API std::vector<at::Tensor> all_gather_into_tensor_coalesced(
    std::vector<at::Tensor> inputs, int64_t group_size, std::string group_name);
TORCH_API std::vector<at::Tensor> all_gather_into_tensor_coalesced(
    std::vector<at::Tensor> inputs, int64_t group_size, c10::intrusive_ptr<ProcessGroup> group);

/// This rank's part, along dimension 0, of the reduction over all ranks.
TORCH_API at::Tensor reduce_scatter_tensor(
    const at::Tensor& input, std::string reduce_op, int64_t group_size, c10::intrusive_ptr<ProcessGroup> group);
TORCH_API at::Tensor reduce_scatter_tensor(
    const at::Tensor& input, std::string reduce_op, int64_t group_size, std::string group_name);
/// The same, into a tensor that is there.
TORCH_API at::Tensor reduce_scatter_tensor_out(
    const at::Tensor& input,
    std::string reduce_op,
    int64_t group_size,
    c10::intrusive_ptr<ProcessGroup> group,
    at::Tensor& output);
TORCH_API at::Tensor reduce_scatter_tensor_out(
    const at::Tensor& input, std::string reduce_op, int64_t group_size, std::string group_name, at::Tensor& output);
/// The same for several tensors.
TORCH_API std::vector<at::Tensor> reduce_scatter_tensor_coalesced(
    std::vector<at::Tensor> inputs, std::string reduce_op, int64_t group_size, c10::intrusive_ptr<ProcessGroup> group);
TORCH_API std::vector<at::Tensor> reduce_scatter_tensor_coalesced(
    std::vector<at::Tensor> inputs, std::string reduce_op, int64_t group_size, std::string group_name);

/// Rows of dimension 0 to each rank, and from each.
TORCH_API at::Tensor all_to_all_single(
    const at::Tensor& input,
    at::SymIntArrayRef output_split_sizes,
    at::SymIntArrayRef input_split_sizes,
    std::string group_name);
TORCH_API at::Tensor all_to_all_single(
    const at::Tensor& input,
    at::SymIntArrayRef output_split_sizes,
    at::SymIntArrayRef input_split_sizes,
    c10::intrusive_ptr<ProcessGroup> group);

/// In place: the values of rank `src` to all.
TORCH_API at::Tensor& broadcast_(at::Tensor& input, int64_t src, c10::intrusive_ptr<ProcessGroup> group);
TORCH_API at::Tensor& broadcast_(at::Tensor& input, int64_t src, std::string group_name);
/// The same in a new tensor.
TORCH_API at::Tensor broadcast(const at::Tensor& input, int64_t src, c10::intrusive_ptr<ProcessGroup> group);
TORCH_API at::Tensor broadcast(const at::Tensor& input, int64_t src, std::string group_name);

/// To and from one rank.
TORCH_API at::Tensor isend(at::Tensor& send_buf, int64_t dst, int64_t tag, std::string group_name);
TORCH_API at::Tensor irecv(at::Tensor& recv_buf, int64_t src, int64_t tag, std::string group_name);
/// Several of them: "isend" or "irecv", the other rank, the tag, and the tensor of each.
TORCH_API std::vector<at::Tensor> batch_p2p_ops(
    std::vector<std::string> op_list,
    std::vector<int64_t> peer_list,
    std::vector<int64_t> tag_list,
    std::vector<at::Tensor> tensors_for_op,
    std::string group_name);

} // namespace c10d
