#pragma once

#include <c10/core/impl/InlineDeviceGuard.h>
#include <c10/util/ArrayRef.h>

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace c10::impl {

/// Makes a stream and its device current until it goes out of scope.
template <typename T>
class InlineStreamGuard : private InlineDeviceGuard<T> {
 public:
  explicit InlineStreamGuard(Stream stream)
      : InlineDeviceGuard<T>(stream.device()),
        original_stream_of_original_device_(this->impl_.getStream(original_device())),
        original_stream_of_current_device_(this->impl_.exchangeStream(stream)),
        current_stream_(stream) {}
  /// With a given implementation, for tests.
  template <typename U = T, typename = std::enable_if_t<std::is_same_v<U, VirtualGuardImpl>>>
  explicit InlineStreamGuard(Stream stream, const DeviceGuardImplInterface* impl)
      : InlineDeviceGuard<T>(stream.device(), impl),
        original_stream_of_original_device_(this->impl_.getStream(original_device())),
        original_stream_of_current_device_(this->impl_.exchangeStream(stream)),
        current_stream_(stream) {}
  InlineStreamGuard(const InlineStreamGuard&) = delete;
  InlineStreamGuard& operator=(const InlineStreamGuard&) = delete;
  ~InlineStreamGuard() {
    this->impl_.exchangeStream(original_stream_of_current_device_);
  }

  /// Another stream; the one of the device left behind is restored.
  void reset_stream(Stream stream) {
    if (stream.device() == current_device()) {
      this->impl_.exchangeStream(stream);
    } else {
      this->impl_.exchangeStream(original_stream_of_current_device_);
      this->reset_device(stream.device());
      original_stream_of_current_device_ = this->impl_.exchangeStream(stream);
    }
    current_stream_ = stream;
  }

  /// The stream that was current on the device that was current.
  Stream original_stream() const {
    return original_stream_of_original_device_;
  }
  Stream current_stream() const {
    return current_stream_;
  }
  Device current_device() const {
    return InlineDeviceGuard<T>::current_device();
  }
  Device original_device() const {
    return InlineDeviceGuard<T>::original_device();
  }

 private:
  Stream original_stream_of_original_device_;
  Stream original_stream_of_current_device_;
  Stream current_stream_;
};

/// The same, but does nothing until it is given a stream.
template <typename T>
class InlineOptionalStreamGuard {
 public:
  explicit InlineOptionalStreamGuard() = default;
  explicit InlineOptionalStreamGuard(std::optional<Stream> stream_opt) {
    if (stream_opt) {
      guard_.emplace(*stream_opt);
    }
  }
  template <
      typename... Args,
      typename = std::enable_if_t<std::is_constructible_v<InlineStreamGuard<T>, Args&&...> && sizeof...(Args) != 0>>
  explicit InlineOptionalStreamGuard(Args&&... args) : guard_(std::in_place, std::forward<Args>(args)...) {}
  InlineOptionalStreamGuard(const InlineOptionalStreamGuard&) = delete;
  InlineOptionalStreamGuard& operator=(const InlineOptionalStreamGuard&) = delete;

  void reset_stream(Stream stream) {
    guard_ ? guard_->reset_stream(stream) : static_cast<void>(guard_.emplace(stream));
  }
  std::optional<Stream> original_stream() const {
    return guard_ ? std::make_optional(guard_->original_stream()) : std::nullopt;
  }
  std::optional<Stream> current_stream() const {
    return guard_ ? std::make_optional(guard_->current_stream()) : std::nullopt;
  }
  void reset() {
    guard_.reset();
  }

 private:
  std::optional<InlineStreamGuard<T>> guard_;
};

/// Makes several streams current, each on its device. The current device stays. All must be of one device type.
template <typename T>
class InlineMultiStreamGuard {
 public:
  explicit InlineMultiStreamGuard(ArrayRef<Stream> streams) {
    if (streams.empty()) {
      return;
    }
    for (const Stream& s : streams) {
      TORCH_CHECK_VALUE(
          s.device_type() == streams[0].device_type(), "Streams have a mix of device types: stream 0 is on ",
          streams[0].device(), " while another is on device ", s.device());
    }
    impl_.emplace(streams[0].device_type());
    original_streams_.reserve(streams.size());
    for (const Stream& s : streams) {
      original_streams_.push_back(impl_->exchangeStream(s));
    }
  }
  InlineMultiStreamGuard(const InlineMultiStreamGuard&) = delete;
  InlineMultiStreamGuard& operator=(const InlineMultiStreamGuard&) = delete;
  ~InlineMultiStreamGuard() {
    // Backwards, in case a device occurs twice.
    for (auto s = original_streams_.rbegin(); s != original_streams_.rend(); ++s) {
      impl_->exchangeStream(*s);
    }
  }

 private:
  std::optional<T> impl_;
  std::vector<Stream> original_streams_;
};

} // namespace c10::impl
