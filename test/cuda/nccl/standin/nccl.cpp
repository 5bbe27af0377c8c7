// A stand-in for libnccl.so.2: its functions over memory that the processes of one host share, on streams of whatever
// runtime the program has (cudaLaunchHostFunc). It waits where NCCL waits: a message ends when it has been received,
// calls of a group go on together, and calls of one communicator come one after the other.
//
// STANDIN_NCCL_FAIL=ncclAllReduce lets that call fail, STANDIN_NCCL_ASYNC_ERROR=1 lets communicators report an error.
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <nccl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kMostRanks = 8;
constexpr size_t kSlot = 64 << 10; // what goes at once

struct Mailbox {
  std::atomic<uint32_t> full;
  uint64_t size;
  char bytes[kSlot];
};

struct SharedMemory {
  std::atomic<uint32_t> joined;
  std::atomic<uint32_t> rounds[kMostRanks];
  char slots[kMostRanks][kSlot];
  Mailbox mail[kMostRanks][kMostRanks]; // from, to
};

} // namespace

struct ncclComm {
  int rank;
  int size;
  SharedMemory* memory;
  std::atomic<bool> aborted{false};
  uint32_t round = 0;
  std::mutex factors_mutex;
  std::map<int, double> factors; // of reductions that were made
  int next_factor = ncclNumOps;

  // False once the communicator has been aborted.
  template <class Done>
  bool wait(Done done) const {
    while (!done()) {
      if (aborted) {
        return false;
      }
      ::sched_yield();
    }
    return !aborted;
  }
  bool barrier() {
    const uint32_t mine = ++round;
    memory->rounds[rank] = mine;
    return wait([&] {
      return std::all_of(memory->rounds, memory->rounds + size, [&](const auto& other) {
        return static_cast<int32_t>(other.load() - mine) >= 0;
      });
    });
  }
};

namespace {

size_t size_of(ncclDataType_t type) {
  static constexpr size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return sizes[type];
}

template <class T>
void combine(char* to, const char* from, size_t bytes, ncclRedOp_t op) {
  for (size_t at = 0; at < bytes; at += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, to + at, sizeof a);
    std::memcpy(&b, from + at, sizeof b);
    a = op == ncclProd ? T(a * b) : op == ncclMax ? std::max(a, b) : op == ncclMin ? std::min(a, b) : T(a + b);
    std::memcpy(to + at, &a, sizeof a);
  }
}

template <class T>
void scale(char* data, size_t bytes, double factor) {
  for (size_t at = 0; at < bytes; at += sizeof(T)) {
    T a;
    std::memcpy(&a, data + at, sizeof a);
    a = static_cast<T>(static_cast<double>(a) * factor);
    std::memcpy(data + at, &a, sizeof a);
  }
}

template <class F>
void with_type(ncclDataType_t type, F f) {
  switch (type) {
    case ncclInt8:
      return f(int8_t());
    case ncclUint8:
      return f(uint8_t());
    case ncclInt32:
      return f(int32_t());
    case ncclInt64:
      return f(int64_t());
    case ncclFloat16:
      return f(c10::Half());
    case ncclBfloat16:
      return f(c10::BFloat16());
    case ncclFloat32:
      return f(float());
    case ncclFloat64:
      return f(double());
    default:
      std::abort();
  }
}

struct Reduction {
  ncclDataType_t type;
  ncclRedOp_t op;
};

// The reduction of the slots' first bytes, in the order of the ranks.
void reduce_slots(ncclComm& comm, char* to, size_t bytes, const Reduction& reduction) {
  double factor = 1;
  if (reduction.op >= ncclNumOps) {
    const std::lock_guard lock(comm.factors_mutex);
    factor = comm.factors[reduction.op];
  }
  with_type(reduction.type, [&](auto zero) {
    using T = decltype(zero);
    std::vector<char> one(bytes);
    for (int rank = 0; rank < comm.size; ++rank) {
      std::memcpy(one.data(), comm.memory->slots[rank], bytes);
      if (factor != 1) {
        scale<T>(one.data(), bytes, factor);
      }
      rank == 0 ? static_cast<void>(std::memcpy(to, one.data(), bytes))
                : combine<T>(to, one.data(), bytes, reduction.op);
    }
    if (reduction.op == ncclAvg) {
      scale<T>(to, bytes, 1.0 / comm.size);
    }
  });
}

// Rounds: each rank puts a piece into its slot, and `take` reads all.
void exchange(ncclComm& comm, const char* from, size_t bytes, const std::function<void(size_t at, size_t n)>& take) {
  for (size_t at = 0; at < bytes; at += kSlot) {
    const size_t n = std::min(kSlot, bytes - at);
    std::memcpy(comm.memory->slots[comm.rank], from + at, n);
    if (!comm.barrier()) {
      return;
    }
    take(at, n);
    if (!comm.barrier()) {
      return;
    }
  }
}

