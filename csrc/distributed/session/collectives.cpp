// Collectives as free functions.
#include <csrc/distributed/session/collectives.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>
#include <csrc/serialize/serialize.h>

#include <algorithm>

namespace torch::distributed {

namespace {
using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;

c10d::ProcessGroup& of(const GroupPtr& group, GroupPtr& held) {
  held = group ? group : default_group();
  return *held;
}

Tensors like_each(const at::Tensor& tensor, int size) {
  Tensors tensors;
  for (int rank = 0; rank < size; ++rank) {
    tensors.push_back(at::empty_like(tensor, tensor.options(), at::MemoryFormat::Contiguous));
  }
  return tensors;
}

} // namespace

WorkPtr all_reduce_async(const at::Tensor& tensor, const ReduceOp& op, const GroupPtr& group) {
  GroupPtr held;
  Tensors tensors{tensor};
  c10d::AllreduceOptions options;
  options.reduceOp = op;
  return of(group, held).allreduce(tensors, options);
}

void all_reduce(const at::Tensor& tensor, const ReduceOp& op, const GroupPtr& group) {
  all_reduce_async(tensor, op, group)->wait();
}

WorkPtr broadcast_async(const at::Tensor& tensor, int src, const GroupPtr& group) {
  GroupPtr held;
  Tensors tensors{tensor};
  c10d::BroadcastOptions options;
  options.rootRank = src;
  return of(group, held).broadcast(tensors, options);
}

void broadcast(const at::Tensor& tensor, int src, const GroupPtr& group) {
  broadcast_async(tensor, src, group)->wait();
}

void reduce(const at::Tensor& tensor, int dst, const ReduceOp& op, const GroupPtr& group) {
  GroupPtr held;
  Tensors tensors{tensor};
  c10d::ReduceOptions options;
  options.reduceOp = op;
  options.rootRank = dst;
  of(group, held).reduce(tensors, options)->wait();
}

std::vector<at::Tensor> all_gather(const at::Tensor& tensor, const GroupPtr& group) {
  GroupPtr held;
  auto& g = of(group, held);
  Lists outputs{like_each(tensor, g.getSize())};
  Tensors inputs{tensor};
  g.allgather(outputs, inputs)->wait();
  return outputs[0];
}

void all_gather_into_tensor(const at::Tensor& output, const at::Tensor& input, const GroupPtr& group) {
  GroupPtr held;
  at::Tensor to = output;
  at::Tensor from = input;
  of(group, held).all_gather_single(to, from)->wait();
}

std::vector<at::Tensor> gather(const at::Tensor& tensor, int dst, const GroupPtr& group) {
  GroupPtr held;
  auto& g = of(group, held);
  Lists outputs;
  if (g.getRank() == dst) {
    outputs.push_back(like_each(tensor, g.getSize()));
  }
  Tensors inputs{tensor};
  c10d::GatherOptions options;
  options.rootRank = dst;
  g.gather(outputs, inputs, options)->wait();
  return outputs.empty() ? Tensors() : outputs[0];
}

void scatter(const at::Tensor& output, const std::vector<at::Tensor>& inputs, int src, const GroupPtr& group) {
  GroupPtr held;
  auto& g = of(group, held);
  Tensors outputs{output};
  Lists lists;
  if (g.getRank() == src) {
    lists.push_back(inputs);
  }
  c10d::ScatterOptions options;
  options.rootRank = src;
  g.scatter(outputs, lists, options)->wait();
}

void reduce_scatter_tensor(
    const at::Tensor& output, const at::Tensor& input, const ReduceOp& op, const GroupPtr& group) {
  GroupPtr held;
  at::Tensor to = output;
  at::Tensor from = input;
  c10d::ReduceScatterOptions options;
  options.reduceOp = op;
  of(group, held).reduce_scatter_single(to, from, options)->wait();
}

void all_to_all_single(
    const at::Tensor& output,
    const at::Tensor& input,
    std::vector<int64_t> output_split_sizes,
    std::vector<int64_t> input_split_sizes,
    const GroupPtr& group) {
  GroupPtr held;
  at::Tensor to = output;
  at::Tensor from = input;
  of(group, held).all_to_all_single(to, from, output_split_sizes, input_split_sizes)->wait();
}

void barrier(const GroupPtr& group) {
  GroupPtr held;
  of(group, held).barrier()->wait();
}

WorkPtr isend(const at::Tensor& tensor, int dst, int tag, const GroupPtr& group) {
  GroupPtr held;
  Tensors tensors{tensor};
  return of(group, held).send(tensors, dst, tag);
}

WorkPtr irecv(const at::Tensor& tensor, int src, int tag, const GroupPtr& group) {
  GroupPtr held;
  Tensors tensors{tensor};
  auto& g = of(group, held);
  return src < 0 ? g.recvAnysource(tensors, tag) : g.recv(tensors, src, tag);
}

void send(const at::Tensor& tensor, int dst, int tag, const GroupPtr& group) {
  isend(tensor, dst, tag, group)->wait();
}

int recv(const at::Tensor& tensor, int src, int tag, const GroupPtr& group) {
  const WorkPtr work = irecv(tensor, src, tag, group);
  work->wait();
  return src < 0 ? work->sourceRank() : src;
}

namespace {

at::Tensor bytes_tensor(const std::vector<char>& bytes) {
  const auto tensor = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(tensor.data_ptr()));
  return tensor;
}

c10::IValue object_of(const at::Tensor& bytes) {
  const char* data = static_cast<const char*>(bytes.data_ptr());
  return torch::pickle_load(std::vector<char>(data, data + bytes.numel()));
}

} // namespace

c10::IValue broadcast_object(const c10::IValue& object, int src, const GroupPtr& group) {
  const bool mine = get_rank(group) == src;
  at::Tensor bytes = mine ? bytes_tensor(torch::pickle_save(object)) : at::Tensor();
  const auto size = at::full({}, mine ? bytes.numel() : 0, at::kLong);
  broadcast(size, src, group);
  if (!mine) {
    bytes = at::empty({size.item<int64_t>()}, at::kByte);
  }
  broadcast(bytes, src, group);
  return mine ? object : object_of(bytes);
}

std::vector<c10::IValue> all_gather_object(const c10::IValue& object, const GroupPtr& group) {
  const auto mine = bytes_tensor(torch::pickle_save(object));
  const auto sizes = all_gather(at::full({1}, mine.numel(), at::kLong), group);
  int64_t longest = 0;
  for (const auto& size : sizes) {
    longest = std::max(longest, size.item<int64_t>());
  }
  auto padded = at::zeros({longest}, at::kByte);
  padded.narrow(0, 0, mine.numel()).copy_(mine);
  const auto all = all_gather(padded, group);
  std::vector<c10::IValue> objects;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    objects.push_back(object_of(all[rank].narrow(0, 0, sizes[rank].item<int64_t>())));
  }
  return objects;
}

} // namespace torch::distributed
