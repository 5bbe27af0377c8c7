// torch::cuda::nccl: NCCL's operations on one tensor for each device of this process.
#include <csrc/distributed/plugins/nccl/device_lists.h>

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/plugins/nccl/NcclCommunicator.h>

#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace torch::cuda::nccl {

using c10::cuda::CUDAStream;
using c10d::detail::NcclElements;
using c10d::detail::NcclLibrary;

namespace {

// NCCL's types, which have the names of those here.
::ncclComm_t own(ncclComm_t comm) {
  return static_cast<::ncclComm_t>(comm);
}

::ncclRedOp_t reduction(int32_t op) {
  TORCH_CHECK_VALUE(
      op >= 0 && op < static_cast<int32_t>(ncclRedOp::NumOps), "torch::cuda::nccl: there is no reduction ", op,
      "; there are Sum, Prod, Max and Min, 0 to 3");
  return static_cast<::ncclRedOp_t>(op);
}

NcclElements reducible(const char* what, const at::Tensor& tensor, int32_t op) {
  const bool sum = op == static_cast<int32_t>(ncclRedOp::Sum);
  return c10d::detail::reducible_elements(what, tensor, sum ? c10d::ReduceOp::SUM : c10d::ReduceOp::PRODUCT);
}

using OnDevice = std::function<ncclResult_t(const NcclLibrary& nccl, size_t i, ::ncclComm_t comm, cudaStream_t stream)>;

// One call for each tensor, all in one group.
void for_devices(
    const char* call,
    at::TensorList tensors,
    const stream_list& streams,
    const comm_list& user_comms,
    const OnDevice& body) {
  TORCH_CHECK_VALUE(
      (streams.empty() || streams.size() == tensors.size()) &&
          (user_comms.empty() || user_comms.size() == tensors.size()),
      call, ": there must be as many streams and communicators as tensors, ", tensors.size(), ", or none; got ",
      streams.size(), " and ", user_comms.size());
  const NcclLibrary& nccl = NcclLibrary::get();
  const at::ArrayRef<ncclComm_t> comms =
      user_comms.empty() ? detail::get_communicators(tensors) : at::ArrayRef<ncclComm_t>(user_comms);
  const AutoNcclGroup group;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto device = tensors[i].get_device();
    const c10::cuda::CUDAGuard guard(device);
    const bool given = !streams.empty() && streams[i];
    const CUDAStream stream = given ? *streams[i] : c10::cuda::getCurrentCUDAStream(device);
    nccl.check(body(nccl, i, own(comms[i]), stream.stream()), call, own(comms[i]));
  }
}

int ranks_of(const NcclLibrary& nccl, ncclComm_t comm, bool rank) {
  int number = 0;
  const auto ask = rank ? nccl.comm_user_rank : nccl.comm_count;
  nccl.check(ask(own(comm), &number), rank ? "ncclCommUserRank" : "ncclCommCount", own(comm));
  return number;
}

void send_bytes(const void* from, size_t bytes, int to, ncclComm_t comm, CUDAStream stream) {
  const NcclLibrary& nccl = NcclLibrary::get();
  nccl.check(nccl.send(from, bytes, ncclUint8, to, own(comm), stream.stream()), "ncclSend", own(comm));
}

void receive_bytes(void* to, size_t bytes, int from, ncclComm_t comm, CUDAStream stream) {
  const NcclLibrary& nccl = NcclLibrary::get();
  nccl.check(nccl.recv(to, bytes, ncclUint8, from, own(comm), stream.stream()), "ncclRecv", own(comm));
}

void check_tensor(const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(
      tensor.defined() && tensor.is_cuda() && !tensor.is_sparse() && tensor.is_contiguous(),
      "torch::cuda::nccl: tensors must be dense, contiguous and on CUDA devices");
}

[[noreturn]] void refuse(const std::string& why) {
  throw std::runtime_error("torch::cuda::nccl: " + why);
}

} // namespace

AutoNcclGroup::AutoNcclGroup() {
  const NcclLibrary& nccl = NcclLibrary::get();
  nccl.check(nccl.group_start(), "ncclGroupStart");
}

