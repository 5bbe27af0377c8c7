// A communicator of NCCL and the stream on which its operations run.
#include <csrc/distributed/plugins/nccl/NcclCommunicator.h>

#include <c10/cuda/CUDAGuard.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Exception.h>
#include <c10/util/Half.h>
#include <csrc/distributed/hooks/NCCLCommRegistrationHook.h>

#include <condition_variable>
#include <cstring>
#include <memory>
#include <thread>

namespace c10d::detail {

namespace {

// ncclNumTypes: none.
ncclDataType_t data_type(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::kFloat:
    case c10::kComplexFloat:
      return ncclFloat32;
    case c10::kDouble:
    case c10::kComplexDouble:
      return ncclFloat64;
    case c10::kHalf:
    case c10::kComplexHalf:
      return ncclFloat16;
    case c10::kBFloat16:
      return ncclBfloat16;
    case c10::kChar:
      return ncclInt8;
    case c10::kByte:
    case c10::kBool:
      return ncclUint8;
    case c10::kInt:
      return ncclInt32;
    case c10::kLong:
      return ncclInt64;
    default:
      return ncclNumTypes;
  }
}

bool is_sum(ReduceOp::RedOpType op) {
  return op == ReduceOp::SUM || op == ReduceOp::AVG || op == ReduceOp::PREMUL_SUM;
}

// A sum of truth values is their maximum.
ncclRedOp_t reduction_of(const char* what, ReduceOp::RedOpType op, c10::ScalarType dtype) {
  const bool truth = dtype == c10::kBool;
  TORCH_CHECK_VALUE(
      !truth || (op != ReduceOp::AVG && op != ReduceOp::PREMUL_SUM), "Cannot use ReduceOp.AVG with boolean inputs, in ",
      what);
  switch (op) {
    case ReduceOp::SUM:
      return truth ? ncclMax : ncclSum;
    case ReduceOp::AVG:
      return ncclAvg;
    case ReduceOp::PRODUCT:
      return truth ? ncclMin : ncclProd;
    case ReduceOp::MIN:
      return ncclMin;
    case ReduceOp::MAX:
      return ncclMax;
    case ReduceOp::PREMUL_SUM:
      return ncclSum; // with a factor
    default:
      break;
  }
  static constexpr const char* names[] = {"BAND", "BOR", "BXOR"};
  const char* name = op >= ReduceOp::BAND && op <= ReduceOp::BXOR ? names[op - ReduceOp::BAND] : "UNUSED";
  TORCH_CHECK_VALUE(
      false, "Cannot use ReduceOp.", name, " with NCCL, in ", what,
      "; there are SUM, AVG, PRODUCT, MIN, MAX and PREMUL_SUM");
}

// The bytes of a factor in the dtype of the tensors.
void write_factor(double factor, ncclDataType_t type, char* to) {
  const auto write = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  switch (type) {
    case ncclFloat32:
      return write(static_cast<float>(factor));
    case ncclFloat64:
      return write(factor);
    case ncclFloat16:
      return write(c10::Half(static_cast<float>(factor)));
    case ncclBfloat16:
      return write(c10::BFloat16(static_cast<float>(factor)));
    default:
      TORCH_CHECK_VALUE(false, "PreMulSum Data type must be half, bfloat16, float or double");
  }
}

// The call that waits for the other ranks, in a thread that is left behind when they do not come.
struct Joining {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  bool abandoned = false;
  ncclResult_t result = ncclSuccess;
  ncclComm_t comm = nullptr;

  void run(const NcclLibrary& nccl, const ncclUniqueId& id, const NcclCommunicator::Place& place) {
    const c10::cuda::CUDAGuard guard(place.device);
    ncclComm_t made = nullptr;
    const ncclResult_t got = nccl.comm_init_rank(&made, place.size, id, place.rank);
    const std::lock_guard lock(mutex);
    if (abandoned && got == ncclSuccess) {
      nccl.comm_abort(made);
      return;
    }
    result = got;
    comm = made;
    done = true;
    changed.notify_all();
  }
  ncclResult_t wait(const std::function<void()>& look) {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, std::chrono::milliseconds(20), [this] { return done; })) {
      lock.unlock();
      try {
        look();
      } catch (...) {
        lock.lock();
        abandoned = !done;
        throw;
      }
      lock.lock();
    }
    return result;
  }
};

ncclUniqueId meet(const NcclLibrary& nccl, Store& store, const std::string& key, int rank) {
  ncclUniqueId id;
  if (rank == 0) {
    nccl.check(nccl.get_unique_id(&id), "ncclGetUniqueId");
    store.set(key, std::vector<uint8_t>(id.internal, id.internal + sizeof id.internal));
    return id;
  }
  const auto bytes = store.get(key);
  TORCH_CHECK_VALUE(bytes.size() == sizeof id.internal, "nccl: the store has no unique id of NCCL under ", key);
  std::memcpy(id.internal, bytes.data(), bytes.size());
  return id;
}

} // namespace