// A message under way; progress() is called until it is over.
struct Message {
  bool sends;
  char* data;
  size_t bytes;
  int peer;
  size_t at = 0;
  bool in_mail = false;

  bool progress(ncclComm& comm) {
    Mailbox& mail = sends ? comm.memory->mail[comm.rank][peer] : comm.memory->mail[peer][comm.rank];
    if (sends && in_mail) { // a piece that has been put there, until it is taken
      in_mail = mail.full != 0;
      return !in_mail && at == bytes;
    }
    if (sends && mail.full == 0) {
      mail.size = std::min(kSlot, bytes - at);
      std::memcpy(mail.bytes, data + at, mail.size);
      at += mail.size;
      in_mail = true;
      mail.full = 1;
    } else if (!sends && mail.full != 0) {
      std::memcpy(data + at, mail.bytes, std::min<size_t>(mail.size, bytes - at));
      at += mail.size;
      mail.full = 0;
      return at >= bytes;
    }
    return false;
  }
};

// All messages of a group go on together; those with one peer in one direction in their order.
void run_messages(ncclComm& comm, std::vector<Message> messages) {
  comm.wait([&] {
    std::map<std::pair<bool, int>, bool> busy;
    for (auto message = messages.begin(); message != messages.end();) {
      bool& ahead = busy[{message->sends, message->peer}];
      const bool over = !ahead && message->progress(comm);
      ahead = ahead || !over;
      message = over ? messages.erase(message) : message + 1;
    }
    return messages.empty();
  });
}

struct Group {
  int depth = 0;
  struct Of {
    ncclComm_t comm;
    cudaStream_t stream;
    std::vector<std::function<void(ncclComm&)>> collectives;
    std::vector<Message> messages;
  };
  std::vector<Of> calls;
};
thread_local Group group;

void run_on(cudaStream_t stream, std::function<void()> task) {
  cudaLaunchHostFunc(
      stream,
      [](void* argument) {
        const std::unique_ptr<std::function<void()>> task(static_cast<std::function<void()>*>(argument));
        (*task)();
      },
      new std::function<void()>(std::move(task)));
}

Group::Of& calls_of(ncclComm_t comm, cudaStream_t stream) {
  for (auto& of : group.calls) {
    if (of.comm == comm && of.stream == stream) {
      return of;
    }
  }
  group.calls.push_back({comm, stream, {}, {}});
  return group.calls.back();
}

void flush() {
  for (auto& of : std::exchange(group.calls, {})) {
    run_on(of.stream, [of = std::move(of)] {
      for (const auto& collective : of.collectives) {
        collective(*of.comm);
      }
      run_messages(*of.comm, of.messages);
    });
  }
}

ncclResult_t refused(const char* call) {
  const char* wanted = std::getenv("STANDIN_NCCL_FAIL");
  return wanted != nullptr && std::string(wanted) == call ? ncclSystemError : ncclSuccess;
}

ncclResult_t collective(const char* call, ncclComm_t comm, cudaStream_t stream, std::function<void(ncclComm&)> body) {
  const ncclResult_t result = refused(call);
  if (result == ncclSuccess) {
    calls_of(comm, stream).collectives.push_back(std::move(body));
    if (group.depth == 0) {
      flush();
    }
  }
  return result;
}

