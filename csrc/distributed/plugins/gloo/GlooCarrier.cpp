// libtensor_gloo.so: ProcessGroupGloo's engine between hosts, over the system's Gloo.
//
// Gloo exchanges bytes, the sums are ours: for all dtypes, whatever Gloo knows of them.
#include <csrc/distributed/backends/ProcessGroupGloo.h>
#include <csrc/distributed/backends/QueueBackend.h>
#include <csrc/distributed/backends/backend_registry.h>

#include <c10/util/Exception.h>

#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include <netdb.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace c10d {

namespace {

uint8_t* bytes_of(const at::Tensor& tensor) {
  return static_cast<uint8_t*>(tensor.data_ptr());
}

class RendezvousStore : public ::gloo::rendezvous::Store {
 public:
  explicit RendezvousStore(c10::intrusive_ptr<::c10d::Store> store) : store_(std::move(store)) {}
  void set(const std::string& key, const std::vector<char>& value) override {
    store_->set(key, std::vector<uint8_t>(value.begin(), value.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const auto value = store_->get(key);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    store_->wait(keys);
  }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override {
    store_->wait(keys, timeout);
  }

 private:
  c10::intrusive_ptr<::c10d::Store> store_;
};

// Whether this host's name is one that it can listen at.
bool resolves(const std::string& hostname) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const bool known = ::getaddrinfo(hostname.c_str(), nullptr, &hints, &found) == 0;
  bool usable = false;
  for (const addrinfo* one = found; known && one != nullptr && !usable; one = one->ai_next) {
    const int fd = ::socket(one->ai_family, one->ai_socktype, one->ai_protocol);
    usable = fd >= 0 && ::bind(fd, one->ai_addr, one->ai_addrlen) == 0;
    if (fd >= 0) {
      ::close(fd);
    }
  }
  if (known) {
    ::freeaddrinfo(found);
  }
  return usable;
}

std::shared_ptr<::gloo::transport::Device> make_device(
    const std::vector<std::shared_ptr<::gloo::transport::Device>>& devices) {
  ::gloo::transport::tcp::attr attr;
  if (!devices.empty()) {
    const auto* address = detail::gloo_address(devices[0]);
    if (address == nullptr) {
      return devices[0];
    }
    attr.iface = address->interface;
    attr.hostname = address->hostname;
  }
  if (attr.iface.empty() && attr.hostname.empty()) {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    attr.hostname = resolves(name) ? name : "127.0.0.1";
  }
  return ::gloo::transport::tcp::CreateDevice(attr);
}

// Gloo waits for a message in the thread that asks, and gives up all its connections when that takes too long: so each
// message has a thread.
class GlooMessage : public Carrier::Message {
 public:
  GlooMessage(std::unique_ptr<::gloo::transport::UnboundBuffer> buffer, bool receives)
      : buffer_(std::move(buffer)), receives_(receives), thread_([this] { run(); }) {}
  ~GlooMessage() override {
    receives_ ? buffer_->abortWaitRecv() : buffer_->abortWaitSend();
    thread_.join();
  }
  bool progress(int& source) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(50), [&] { return over_; });
    if (error_) {
      std::rethrow_exception(error_);
    }
    source = peer_;
    return over_;
  }

 private:
  void run() {
    std::exception_ptr error;
    int peer = -1;
    try {
      const auto for_ever = std::chrono::hours(24 * 365);
      const bool complete = receives_ ? buffer_->waitRecv(&peer, for_ever) : buffer_->waitSend(&peer, for_ever);
      if (!complete) {
        return;
      }
    } catch (...) {
      error = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      peer_ = peer;
      error_ = error;
      over_ = true;
    }
    changed_.notify_all();
  }

  std::unique_ptr<::gloo::transport::UnboundBuffer> buffer_;
  const bool receives_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr error_;
  int peer_ = -1;
  bool over_ = false;
  std::thread thread_;
};

