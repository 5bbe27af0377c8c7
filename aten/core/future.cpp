#include <aten/core/ivalue.h>
#include <aten/core/jit_type.h>

#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

namespace c10::ivalue {

namespace {

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "Unknown Exception Type";
  }
}

DeviceType common_type(const std::vector<Device>& devices) {
  for (const Device& device : devices) {
    TORCH_CHECK_VALUE(
        device.type() == devices[0].type(), "Expected all devices to be of the same type, but got a mismatch between ",
        devices[0], " and ", device);
    TORCH_CHECK_VALUE(device.has_index(), "Expected devices to have indices, got ", device);
  }
  return devices.empty() ? kCPU : devices[0].type();
}

std::vector<Device> sorted(std::vector<Device> devices) {
  std::sort(devices.begin(), devices.end(), [](Device a, Device b) { return a.index() < b.index(); });
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

std::vector<Future::WeakStorage> storages_inside(const IValue& value) {
  std::vector<Future::WeakStorage> storages;
  value.visit([&](const IValue& inner) {
    if (inner.isTensor() && inner.toTensor().defined() && inner.toTensor().has_storage()) {
      storages.push_back(inner.toTensor().storage().getWeakStorageImpl());
    }
    return false;
  });
  return storages;
}

} // namespace

struct Future::State {
  struct Callback {
    std::function<void(Future&)> function;
    bool uses_future;
  };

  explicit State(std::vector<Device> all) : guard(common_type(all)), devices(sorted(std::move(all))) {}

  // The devices of the storages, each of which must be among those of the future.
  std::vector<Device> devices_of(const std::vector<WeakStorage>& storages) const {
    std::vector<Device> used;
    for (const WeakStorage& weak : storages) {
      const auto storage = weak.lock();
      if (!storage || storage->device().is_cpu()) {
        continue;
      }
      const Device device = storage->device();
      TORCH_CHECK_VALUE(
          std::find(devices.begin(), devices.end(), device) != devices.end(),
          "The result contained tensors residing on device ", device, " which is not among the expected device(s) ",
          c10::Join(", ", devices));
      if (std::find(used.begin(), used.end(), device) == used.end()) {
        used.push_back(device);
      }
    }
    return used;
  }

  mutable std::mutex mutex;
  std::condition_variable finished;
  std::atomic<bool> completed{false};
  IValue value;
  std::exception_ptr error;
  std::vector<Callback> callbacks;
  std::vector<WeakStorage> storages;
  std::vector<Event> events; // one on each device of the value, recorded when it was given
  std::optional<Device> current_device;
  const impl::VirtualGuardImpl guard;
  const std::vector<Device> devices;
};

Future::Future(TypePtr type) : Future(std::move(type), std::vector<Device>()) {}

Future::Future(TypePtr type, std::vector<Device> devices)
    : type_(std::move(type)), state_(new State(std::move(devices))) {}

Future::~Future() {
  // An event is destroyed on its own device, so that no other one is set up for it.
  while (!state_->events.empty()) {
    const OptionalDeviceGuard device(state_->events.back().device());
    state_->events.pop_back();
  }
}

void Future::wait() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->finished.wait(lock, [this] { return completed(); });
  synchronize_with_current_streams();
}

void Future::waitAndThrow() {
  wait();
  if (state_->error) {
    std::rethrow_exception(state_->error);
  }
}

bool Future::try_finish(
    IValue value, const std::exception_ptr& error, std::vector<WeakStorage> storages, const std::vector<Device>& used) {
  std::vector<State::Callback> callbacks;
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (completed()) {
      return false;
    }
    if (!error) {
      state_->current_device = state_->guard.getDevice();
      for (const Device& device : used) {
        Event event(state_->guard.type());
        event.record(state_->guard.getStream(device));
        state_->events.push_back(std::move(event));
      }
      state_->value = std::move(value);
      state_->storages = std::move(storages);
    }
    state_->error = error;
    state_->completed = true;
    callbacks.swap(state_->callbacks);
  }
  state_->finished.notify_all();
  for (const State::Callback& callback : callbacks) {
    run(callback.function, callback.uses_future);
  }
  return true;
}

void Future::markCompleted(IValue value, std::optional<std::vector<WeakStorage>> storages) {
  std::vector<WeakStorage> inside;
  std::vector<Device> used;
  // Without devices nothing is to be waited for.
  if (!state_->devices.empty() && state_->guard.type() != kCPU) {
    try {
      inside = storages ? *std::move(storages) : storages_inside(value);
      used = state_->devices_of(inside);
    } catch (const std::exception&) {
      setError(std::current_exception());
      return;
    }
  }
  TORCH_CHECK(
      try_finish(std::move(value), nullptr, std::move(inside), used),
      "Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed once.");
}

void Future::markCompleted(IValue value) {
  markCompleted(std::move(value), std::nullopt);
}

void Future::markCompleted() {
  markCompleted(IValue());
}

void Future::complete(ValueWithStorages result) {
  markCompleted(std::move(std::get<0>(result)), std::move(std::get<1>(result)));
}

void Future::setError(std::exception_ptr error) {
  TORCH_CHECK(error, "Future::setError: got no exception; give one, such as std::make_exception_ptr(...)");
  if (try_finish(IValue(), error, {}, {})) {
    return;
  }
  // Nothing changes any more once the future is complete.
  TORCH_CHECK(
      !state_->error, "Error already set on this Future: ", text_of(state_->error),
      ", trying to set error: ", text_of(error));
  TORCH_CHECK(false, "Future is already marked completed: it cannot have an error any more: ", text_of(error));
}

