// The operators c10d::*: each calls the hooks around the method of the backend that serves its tensors' device.
#include <csrc/distributed/c10d/operators.h>

#include <aten/library/custom_class.h>
#include <aten/library/library.h>
#include <csrc/distributed/c10d/ProcessGroup.h>

namespace c10d {

namespace {

using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;
using Group = const c10::intrusive_ptr<ProcessGroup>&;
using Op = const c10::intrusive_ptr<ReduceOp>&;
using WorkPtr = c10::intrusive_ptr<Work>;

std::chrono::milliseconds ms(int64_t timeout) {
  return std::chrono::milliseconds(timeout);
}

template <class Options>
Options with(bool async, int64_t timeout) {
  Options options;
  options.asyncOp = async;
  options.timeout = ms(timeout);
  return options;
}

c10::DeviceType device_type_of(const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.defined(), "c10d: a tensor is undefined");
  return tensor.device().type();
}
c10::DeviceType device_type_of(const Tensors& tensors) {
  TORCH_CHECK_VALUE(!tensors.empty(), "c10d: requires non-empty tensor list");
  return device_type_of(tensors[0]);
}

void add_to(Tensors& list, const at::Tensor& tensor) {
  list.push_back(tensor);
}
void add_to(Tensors& list, const Tensors& tensors) {
  list.insert(list.end(), tensors.begin(), tensors.end());
}
void add_to(Tensors& list, const Lists& lists) {
  for (const auto& tensors : lists) {
    add_to(list, tensors);
  }
}

// Calls the backend between the hooks. `placed` is what decides about the device.
template <class Placed, class In, class Out, class F>
WorkPtr run(
    Group group, HookOpName name, bool async, int64_t root, const Placed& placed, const In& in, const Out& out, F&& f) {
  const auto backend = group->getBackend(device_type_of(placed));
  const int64_t id = group->firePreHook(name, async, root, [&](PreHookArgs& args) {
    add_to(args.input_tensors, in);
    add_to(args.output_tensors, out);
  });
  WorkPtr work = f(*backend);
  group->firePostHook(name, async, id, work);
  return work;
}

const Tensors kNone;

std::tuple<Tensors, WorkPtr> broadcast(
    at::TensorList list, Group group, int64_t root_rank, int64_t root_tensor, bool async, int64_t timeout) {
  Tensors tensors = list.vec();
  auto work = run(group, HookOpName::BROADCAST, async, root_rank, tensors, tensors, kNone, [&](Backend& backend) {
    auto options = with<BroadcastOptions>(async, timeout);
    options.rootRank = root_rank;
    options.rootTensor = root_tensor;
    return backend.broadcast(tensors, options);
  });
  return {std::move(tensors), work};
}

std::tuple<Tensors, WorkPtr> allreduce(
    at::TensorList list,
    Group group,
    Op op,
    const std::optional<at::Tensor>& sparse_indices,
    bool async,
    int64_t timeout) {
  Tensors tensors = list.vec();
  auto work = run(group, HookOpName::ALLREDUCE, async, -1, tensors, tensors, tensors, [&](Backend& backend) {
    auto options = with<AllreduceOptions>(async, timeout);
    options.reduceOp = *op;
    if (sparse_indices) {
      options.sparseIndices = sparse_indices;
      return backend.allreduce_sparse(tensors, options);
    }
    return backend.allreduce(tensors, options);
  });
  return {std::move(tensors), work};
}

WorkPtr allreduce_coalesced(at::TensorList list, Group group, Op op, bool async, int64_t timeout) {
  Tensors tensors = list.vec();
  return run(group, HookOpName::ALLREDUCE_COALESCED, async, -1, tensors, tensors, tensors, [&](Backend& backend) {
    auto options = with<AllreduceCoalescedOptions>(async, timeout);
    options.reduceOp = *op;
    return backend.allreduce_coalesced(tensors, options);
  });
}

WorkPtr reduce(
    at::TensorList list, Group group, Op op, int64_t root_rank, int64_t root_tensor, bool async, int64_t timeout) {
  Tensors tensors = list.vec();
  return run(group, HookOpName::REDUCE, async, root_rank, tensors, tensors, tensors, [&](Backend& backend) {
    auto options = with<ReduceOptions>(async, timeout);
    options.reduceOp = *op;
    options.rootRank = root_rank;
    options.rootTensor = root_tensor;
    return backend.reduce(tensors, options);
  });
}

std::tuple<Lists, WorkPtr> allgather(
    const Lists& outputs, at::TensorList list, Group group, bool async, int64_t timeout) {
  Tensors inputs = list.vec();
  Lists written = outputs;
  auto work = run(group, HookOpName::ALLGATHER, async, -1, inputs, inputs, written, [&](Backend& backend) {
    return backend.allgather(written, inputs, with<AllgatherOptions>(async, timeout));
  });
  return {std::move(written), work};
}

std::tuple<at::Tensor, WorkPtr> allgather_base(
    at::Tensor& output, at::Tensor& input, Group group, bool async, int64_t timeout) {
  auto work = run(group, HookOpName::ALLGATHER_BASE, async, -1, input, input, output, [&](Backend& backend) {
    return backend.all_gather_single(output, input, with<AllgatherOptions>(async, timeout));
  });
  return {output, work};
}

WorkPtr allgather_coalesced(const Lists& outputs, const at::TensorList& list, Group group, bool async) {
  Tensors inputs = list.vec();
  Lists written = outputs;
  return run(group, HookOpName::ALLGATHER_COALESCED, async, -1, inputs, inputs, written, [&](Backend& backend) {
    return backend.allgather_coalesced(written, inputs, with<AllgatherOptions>(async, -1));
  });
}

WorkPtr allgather_into_tensor_coalesced(at::TensorList outputs, at::TensorList list, Group group, bool async) {
  Tensors inputs = list.vec();
  Tensors written = outputs.vec();
  const auto name = HookOpName::ALLGATHER_INTO_TENSOR_COALESCED;
  return run(group, name, async, -1, inputs, inputs, written, [&](Backend& backend) {
    return backend.all_gather_single_coalesced(written, inputs, with<AllgatherOptions>(async, -1));
  });
}

WorkPtr gather(
    const Lists& outputs, const at::TensorList& list, Group group, int64_t root_rank, bool async, int64_t timeout) {
  Tensors inputs = list.vec();
  Lists written = outputs;
  return run(group, HookOpName::GATHER, async, root_rank, inputs, inputs, written, [&](Backend& backend) {
    auto options = with<GatherOptions>(async, timeout);
    options.rootRank = root_rank;
    return backend.gather(written, inputs, options);
  });
}

std::tuple<at::Tensor, WorkPtr> gather_into_tensor(
    at::Tensor& output, at::Tensor& input, Group group, int64_t root_rank, bool async, int64_t timeout) {
  auto work = run(group, HookOpName::GATHER, async, root_rank, input, input, output, [&](Backend& backend) {
    auto options = with<GatherOptions>(async, timeout);
    options.rootRank = root_rank;
    return backend.gather_single(output, input, options);
  });
  return {output, work};
}

std::tuple<Tensors, WorkPtr> scatter(
    const at::TensorList& outputs, const Lists& inputs, Group group, int64_t root_rank, bool async, int64_t timeout) {
  Tensors written = outputs.vec();
  Lists read = inputs;
  auto work = run(group, HookOpName::SCATTER, async, root_rank, written, read, written, [&](Backend& backend) {
    auto options = with<ScatterOptions>(async, timeout);
    options.rootRank = root_rank;
    return backend.scatter(written, read, options);
  });
  return {std::move(written), work};
}

std::tuple<Tensors, WorkPtr> reduce_scatter(
    const at::TensorList& outputs, const Lists& inputs, Group group, Op op, bool async, int64_t timeout) {
  Tensors written = outputs.vec();
  Lists read = inputs;
  auto work = run(group, HookOpName::REDUCE_SCATTER, async, -1, written, read, written, [&](Backend& backend) {
    auto options = with<ReduceScatterOptions>(async, timeout);
    options.reduceOp = *op;
    return backend.reduce_scatter(written, read, options);
  });
  return {std::move(written), work};
}

std::tuple<at::Tensor, WorkPtr> reduce_scatter_base(
    at::Tensor& output, at::Tensor& input, Group group, Op op, bool async, int64_t timeout) {
  auto work = run(group, HookOpName::REDUCE_SCATTER_BASE, async, -1, input, input, output, [&](Backend& backend) {
    auto options = with<ReduceScatterOptions>(async, timeout);
    options.reduceOp = *op;
    return backend.reduce_scatter_single(output, input, options);
  });
  return {output, work};
}

WorkPtr reduce_scatter_tensor_coalesced(
    at::TensorList outputs, at::TensorList list, Group group, Op op, bool async, int64_t timeout) {
  Tensors inputs = list.vec();
  Tensors written = outputs.vec();
  const auto name = HookOpName::REDUCE_SCATTER_TENSOR_COALESCED;
  return run(group, name, async, -1, inputs, inputs, written, [&](Backend& backend) {
    auto options = with<ReduceScatterOptions>(async, timeout);
    options.reduceOp = *op;
    return backend.reduce_scatter_single_coalesced(written, inputs, options);
  });
}

WorkPtr alltoall_base(
    at::Tensor& output,
    at::Tensor& input,
    Group group,
    std::vector<int64_t> output_split_sizes,
    std::vector<int64_t> input_split_sizes,
    bool async,
    int64_t timeout) {
  return run(group, HookOpName::ALLTOALL_BASE, async, -1, input, input, output, [&](Backend& backend) {
    return backend.all_to_all_single(
        output, input, output_split_sizes, input_split_sizes, with<AllToAllOptions>(async, timeout));
  });
}

std::tuple<Tensors, WorkPtr> alltoall(
    const at::TensorList& outputs, const at::TensorList& list, Group group, bool async, int64_t timeout) {
  Tensors inputs = list.vec();
  Tensors written = outputs.vec();
  auto work = run(group, HookOpName::ALLTOALL, async, -1, inputs, inputs, written, [&](Backend& backend) {
    return backend.alltoall(written, inputs, with<AllToAllOptions>(async, timeout));
  });
  return {std::move(written), work};
}

WorkPtr barrier(at::Tensor tensor, Group group, const std::vector<int64_t>& device_ids, bool async, int64_t timeout) {
  return run(group, HookOpName::BARRIER, async, -1, tensor, kNone, kNone, [&](Backend& backend) {
    auto options = with<BarrierOptions>(async, timeout);
    options.device_ids = device_ids;
    return backend.barrier(options);
  });
}

void monitored_barrier(
    at::Tensor tensor, Group group, const std::vector<int64_t>& device_ids, int64_t timeout, bool wait_all_ranks) {
  BarrierOptions options;
  options.device_ids = device_ids;
  options.timeout = ms(timeout);
  group->getBackend(device_type_of(tensor))->monitoredBarrier(options, wait_all_ranks);
}

WorkPtr send(at::TensorList list, Group group, int64_t dst, int64_t tag) {
  Tensors tensors = list.vec();
  return run(group, HookOpName::SEND, true, dst, tensors, tensors, kNone, [&](Backend& backend) {
    return backend.send(tensors, static_cast<int>(dst), static_cast<int>(tag));
  });
}

WorkPtr recv(at::TensorList list, Group group, int64_t src, int64_t tag) {
  Tensors tensors = list.vec();
  return run(group, HookOpName::RECV, true, src, tensors, kNone, tensors, [&](Backend& backend) {
    return backend.recv(tensors, static_cast<int>(src), static_cast<int>(tag));
  });
}

WorkPtr recv_any_source(at::TensorList list, Group group, int64_t tag) {
  Tensors tensors = list.vec();
  return run(group, HookOpName::RECV, true, -1, tensors, kNone, tensors, [&](Backend& backend) {
    return backend.recvAnysource(tensors, static_cast<int>(tag));
  });
}

void define_all(torch::Library& m) {
  m.class_<ProcessGroup>("ProcessGroup").def(torch::init<int64_t, int64_t>());
  m.class_<Work>("Work").def(torch::init<>()).def("wait", [](const WorkPtr& self) { self->wait(); });
  m.class_<ReduceOp>("ReduceOp").def(torch::init<>());
  const std::string group = "__torch__.torch.classes.c10d.ProcessGroup process_group";
  const std::string op = "__torch__.torch.classes.c10d.ReduceOp reduce_op";
  const std::string work = "__torch__.torch.classes.c10d.Work";
  const std::string end = "bool async_op=True, int timeout=-1) -> ";
  const auto def = [&](const std::string& schema, auto* kernel) {
    m.def(schema, torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, kernel));
  };
  def("broadcast_(Tensor[] tensors, " + group + ", int root_rank, int root_tensor, " + end + "(Tensor[], " + work + ")",
      &broadcast);
  def("allreduce_(Tensor[] tensors, " + group + ", " + op + ", Tensor? sparse_indices, " + end + "(Tensor[], " + work +
          ")",
      &allreduce);
  def("allreduce_coalesced_(Tensor[] tensors, " + group + ", " + op + ", " + end + work, &allreduce_coalesced);
  def("reduce_(Tensor[] tensors, " + group + ", " + op + ", int root_rank, int root_tensor, " + end + work, &reduce);
  def("allgather_(Tensor[][] output_tensors, Tensor[] input_tensors, " + group + ", " + end + "(Tensor[][], " + work +
          ")",
      &allgather);
  def("_allgather_base_(Tensor output_tensor, Tensor input_tensor, " + group + ", " + end + "(Tensor, " + work + ")",
      &allgather_base);
  def("allgather_coalesced_(Tensor[][] output_lists, Tensor[] input_list, " + group + ", bool async_op=True) -> " +
          work,
      &allgather_coalesced);
  def("allgather_into_tensor_coalesced_(Tensor[] outputs, Tensor[] inputs, " + group + ", bool async_op=True) -> " +
          work,
      &allgather_into_tensor_coalesced);
  def("gather_(Tensor[][] output_tensors, Tensor[] input_tensors, " + group + ", int root_rank, " + end + work,
      &gather);
  def("gather_into_tensor_(Tensor output_tensor, Tensor input_tensor, " + group + ", int root_rank, " + end +
          "(Tensor, " + work + ")",
      &gather_into_tensor);
  def("scatter_(Tensor[] output_tensors, Tensor[][] input_tensors, " + group + ", int root_rank, " + end +
          "(Tensor[], " + work + ")",
      &scatter);
  def("reduce_scatter_(Tensor[] output_tensors, Tensor[][] input_tensors, " + group + ", " + op + ", " + end +
          "(Tensor[], " + work + ")",
      &reduce_scatter);
  def("_reduce_scatter_base_(Tensor output_tensor, Tensor input_tensor, " + group + ", " + op + ", " + end +
          "(Tensor, " + work + ")",
      &reduce_scatter_base);
  def("reduce_scatter_tensor_coalesced_(Tensor[] outputs, Tensor[] inputs, " + group + ", " + op + ", " + end + work,
      &reduce_scatter_tensor_coalesced);
  def("alltoall_base_(Tensor output, Tensor input, " + group + ", int[] output_split_sizes, int[] input_split_sizes, " +
          end + work,
      &alltoall_base);
  def("alltoall_(Tensor[] output_tensors, Tensor[] input_tensors, " + group + ", " + end + "(Tensor[], " + work + ")",
      &alltoall);
  def("barrier(Tensor tensor, " + group + ", int[] device_ids, " + end + work, &barrier);
  def("monitored_barrier_(Tensor tensor, " + group + ", int[] device_ids, int timeout, bool wait_all_ranks) -> ()",
      &monitored_barrier);
  def("send(Tensor[] tensors, " + group + ", int dst, int tag) -> " + work, &send);
  def("recv_(Tensor[] tensors, " + group + ", int src, int tag) -> " + work, &recv);
  def("recv_any_source_(Tensor[] tensors, " + group + ", int tag) -> " + work, &recv_any_source);
}

} // namespace

void detail::register_operators() {
  static torch::Library& library = *[] {
    auto* m = new torch::Library(torch::Library::DEF, "c10d", std::nullopt, __FILE__, __LINE__);
    define_all(*m);
    register_functional_operators();
    return m;
  }();
  (void)library;
}

} // namespace c10d