NcclElements reducible_elements(const char* what, const at::Tensor& tensor, const ReduceOp& op) {
  const auto dtype = tensor.scalar_type();
  const ncclDataType_t type = data_type(dtype);
  TORCH_CHECK_VALUE(
      type != ncclNumTypes && (!c10::isComplexType(dtype) || is_sum(op)), what, ": NCCL does not reduce dtype ", dtype,
      "; it has floating point numbers, int8, uint8, int32, int64, bool, and sums of complex numbers");
  return {type, static_cast<size_t>(tensor.numel()) * (c10::isComplexType(dtype) ? 2 : 1)};
}

NcclElements moved_elements(const at::Tensor& tensor) {
  return {ncclUint8, static_cast<size_t>(tensor.nbytes())};
}

NcclCommunicator::NcclCommunicator(Store& store, const Place& place, const std::function<void()>& look)
    : group_(place.group),
      device_(place.device),
      stream_(c10::cuda::getStreamFromPool(place.high_priority, place.device)) {
  const NcclLibrary& nccl = NcclLibrary::get();
  const c10::cuda::CUDAGuard guard(device_);
  const ncclUniqueId id = meet(nccl, store, place.key, place.rank);
  const auto joining = std::make_shared<Joining>();
  std::thread([joining, &nccl, id, place] { joining->run(nccl, id, place); }).detach();
  nccl.check(joining->wait(look), "ncclCommInitRank");
  comm_ = joining->comm;
  publishNCCLComm(group_, comm_, c10::Device(c10::kCUDA, device_));
}

NcclCommunicator::~NcclCommunicator() {
  if (comm_ != nullptr) {
    NcclLibrary::get().comm_destroy(retire());
  }
}

ncclComm_t NcclCommunicator::retire() {
  retireNCCLComm(group_, comm_, c10::Device(c10::kCUDA, device_));
  return std::exchange(comm_, nullptr);
}

std::string NcclCommunicator::async_error() const {
  const std::lock_guard lock(mutex_);
  if (comm_ == nullptr) {
    return "";
  }
  const NcclLibrary& nccl = NcclLibrary::get();
  ncclResult_t error = ncclSuccess;
  const ncclResult_t asked = nccl.comm_get_async_error(comm_, &error);
  error = asked == ncclSuccess ? error : asked;
  return error == ncclSuccess || error == ncclInProgress ? "" : "NCCL reports: " + nccl.describe(error, comm_);
}

void NcclCommunicator::abort() {
  const std::lock_guard lock(mutex_);
  if (comm_ != nullptr) {
    NcclLibrary::get().comm_abort(retire());
  }
}

NcclCommunicator::Reduction::Reduction(
    const NcclCommunicator& of, const char* what, const ReduceOp& op, const at::Tensor& tensor)
    : op_(reduction_of(what, op, tensor.scalar_type())) {
  if (op != ReduceOp::PREMUL_SUM) {
    return;
  }
  const auto* factor = dynamic_cast<const PreMulSumSupplement*>(op.supplement_.get());
  TORCH_CHECK_VALUE(factor != nullptr, what, ": PREMUL_SUM needs a factor; use makePreMulSum");
  const ncclDataType_t type = reducible_elements(what, tensor, op).type;
  char bytes[sizeof(double)];
  void* scalar = bytes;
  const bool on_device = factor->tensor_factor.defined();
  if (on_device) {
    TORCH_CHECK_VALUE(
        factor->tensor_factor.device() == tensor.device() &&
            factor->tensor_factor.scalar_type() == tensor.scalar_type(),
        what, ": the factor of PREMUL_SUM must have dtype and device of the tensor, but has ",
        factor->tensor_factor.scalar_type(), " on ", factor->tensor_factor.device());
    scalar = factor->tensor_factor.data_ptr();
  } else {
    write_factor(factor->double_factor, type, bytes);
  }
  const NcclLibrary& nccl = NcclLibrary::get();
  nccl.check(
      nccl.red_op_create_pre_mul_sum(
          &op_, scalar, type, on_device ? ncclScalarDevice : ncclScalarHostImmediate, of.get()),
      "ncclRedOpCreatePreMulSum", of.get());
  made_for_ = of.get();
}

NcclCommunicator::Reduction::~Reduction() {
  if (made_for_ != nullptr) {
    NcclLibrary::get().red_op_destroy(op_, made_for_);
  }
}

} // namespace c10d::detail