void Future::setErrorIfNeeded(std::exception_ptr error) {
  TORCH_CHECK(error, "Future::setErrorIfNeeded: got no exception; give one, such as std::make_exception_ptr(...)");
  if (!try_finish(IValue(), error, {}, {})) {
    LOG(INFO) << "Future::setErrorIfNeeded: the future is complete, so this error is not set: " << text_of(error);
  }
}

IValue Future::value() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  TORCH_CHECK(completed(), "Future::value: the future is not complete; call wait() first");
  if (state_->error) {
    std::rethrow_exception(state_->error);
  }
  return state_->value;
}

const IValue& Future::constValue() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  TORCH_CHECK(completed(), "Future::constValue: the future is not complete; call wait() first");
  TORCH_CHECK(
      !state_->error,
      "Future::constValue: the future must have a value, but it has this error: ", text_of(state_->error));
  return state_->value;
}

const std::vector<Future::WeakStorage>& Future::storages() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  TORCH_CHECK(completed() && !state_->error, "Future::storages: the future must be complete, without an error");
  return state_->storages;
}

void Future::add(std::function<void(Future&)> callback, bool uses_future) {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (!completed()) {
      state_->callbacks.push_back(State::Callback{std::move(callback), uses_future});
      return;
    }
  }
  run(callback, uses_future);
}

intrusive_ptr<Future> Future::then_complete(TypePtr type, std::function<void(Future&, Future&)> complete) {
  intrusive_ptr<Future> child = createInstance(std::move(type));
  add(
      [child, complete = std::move(complete)](Future& parent) {
        try {
          complete(parent, *child);
        } catch (...) {
          child->setError(std::current_exception());
        }
      },
      true);
  return child;
}

void Future::follow(Future& other) {
  other.add(
      [self = intrusive_ptr<Future>::reclaim_copy(this)](Future& done) {
        if (done.hasError()) {
          self->setError(done.exception_ptr());
        } else {
          self->markCompleted(done.value(), done.storages());
        }
      },
      true);
}

void Future::run(const std::function<void(Future&)>& callback, bool uses_future) {
  if (!uses_future || state_->devices.empty()) {
    callback(*this);
    return;
  }
  const OptionalDeviceGuard device(state_->current_device);
  std::vector<Stream> streams;
  for (const Device& each : state_->devices) {
    streams.push_back(state_->guard.getStreamFromGlobalPool(each));
  }
  const MultiStreamGuard current(streams);
  synchronize_with_current_streams();
  callback(*this);
}

void Future::synchronize_with_current_streams() {
  for (const Event& event : state_->events) {
    event.block(state_->guard.getStream(event.device()));
  }
  for (const WeakStorage& weak : state_->storages) {
    const auto storage = weak.lock();
    if (!storage || storage->device().is_cpu()) {
      continue;
    }
    state_->guard.recordDataPtrOnStream(storage->data_ptr(), state_->guard.getStream(storage->device()));
  }
}

bool Future::completed() const {
  return state_->completed;
}

bool Future::hasValue() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return completed() && !state_->error;
}

bool Future::hasError() const {
  return exception_ptr() != nullptr;
}

std::exception_ptr Future::exception_ptr() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->error;
}

std::string Future::tryRetrieveErrorMessage() const {
  const std::exception_ptr error = exception_ptr();
  TORCH_CHECK(error, "No error present on the future.");
  return text_of(error);
}

const std::vector<Device>& Future::devices() const {
  return state_->devices;
}

intrusive_ptr<Future> Future::createInstance(TypePtr type) const {
  return make_intrusive<Future>(std::move(type), state_->devices);
}

} // namespace c10::ivalue

namespace c10 {
namespace {

using Futures = List<intrusive_ptr<ivalue::Future>>;

intrusive_ptr<ivalue::Future> make_sibling_future(const Futures& futures, TypePtr type) {
  return futures.empty() ? make_intrusive<ivalue::Future>(std::move(type))
                         : futures.get(0)->createInstance(std::move(type));
}

} // namespace

intrusive_ptr<ivalue::Future> collectAll(const Futures& futures) {
  struct Progress {
    std::atomic<size_t> left;
    intrusive_ptr<ivalue::Future> all;
  };
  const auto progress = std::make_shared<Progress>();
  progress->left = futures.size();
  progress->all = make_sibling_future(futures, ListType::create(futures.elementType()));
  if (futures.empty()) {
    progress->all->markCompleted(futures);
  }
  for (const intrusive_ptr<ivalue::Future>& future : futures) {
    future->addCallback([progress, futures](ivalue::Future& done) {
      if (done.hasError()) {
        progress->all->setErrorIfNeeded(done.exception_ptr());
      } else if (--progress->left == 0) {
        progress->all->markCompleted(futures);
      }
    });
  }
  return progress->all;
}

intrusive_ptr<ivalue::Future> collectAny(const Futures& futures) {
  struct AnyState {
    std::atomic<bool> won{false};
    intrusive_ptr<ivalue::Future> first;
  };
  const auto state = std::make_shared<AnyState>();
  state->first =
      make_sibling_future(futures, futures.empty() ? TypePtr(NoneType::get()) : futures.get(0)->elementType());
  if (futures.empty()) {
    state->first->markCompleted();
  }
  for (const intrusive_ptr<ivalue::Future>& future : futures) {
    future->addCallback([state](ivalue::Future& done) {
      if (state->won.exchange(true)) {
        return;
      }
      if (done.hasError()) {
        state->first->setError(done.exception_ptr());
      } else {
        state->first->markCompleted(done.constValue(), done.storages());
      }
    });
  }
  return state->first;
}

} // namespace c10
