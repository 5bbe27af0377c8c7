// Collectives by MPI.
#include <csrc/distributed/plugins/mpi/MpiCarrier.h>

#include <c10/util/Exception.h>

#include <sched.h>

#include <climits>
#include <cstdlib>
#include <thread>

namespace c10d::detail {

namespace {

// MPI counts in int.
int count_of(int64_t n) {
  TORCH_CHECK(n <= INT_MAX, "mpi: tensors of more than ", INT_MAX, " elements are not supported, but got ", n);
  return static_cast<int>(n);
}

// What MPI reduces by itself; MPI_DATATYPE_NULL for others.
MPI_Datatype reducible_type(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::kByte:
      return MPI_UINT8_T;
    case c10::kChar:
      return MPI_INT8_T;
    case c10::kShort:
      return MPI_INT16_T;
    case c10::kInt:
      return MPI_INT32_T;
    case c10::kLong:
      return MPI_INT64_T;
    case c10::kFloat:
      return MPI_FLOAT;
    case c10::kDouble:
      return MPI_DOUBLE;
    default:
      return MPI_DATATYPE_NULL;
  }
}

MPI_Op op_of(ReduceOp::RedOpType op) {
  switch (op) {
    case ReduceOp::SUM:
      return MPI_SUM;
    case ReduceOp::PRODUCT:
      return MPI_PROD;
    case ReduceOp::MIN:
      return MPI_MIN;
    case ReduceOp::MAX:
      return MPI_MAX;
    case ReduceOp::BAND:
      return MPI_BAND;
    case ReduceOp::BOR:
      return MPI_BOR;
    case ReduceOp::BXOR:
      return MPI_BXOR;
    default:
      return MPI_OP_NULL;
  }
}

// An element as bytes, so that counts stay small.
class ElementType {
 public:
  explicit ElementType(const at::Tensor& tensor) {
    const size_t size = tensor.element_size();
    type_ = size == 1 ? MPI_UINT8_T : size == 2 ? MPI_UINT16_T : size == 4 ? MPI_UINT32_T : MPI_UINT64_T;
    if (size > 8) {
      MpiRuntime::get().call(
          "MPI_Type_contiguous", [&] { return MPI_Type_contiguous(static_cast<int>(size / 8), MPI_UINT64_T, &type_); });
      MpiRuntime::get().call("MPI_Type_commit", [&] { return MPI_Type_commit(&type_); });
      own_ = true;
    }
  }
  ~ElementType() {
    if (own_) {
      MPI_Type_free(&type_);
    }
  }
  ElementType(const ElementType&) = delete;
  ElementType& operator=(const ElementType&) = delete;
  operator MPI_Datatype() const {
    return type_;
  }