ncclResult_t message(const char* call, ncclComm_t comm, cudaStream_t stream, const Message& one) {
  const ncclResult_t result = refused(call);
  if (result == ncclSuccess) {
    calls_of(comm, stream).messages.push_back(one);
    if (group.depth == 0) {
      flush();
    }
  }
  return result;
}

} // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSystemError ? "unhandled system error"
      : result == ncclRemoteError  ? "remote process exited"
                                   : "?";
}
const char* ncclGetLastError(ncclComm_t) {
  return "the stand-in was told to";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const int fd = ::memfd_create("standin_nccl", 0);
  if (fd < 0 || ::ftruncate(fd, sizeof(SharedMemory)) != 0) {
    return ncclSystemError;
  }
  std::memset(id->internal, 0, sizeof id->internal);
  const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd);
  path.copy(id->internal, sizeof id->internal - 1);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* made, int size, ncclUniqueId id, int rank) {
  if (const ncclResult_t result = refused("ncclCommInitRank"); result != ncclSuccess) {
    return result;
  }
  const int fd = ::open(id.internal, O_RDWR);
  void* memory = fd < 0 ? MAP_FAILED : ::mmap(nullptr, sizeof(SharedMemory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED || size > kMostRanks) {
    return ncclSystemError;
  }
  ::close(fd);
  auto* comm = new ncclComm();
  comm->rank = rank;
  comm->size = size;
  comm->memory = static_cast<SharedMemory*>(memory);
  ++comm->memory->joined;
  comm->wait([&] { return comm->memory->joined == static_cast<uint32_t>(size); });
  *made = comm;
  return ncclSuccess;
}
// Of one process: all ranks are there when it returns.
ncclResult_t ncclCommInitAll(ncclComm_t* made, int size, const int*) {
  ncclUniqueId id;
  if (const ncclResult_t result = ncclGetUniqueId(&id); result != ncclSuccess) {
    return result;
  }
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] { ncclCommInitRank(&made[rank], size, id, rank); });
  }
  for (auto& rank : ranks) {
    rank.join();
  }
  return ncclSuccess;
}
ncclResult_t ncclCommCount(ncclComm_t comm, int* size) {
  *size = comm->size;
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  *rank = comm->rank;
  return ncclSuccess;
}
// Communicators are never freed: what is in a stream may still look at them.
ncclResult_t ncclCommDestroy(ncclComm_t) {
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  comm->aborted = true;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = std::getenv("STANDIN_NCCL_ASYNC_ERROR") != nullptr ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (--group.depth == 0) {
    flush();
  }
  return ncclSuccess;
}

ncclResult_t ncclRedOpCreatePreMulSum(
    ncclRedOp_t* op, void* scalar, ncclDataType_t type, ncclScalarResidence_t, ncclComm_t comm) {
  const std::lock_guard lock(comm->factors_mutex);
  with_type(type, [&](auto zero) {
    std::memcpy(&zero, scalar, sizeof zero);
    comm->factors[comm->next_factor] = static_cast<double>(zero);
  });
  *op = static_cast<ncclRedOp_t>(comm->next_factor++);
  return ncclSuccess;
}
ncclResult_t ncclRedOpDestroy(ncclRedOp_t, ncclComm_t) {
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(
    const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t s) {
  return collective("ncclAllReduce", comm, s, [=](ncclComm& c) {
    exchange(c, static_cast<const char*>(from), count * size_of(type), [&](size_t at, size_t n) {
      reduce_slots(c, static_cast<char*>(to) + at, n, {type, op});
    });
  });
}
ncclResult_t ncclReduce(
    const void* from,
    void* to,
    size_t count,
    ncclDataType_t type,
    ncclRedOp_t op,
    int root,
    ncclComm_t comm,
    cudaStream_t s) {
  return collective("ncclReduce", comm, s, [=](ncclComm& c) {
    exchange(c, static_cast<const char*>(from), count * size_of(type), [&](size_t at, size_t n) {
      if (c.rank == root) {
        reduce_slots(c, static_cast<char*>(to) + at, n, {type, op});
      }
    });
  });
}
ncclResult_t ncclBroadcast(
    const void* from, void* to, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t s) {
  return collective("ncclBroadcast", comm, s, [=](ncclComm& c) {
    exchange(c, static_cast<const char*>(c.rank == root ? from : to), count * size_of(type), [&](size_t at, size_t n) {
      std::memcpy(static_cast<char*>(to) + at, c.memory->slots[root], n);
    });
  });
}
ncclResult_t ncclAllGather(
    const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t comm, cudaStream_t s) {
  const size_t bytes = count * size_of(type);
  return collective("ncclAllGather", comm, s, [=](ncclComm& c) {
    exchange(c, static_cast<const char*>(from), bytes, [&](size_t at, size_t n) {
      for (int rank = 0; rank < c.size; ++rank) {
        std::memcpy(static_cast<char*>(to) + rank * bytes + at, c.memory->slots[rank], n);
      }
    });
  });
}
ncclResult_t ncclReduceScatter(
    const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t s) {
  const size_t bytes = count * size_of(type);
  return collective("ncclReduceScatter", comm, s, [=](ncclComm& c) {
    for (int rank = 0; rank < c.size; ++rank) {
      exchange(c, static_cast<const char*>(from) + rank * bytes, bytes, [&](size_t at, size_t n) {
        if (c.rank == rank) {
          reduce_slots(c, static_cast<char*>(to) + at, n, {type, op});
        }
      });
    }
  });
}
ncclResult_t ncclSend(
    const void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  auto* bytes = static_cast<char*>(const_cast<void*>(data)); // NOLINT: it is read alone
  return message("ncclSend", comm, stream, {true, bytes, count * size_of(type), peer});
}
ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return message("ncclRecv", comm, stream, {false, static_cast<char*>(data), count * size_of(type), peer});
}

} // extern "C"
