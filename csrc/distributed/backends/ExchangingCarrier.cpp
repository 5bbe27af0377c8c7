// Reductions as exchanges of bytes.
#include <csrc/distributed/backends/QueueBackend.h>

#include <aten/Functions.h>
#include <csrc/distributed/engine/reduce.h>

namespace c10d {

void ExchangingCarrier::sum_rows(const at::Tensor& rows, const at::Tensor& sum, ReduceOp::RedOpType op) const {
  std::vector<const char*> sources;
  for (int rank = 0; rank < size_; ++rank) {
    sources.push_back(static_cast<const char*>(rows.data_ptr()) + rank * sum.nbytes());
  }
  detail::reduce_elements(
      sum.scalar_type(), op, sources, {static_cast<char*>(sum.data_ptr())}, static_cast<size_t>(sum.numel()));
}

// Each rank gets a part from all, and gives the sum to all. Small ones go to all at once.
void ExchangingCarrier::allreduce(const Call& call, const at::Tensor& data, ReduceOp::RedOpType op) {
  constexpr size_t small = 4096;
  if (data.nbytes() <= small) {
    const at::Tensor all = at::empty({size_, data.numel()}, data.options());
    allgather(call, all, data);
    sum_rows(all, data, op);
    return;
  }
  std::vector<int64_t> counts(static_cast<size_t>(size_), data.numel() / size_);
  for (int64_t i = 0; i < data.numel() % size_; ++i) {
    ++counts[static_cast<size_t>(i)];
  }
  const int64_t mine = counts[static_cast<size_t>(rank_)];
  const at::Tensor parts = at::empty({size_, mine}, data.options());
  alltoall(call, parts, data, std::vector<int64_t>(static_cast<size_t>(size_), mine), counts);
  const at::Tensor part = at::empty({mine}, data.options());
  sum_rows(parts, part, op);
  allgatherv(call, data, part, counts);
}

void ExchangingCarrier::reduce(const Call& call, const at::Tensor& data, int root, ReduceOp::RedOpType op) {
  const at::Tensor all = root == rank_ ? at::empty({size_, data.numel()}, data.options()) : at::Tensor();
  gather(call, all, data, root);
  if (root == rank_) {
    sum_rows(all, data, op);
  }
}

void ExchangingCarrier::reduce_scatter(
    const Call& call, const at::Tensor& output, const at::Tensor& input, ReduceOp::RedOpType op) {
  const at::Tensor parts = at::empty({size_, output.numel()}, output.options());
  const std::vector<int64_t> counts(static_cast<size_t>(size_), output.numel());
  alltoall(call, parts, input, counts, counts);
  sum_rows(parts, output, op);
}

} // namespace c10d