class GlooCarrier : public ExchangingCarrier {
 public:
  explicit GlooCarrier(const detail::GlooEngineOptions& options)
      : ExchangingCarrier(options.group_rank, options.group_size) {
    auto context = std::make_shared<::gloo::rendezvous::Context>(rank_, size_);
    context->setTimeout(std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout));
    RendezvousStore store(options.store);
    auto device = make_device(options.devices);
    context->connectFullMesh(store, device);
    context_ = std::move(context);
  }

  void barrier(const Call& call) override {
    ::gloo::BarrierOptions options(context_);
    prepare(options, call);
    ::gloo::barrier(options);
  }

  void broadcast(const Call& call, const at::Tensor& data, int root) override {
    if (data.numel() == 0) {
      return;
    }
    ::gloo::BroadcastOptions options(context_);
    prepare(options, call);
    options.setRoot(root);
    options.setOutput(bytes_of(data), data.nbytes());
    ::gloo::broadcast(options);
  }

  void allgather(const Call& call, const at::Tensor& output, const at::Tensor& input) override {
    if (input.numel() == 0) {
      return;
    }
    ::gloo::AllgatherOptions options(context_);
    prepare(options, call);
    options.setInput(bytes_of(input), input.nbytes());
    options.setOutput(bytes_of(output), output.nbytes());
    ::gloo::allgather(options);
  }

  void allgatherv(
      const Call& call,
      const at::Tensor& output,
      const at::Tensor& input,
      const std::vector<int64_t>& counts) override {
    ::gloo::AllgathervOptions options(context_);
    prepare(options, call);
    std::vector<size_t> bytes;
    for (const int64_t count : counts) {
      bytes.push_back(static_cast<size_t>(count) * output.element_size());
    }
    options.setInput(bytes_of(input), input.nbytes());
    options.setOutput(bytes_of(output), bytes);
    ::gloo::allgatherv(options);
  }

  void gather(const Call& call, const at::Tensor& output, const at::Tensor& input, int root) override {
    if (input.numel() == 0) {
      return;
    }
    ::gloo::GatherOptions options(context_);
    prepare(options, call);
    options.setRoot(root);
    options.setInput(bytes_of(input), input.nbytes());
    if (root == rank_) {
      options.setOutput(bytes_of(output), output.nbytes());
    }
    ::gloo::gather(options);
  }

  void scatter(const Call& call, const at::Tensor& output, const at::Tensor& input, int root) override {
    if (output.numel() == 0) {
      return;
    }
    ::gloo::ScatterOptions options(context_);
    prepare(options, call);
    options.setRoot(root);
    options.setOutput(bytes_of(output), output.nbytes());
    if (root == rank_) {
      std::vector<uint8_t*> rows;
      for (int rank = 0; rank < size_; ++rank) {
        rows.push_back(bytes_of(input) + rank * output.nbytes());
      }
      options.setInputs(rows, output.nbytes());
    }
    ::gloo::scatter(options);
  }

  void alltoall(
      const Call& call,
      const at::Tensor& output,
      const at::Tensor& input,
      const std::vector<int64_t>& output_counts,
      const std::vector<int64_t>& input_counts) override {
    const auto bytes = [](std::vector<int64_t> counts, const at::Tensor& tensor) {
      for (auto& count : counts) {
        count *= static_cast<int64_t>(tensor.element_size());
      }
      return counts;
    };
    ::gloo::AlltoallvOptions options(context_);
    prepare(options, call);
    options.setInput(bytes_of(input), bytes(input_counts, input));
    options.setOutput(bytes_of(output), bytes(output_counts, output));
    ::gloo::alltoallv(options);
  }

  std::unique_ptr<Message> send(const at::Tensor& data, int to, int tag) override {
    auto buffer = context_->createUnboundBuffer(data.data_ptr(), data.nbytes());
    buffer->send(to, static_cast<uint64_t>(tag));
    return std::make_unique<GlooMessage>(std::move(buffer), false);
  }

  std::unique_ptr<Message> receive(const at::Tensor& data, int from, int tag) override {
    auto buffer = context_->createUnboundBuffer(data.data_ptr(), data.nbytes());
    if (from >= 0) {
      buffer->recv(from, static_cast<uint64_t>(tag));
    } else {
      std::vector<int> others;
      for (int rank = 0; rank < size_; ++rank) {
        if (rank != rank_) {
          others.push_back(rank);
        }
      }
      buffer->recv(others, static_cast<uint64_t>(tag));
    }
    return std::make_unique<GlooMessage>(std::move(buffer), true);
  }

 private:
  template <class Options>
  void prepare(Options& options, const Call& call) {
    options.setTag(++tag_); // several exchanges to a call, the same number on all ranks
    options.setTimeout(call.timeout);
  }

  uint32_t tag_ = 0;
  std::shared_ptr<::gloo::Context> context_;
};

c10::intrusive_ptr<Backend> make_gloo(const DistributedBackendOptions& options) {
  const auto& wanted = static_cast<const detail::GlooEngineOptions&>(options);
  std::shared_ptr<Carrier> carrier;
  try {
    carrier = std::make_shared<GlooCarrier>(wanted);
  } catch (const ::gloo::Exception& error) {
    C10_THROW_ERROR(
        DistBackendError,
        c10::str(
            "gloo: rank ", wanted.group_rank, " cannot connect to the other ", wanted.group_size - 1,
            " ranks: ", error.what()));
  }
  auto own = c10::make_intrusive<Backend::Options>(
      GLOO_BACKEND_NAME, std::chrono::duration_cast<std::chrono::milliseconds>(wanted.timeout));
  own->group_name = wanted.group_id;
  return c10::make_intrusive<QueueBackend>(
      std::move(carrier), wanted.store, wanted.group_rank, wanted.group_size, std::move(own));
}

const bool registered = [] {
  detail::register_plugin_backend("gloo", make_gloo);
  return true;
}();

} // namespace

} // namespace c10d