 private:
  MPI_Datatype type_;
  bool own_ = false;
};

struct Layout {
  std::vector<int> counts;
  std::vector<int> places;
  explicit Layout(const std::vector<int64_t>& sizes) {
    int64_t at = 0;
    for (const int64_t size : sizes) {
      counts.push_back(count_of(size));
      places.push_back(count_of(at));
      at += size;
    }
  }
};

class MpiMessage : public Carrier::Message {
 public:
  explicit MpiMessage(const std::function<int(MPI_Request*)>& begin) {
    MpiRuntime::get().call("MPI_Isend or MPI_Irecv", [&] { return begin(&request_); });
  }
  ~MpiMessage() override {
    if (request_ != MPI_REQUEST_NULL) {
      MPI_Cancel(&request_);
      MPI_Request_free(&request_);
    }
  }
  bool progress(int& source) override {
    int over = 0;
    MPI_Status status{};
    for (int i = 0; i < 200 && over == 0; ++i) {
      MpiRuntime::get().call("MPI_Test", [&] { return MPI_Test(&request_, &over, &status); });
      if (over == 0) {
        ::sched_yield();
      }
    }
    if (over == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    } else {
      source = status.MPI_SOURCE;
    }
    return over != 0;
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace

MpiRuntime& MpiRuntime::get() {
  static MpiRuntime& runtime = *new MpiRuntime();
  return runtime;
}

MpiRuntime::MpiRuntime() {
  int begun = 0;
  MPI_Initialized(&begun);
  int level = MPI_THREAD_SINGLE;
  if (begun == 0) {
    const int result = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    if (result != MPI_SUCCESS) {
      C10_THROW_ERROR(DistBackendError, "mpi: MPI_Init_thread failed. Was the program started by mpirun or srun?");
    }
    std::atexit([] {
      int ended = 0;
      MPI_Finalized(&ended);
      if (ended == 0) {
        MPI_Finalize();
      }
    });
  } else {
    MPI_Query_thread(&level);
  }
  if (level < MPI_THREAD_SERIALIZED) {
    C10_THROW_ERROR(
        DistBackendError,
        "mpi: Used MPI implementation doesn't have the minimum level of threading support: MPI_THREAD_SERIALIZED. "
        "Programs that call MPI_Init themselves need MPI_Init_thread with that level, or MPI_THREAD_MULTIPLE");
  }
  one_at_a_time_ = level != MPI_THREAD_MULTIPLE;
}

void MpiRuntime::call(const char* name, const std::function<int()>& f) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (one_at_a_time_) {
    lock.lock();
  }
  const int result = f();
  if (result != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int size = 0;
    MPI_Error_string(result, text, &size);
    C10_THROW_ERROR(DistBackendError, c10::str("mpi: ", name, " failed: ", text));
  }
}

MpiCarrier::MpiCarrier(int rank, int size, MPI_Comm comm) : ExchangingCarrier(rank, size), comm_(comm) {
  MpiRuntime::get().call("MPI_Comm_set_errhandler", [&] { return MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN); });
}

void MpiCarrier::run(
    const Call& call,
    const char* name,
    const std::vector<at::Tensor>& tensors,
    const std::function<int(MPI_Request*)>& begin) {
  MpiRuntime& mpi = MpiRuntime::get();
  MPI_Request request = MPI_REQUEST_NULL;
  mpi.call(name, [&] { return begin(&request); });
  const auto deadline = std::chrono::steady_clock::now() + call.timeout;
  constexpr int yields = 2000;
  for (int i = 0;; ++i) {
    int over = 0;
    mpi.call(name, [&] { return MPI_Test(&request, &over, MPI_STATUS_IGNORE); });
    if (over != 0) {
      return;
    }
    if (i < yields) {
      ::sched_yield();
      continue;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    const bool late = std::chrono::steady_clock::now() >= deadline;
    if (late || aborted_) {
      // The operation cannot be taken back: its memory stays where MPI may still write to it.
      new std::vector<at::Tensor>(tensors);
    }
    if (aborted_) {
      C10_THROW_ERROR(DistBackendError, "the group was aborted");
    }
    if (late) {
      C10_THROW_ERROR(DistBackendError, c10::str("timed out after ", call.timeout.count(), " ms"));
    }
  }
}

void MpiCarrier::barrier(const Call& call) {
  run(call, "MPI_Ibarrier", {}, [&](MPI_Request* request) { return MPI_Ibarrier(comm_, request); });
}

void MpiCarrier::broadcast(const Call& call, const at::Tensor& data, int root) {
  const ElementType type(data);
  run(call, "MPI_Ibcast", {data}, [&](MPI_Request* request) {
    return MPI_Ibcast(data.data_ptr(), count_of(data.numel()), type, root, comm_, request);
  });
}

void MpiCarrier::allreduce(const Call& call, const at::Tensor& data, ReduceOp::RedOpType op) {
  const MPI_Datatype type = reducible_type(data.scalar_type());
  if (type == MPI_DATATYPE_NULL) {
    ExchangingCarrier::allreduce(call, data, op);
    return;
  }
  run(call, "MPI_Iallreduce", {data}, [&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, data.data_ptr(), count_of(data.numel()), type, op_of(op), comm_, request);
  });
}

void MpiCarrier::reduce(const Call& call, const at::Tensor& data, int root, ReduceOp::RedOpType op) {
  const MPI_Datatype type = reducible_type(data.scalar_type());
  if (type == MPI_DATATYPE_NULL) {
    ExchangingCarrier::reduce(call, data, root, op);
    return;
  }
  run(call, "MPI_Ireduce", {data}, [&](MPI_Request* request) {
    return MPI_Ireduce(
        root == rank_ ? MPI_IN_PLACE : data.data_ptr(), data.data_ptr(), count_of(data.numel()), type, op_of(op), root,
        comm_, request);
  });
}

void MpiCarrier::allgather(const Call& call, const at::Tensor& output, const at::Tensor& input) {
  const ElementType type(input);
  const int n = count_of(input.numel());
  run(call, "MPI_Iallgather", {output, input}, [&](MPI_Request* request) {
    return MPI_Iallgather(input.data_ptr(), n, type, output.data_ptr(), n, type, comm_, request);
  });
}

void MpiCarrier::allgatherv(
    const Call& call, const at::Tensor& output, const at::Tensor& input, const std::vector<int64_t>& counts) {
  const ElementType type(input);
  const Layout layout(counts);
  run(call, "MPI_Iallgatherv", {output, input}, [&](MPI_Request* request) {
    return MPI_Iallgatherv(
        input.data_ptr(), count_of(input.numel()), type, output.data_ptr(), layout.counts.data(), layout.places.data(),
        type, comm_, request);
  });
}

void MpiCarrier::gather(const Call& call, const at::Tensor& output, const at::Tensor& input, int root) {
  const ElementType type(input);
  const int n = count_of(input.numel());
  run(call, "MPI_Igather", {output, input}, [&](MPI_Request* request) {
    return MPI_Igather(
        input.data_ptr(), n, type, root == rank_ ? output.data_ptr() : nullptr, n, type, root, comm_, request);
  });
}

void MpiCarrier::scatter(const Call& call, const at::Tensor& output, const at::Tensor& input, int root) {
  const ElementType type(output);
  const int n = count_of(output.numel());
  run(call, "MPI_Iscatter", {output, input}, [&](MPI_Request* request) {
    return MPI_Iscatter(
        root == rank_ ? input.data_ptr() : nullptr, n, type, output.data_ptr(), n, type, root, comm_, request);
  });
}

void MpiCarrier::alltoall(
    const Call& call,
    const at::Tensor& output,
    const at::Tensor& input,
    const std::vector<int64_t>& output_counts,
    const std::vector<int64_t>& input_counts) {
  const ElementType type(input);
  const Layout out(output_counts);
  const Layout in(input_counts);
  run(call, "MPI_Ialltoallv", {output, input}, [&](MPI_Request* request) {
    return MPI_Ialltoallv(
        input.data_ptr(), in.counts.data(), in.places.data(), type, output.data_ptr(), out.counts.data(),
        out.places.data(), type, comm_, request);
  });
}

std::unique_ptr<Carrier::Message> MpiCarrier::send(const at::Tensor& data, int to, int tag) {
  const ElementType type(data);
  return std::make_unique<MpiMessage>([&](MPI_Request* request) {
    return MPI_Isend(data.data_ptr(), count_of(data.numel()), type, to, tag, comm_, request);
  });
}

std::unique_ptr<Carrier::Message> MpiCarrier::receive(const at::Tensor& data, int from, int tag) {
  const ElementType type(data);
  return std::make_unique<MpiMessage>([&](MPI_Request* request) {
    return MPI_Irecv(
        data.data_ptr(), count_of(data.numel()), type, from < 0 ? MPI_ANY_SOURCE : from, tag, comm_, request);
  });
}

} // namespace c10d::detail