AutoNcclGroup::~AutoNcclGroup() noexcept(false) {
  const NcclLibrary& nccl = NcclLibrary::get();
  const ncclResult_t result = nccl.group_end();
  if (std::uncaught_exceptions() == 0) {
    nccl.check(result, "ncclGroupEnd");
  }
}

std::uint64_t version() {
  const NcclLibrary& nccl = NcclLibrary::get();
  int code = 0;
  nccl.check(nccl.get_version(&code), "ncclGetVersion");
  // 2.8 and before: 2 804; since then: 2 28 09.
  const int unit = code < 10000 ? 1000 : 10000;
  const auto part = [](int value, int bits) { return static_cast<std::uint64_t>(value) << bits; };
  return part(code / unit, 32) | part(code % unit / 100, 16) | part(code % 100, 0);
}

const char* version_suffix() {
  return "";
}

bool is_available(at::TensorList tensors) {
  std::set<c10::DeviceIndex> devices;
  for (const auto& tensor : tensors) {
    const bool fits = tensor.defined() && tensor.is_cuda() && !tensor.is_sparse() && tensor.is_contiguous();
    if (!fits || !devices.insert(static_cast<c10::DeviceIndex>(tensor.get_device())).second) {
      return false;
    }
  }
  return true;
}

void get_unique_id(ncclUniqueId& id) {
  const NcclLibrary& nccl = NcclLibrary::get();
  static_assert(sizeof(ncclUniqueId) == sizeof(::ncclUniqueId));
  nccl.check(nccl.get_unique_id(reinterpret_cast<::ncclUniqueId*>(&id)), "ncclGetUniqueId");
}

ncclComm_t comm_init_rank(int nranks, const ncclUniqueId& comm_id, int rank) {
  const NcclLibrary& nccl = NcclLibrary::get();
  ::ncclComm_t comm = nullptr;
  nccl.check(
      nccl.comm_init_rank(&comm, nranks, reinterpret_cast<const ::ncclUniqueId&>(comm_id), rank), "ncclCommInitRank");
  return comm;
}

void comm_destroy(ncclComm_t comm) {
  const NcclLibrary& nccl = NcclLibrary::get();
  nccl.check(nccl.comm_destroy(own(comm)), "ncclCommDestroy");
}

void detail::throw_nccl_error(ncclResult status) {
  NcclLibrary::get().check(static_cast<ncclResult_t>(status), "call");
  refuse("throw_nccl_error was called without an error");
}

at::ArrayRef<ncclComm_t> detail::get_communicators(at::TensorList inputs) {
  static std::mutex mutex;
  static auto& made = *new std::map<std::vector<int>, comm_list>(); // communicators outlive all that may use them
  std::vector<int> devices;
  for (const auto& tensor : inputs) {
    check_tensor(tensor);
    devices.push_back(static_cast<int>(tensor.get_device()));
  }
  const std::lock_guard lock(mutex);
  auto found = made.find(devices);
  if (found == made.end()) {
    const NcclLibrary& nccl = NcclLibrary::get();
    std::vector<::ncclComm_t> comms(devices.size());
    nccl.check(nccl.comm_init_all(comms.data(), static_cast<int>(devices.size()), devices.data()), "ncclCommInitAll");
    found = made.emplace(devices, comm_list(comms.begin(), comms.end())).first;
  }
  return found->second;
}

void detail::check_inputs(
    at::TensorList inputs, at::TensorList outputs, size_t input_multiplier, size_t output_multiplier) {
  if (inputs.empty() || inputs.size() != outputs.size()) {
    refuse(c10::str("there must be as many outputs as inputs, but got ", outputs.size(), " and ", inputs.size()));
  }
  if (!is_available(inputs) || !is_available(outputs)) {
    refuse("tensors must be dense, contiguous and each on another CUDA device");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].scalar_type() != inputs[0].scalar_type() || outputs[i].scalar_type() != inputs[0].scalar_type()) {
      refuse("all tensors must have one dtype");
    }
    if (inputs[i].device() != outputs[i].device()) {
      refuse(c10::str("input and output ", i, " must be on one device"));
    }
    if (inputs[i].numel() != inputs[0].numel() ||
        static_cast<size_t>(outputs[i].numel()) * input_multiplier !=
            static_cast<size_t>(inputs[i].numel()) * output_multiplier) {
      refuse(c10::str(
          "inputs must have one number of elements, and outputs ", output_multiplier, "/", input_multiplier,
          " of that; got ", inputs[i].numel(), " and ", outputs[i].numel()));
    }
  }
}

