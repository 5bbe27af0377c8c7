// Collectives as free functions. Without a group they are of all processes.
#pragma once

#include <csrc/distributed/session/init.h>

namespace torch::distributed {

using c10d::ReduceOp;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;

/// Each element becomes the reduction over all ranks. The forms that end in _async return a work to wait for; until
/// then nobody may touch the tensors.
TORCH_API void all_reduce(const at::Tensor& tensor, const ReduceOp& op = ReduceOp::SUM, const GroupPtr& group = {});
TORCH_API WorkPtr
all_reduce_async(const at::Tensor& tensor, const ReduceOp& op = ReduceOp::SUM, const GroupPtr& group = {});
/// The values of rank `src` to all.
TORCH_API void broadcast(const at::Tensor& tensor, int src, const GroupPtr& group = {});
TORCH_API WorkPtr broadcast_async(const at::Tensor& tensor, int src, const GroupPtr& group = {});
/// As all_reduce, for rank `dst` alone.
TORCH_API void reduce(
    const at::Tensor& tensor, int dst, const ReduceOp& op = ReduceOp::SUM, const GroupPtr& group = {});
/// The tensors of all ranks, in new tensors.
TORCH_API std::vector<at::Tensor> all_gather(const at::Tensor& tensor, const GroupPtr& group = {});
/// The same along dimension 0 of one tensor.
TORCH_API void all_gather_into_tensor(const at::Tensor& output, const at::Tensor& input, const GroupPtr& group = {});
/// The tensors of all ranks on rank `dst`, nothing elsewhere.
TORCH_API std::vector<at::Tensor> gather(const at::Tensor& tensor, int dst, const GroupPtr& group = {});
/// To each rank one of the tensors that rank `src` has.
TORCH_API void scatter(
    const at::Tensor& output, const std::vector<at::Tensor>& inputs, int src, const GroupPtr& group = {});
/// The part of the reduction that belongs to this rank, of dimension 0 of the input.
TORCH_API void reduce_scatter_tensor(
    const at::Tensor& output, const at::Tensor& input, const ReduceOp& op = ReduceOp::SUM, const GroupPtr& group = {});
/// Rows of dimension 0 from each rank to each; without sizes as many for each.
TORCH_API void all_to_all_single(
    const at::Tensor& output,
    const at::Tensor& input,
    std::vector<int64_t> output_split_sizes = {},
    std::vector<int64_t> input_split_sizes = {},
    const GroupPtr& group = {});
/// Ends when all ranks have called it.
TORCH_API void barrier(const GroupPtr& group = {});

TORCH_API void send(const at::Tensor& tensor, int dst, int tag = 0, const GroupPtr& group = {});
/// From rank `src`, or with -1 from any; returns from which.
TORCH_API int recv(const at::Tensor& tensor, int src = -1, int tag = 0, const GroupPtr& group = {});
TORCH_API WorkPtr isend(const at::Tensor& tensor, int dst, int tag = 0, const GroupPtr& group = {});
TORCH_API WorkPtr irecv(const at::Tensor& tensor, int src, int tag = 0, const GroupPtr& group = {});

/// Values that torch::pickle_save takes: rank `src`'s to all, or those of all ranks to all.
TORCH_API c10::IValue broadcast_object(const c10::IValue& object, int src, const GroupPtr& group = {});
TORCH_API std::vector<c10::IValue> all_gather_object(const c10::IValue& object, const GroupPtr& group = {});

} // namespace torch::distributed