void broadcast(at::TensorList tensors, int32_t root, const stream_list& streams, const comm_list& user_comms) {
  detail::check_inputs(tensors, tensors, 1, 1);
  for_devices("ncclBroadcast", tensors, streams, user_comms, [&](const auto& nccl, size_t i, auto comm, auto stream) {
    void* data = tensors[i].data_ptr();
    return nccl.broadcast(data, data, tensors[i].nbytes(), ncclUint8, root, comm, stream);
  });
}

void reduce(
    const std::vector<at::Tensor>& inputs,
    at::Tensor& output,
    int32_t root,
    int32_t op,
    const stream_list& streams,
    const comm_list& user_comms) {
  TORCH_CHECK_VALUE(
      root >= 0 && root < static_cast<int32_t>(inputs.size()), "torch::cuda::nccl::reduce: root ", root,
      " is not among the ", inputs.size(), " tensors");
  detail::check_inputs(inputs, inputs, 1, 1);
  detail::check_inputs(inputs[root], output, 1, 1);
  for_devices("ncclReduce", inputs, streams, user_comms, [&](const auto& nccl, size_t i, auto comm, auto stream) {
    const NcclElements elements = reducible("reduce", inputs[i], op);
    void* to = static_cast<int32_t>(i) == root ? output.data_ptr() : inputs[i].data_ptr();
    return nccl.reduce(inputs[i].data_ptr(), to, elements.count, elements.type, reduction(op), root, comm, stream);
  });
}

void reduce(
    std::vector<at::Tensor>& inputs,
    int32_t root,
    int32_t op,
    const stream_list& streams,
    const comm_list& user_comms) {
  reduce(inputs, inputs.at(static_cast<size_t>(root)), root, op, streams, user_comms);
}

void all_reduce(
    const std::vector<at::Tensor>& inputs,
    std::vector<at::Tensor>& outputs,
    int32_t op,
    const stream_list& streams,
    const comm_list& user_comms) {
  detail::check_inputs(inputs, outputs, 1, 1);
  for_devices("ncclAllReduce", inputs, streams, user_comms, [&](const auto& nccl, size_t i, auto comm, auto stream) {
    const NcclElements elements = reducible("all_reduce", inputs[i], op);
    return nccl.all_reduce(
        inputs[i].data_ptr(), outputs[i].data_ptr(), elements.count, elements.type, reduction(op), comm, stream);
  });
}

void reduce_scatter(
    const std::vector<at::Tensor>& inputs,
    std::vector<at::Tensor>& outputs,
    int32_t op,
    const stream_list& streams,
    const comm_list& user_comms) {
  detail::check_inputs(inputs, outputs, inputs.size(), 1);
  for_devices(
      "ncclReduceScatter", inputs, streams, user_comms, [&](const auto& nccl, size_t i, auto comm, auto stream) {
        const NcclElements elements = reducible("reduce_scatter", outputs[i], op);
        return nccl.reduce_scatter(
            inputs[i].data_ptr(), outputs[i].data_ptr(), elements.count, elements.type, reduction(op), comm, stream);
      });
}

void all_gather(
    const std::vector<at::Tensor>& inputs,
    std::vector<at::Tensor>& outputs,
    const stream_list& streams,
    const comm_list& user_comms) {
  detail::check_inputs(inputs, outputs, 1, inputs.size());
  for_devices("ncclAllGather", inputs, streams, user_comms, [&](const auto& nccl, size_t i, auto comm, auto stream) {
    return nccl.all_gather(inputs[i].data_ptr(), outputs[i].data_ptr(), inputs[i].nbytes(), ncclUint8, comm, stream);
  });
}

void send(const at::Tensor& input, ncclComm_t comm, CUDAStream stream, int dst) {
  check_tensor(input);
  send_bytes(input.data_ptr(), input.nbytes(), dst, comm, stream);
}

void recv(at::Tensor& output, ncclComm_t comm, CUDAStream stream, int src) {
  check_tensor(output);
  receive_bytes(output.data_ptr(), output.nbytes(), src, comm, stream);
}

void scatter(
    const std::vector<at::Tensor>& inputs, at::Tensor& outputs, ncclComm_t comm, CUDAStream& stream, int32_t root) {
  const NcclLibrary& nccl = NcclLibrary::get();
  const AutoNcclGroup group;
  if (ranks_of(nccl, comm, true) == root) {
    const int size = ranks_of(nccl, comm, false);
    for (int rank = 0; rank < size; ++rank) {
      send(inputs.at(static_cast<size_t>(rank)), comm, stream, rank);
    }
  }
  recv(outputs, comm, stream, root);
}

void gather(
    const at::Tensor& inputs, std::vector<at::Tensor>& outputs, ncclComm_t comm, CUDAStream& stream, int32_t root) {
  const NcclLibrary& nccl = NcclLibrary::get();
  const AutoNcclGroup group;
  send(inputs, comm, stream, root);
  if (ranks_of(nccl, comm, true) == root) {
    const int size = ranks_of(nccl, comm, false);
    for (int rank = 0; rank < size; ++rank) {
      recv(outputs.at(static_cast<size_t>(rank)), comm, stream, rank);
    }
  }
}

void all2all(
    std::vector<at::Tensor>& outputTensors,
    std::vector<at::Tensor>& inputTensors,
    ncclComm_t comm,
    CUDAStream& stream) {
  TORCH_CHECK_VALUE(
      outputTensors.size() == inputTensors.size(),
      "torch::cuda::nccl::all2all: there must be as many outputs as inputs");
  const AutoNcclGroup group;
  for (size_t rank = 0; rank < inputTensors.size(); ++rank) {
    send(inputTensors[rank], comm, stream, static_cast<int>(rank));
    recv(outputTensors[rank], comm, stream, static_cast<int>(rank));
  }
}

void all2all_single_equal_split(at::Tensor& input, at::Tensor& output, int size, ncclComm_t comm, CUDAStream& stream) {
  check_tensor(input);
  check_tensor(output);
  TORCH_CHECK_VALUE(
      size > 0 && input.nbytes() % static_cast<size_t>(size) == 0 && output.nbytes() == input.nbytes(),
      "torch::cuda::nccl::all2all_single_equal_split: both tensors must have one size, which ", size,
      " ranks divide equally");
  const size_t bytes = input.nbytes() / static_cast<size_t>(size);
  const AutoNcclGroup group;
  for (int rank = 0; rank < size; ++rank) {
    const size_t at = static_cast<size_t>(rank) * bytes;
    send_bytes(static_cast<char*>(input.data_ptr()) + at, bytes, rank, comm, stream);
    receive_bytes(static_cast<char*>(output.data_ptr()) + at, bytes, rank, comm, stream);
  }
}

void all2all_single_unequal_split(
    void* sendbuff,
    const size_t* sendcounts,
    const size_t* senddispls,
    void* recvbuff,
    const size_t* recvcounts,
    const size_t* recvdispls,
    size_t size,
    c10::ScalarType type,
    ncclComm_t comm,
    CUDAStream& stream) {
  const size_t item = c10::elementSize(type);
  const AutoNcclGroup group;
  for (size_t rank = 0; rank < size; ++rank) {
    const int peer = static_cast<int>(rank);
    if (sendcounts[rank] != 0) {
      send_bytes(static_cast<char*>(sendbuff) + senddispls[rank] * item, sendcounts[rank] * item, peer, comm, stream);
    }
    if (recvcounts[rank] != 0) {
      receive_bytes(
          static_cast<char*>(recvbuff) + recvdispls[rank] * item, recvcounts[rank] * item, peer, comm, stream);
    }
  }
}

} // namespace torch::cuda::nccl
