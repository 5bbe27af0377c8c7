#pragma once

#include <c10/core/Device.h>
#include <c10/core/DeviceType.h>
#include <c10/macros/Export.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>

namespace c10 {

/// Names a stream of a device; its meaning is the backend's affair. Zero is the default stream.
using StreamId = int64_t;

/// A stream in plain integers.
struct C10_API StreamData3 {
  StreamId stream_id;
  DeviceIndex device_index;
  DeviceType device_type;
};

/// A queue of work on a device, which runs in order. Names the stream only: who made it keeps it alive.
class C10_API Stream final {
 public:
  enum Unsafe { UNSAFE };
  enum Default { DEFAULT };

  /// Any stream; the id must be one of the backend's.
  explicit Stream(Unsafe, Device device, StreamId id) : device_(device), id_(id) {}
  explicit Stream(Default, Device device) : device_(device), id_(0) {}

  bool operator==(const Stream& other) const noexcept {
    return device_ == other.device_ && id_ == other.id_;
  }
  bool operator!=(const Stream& other) const noexcept {
    return !(*this == other);
  }

  Device device() const noexcept {
    return device_;
  }
  DeviceType device_type() const noexcept {
    return device_.type();
  }
  DeviceIndex device_index() const noexcept {
    return device_.index();
  }
  StreamId id() const noexcept {
    return id_;
  }
  /// The backend's own handle. Throws if it has none.
  void* native_handle() const;

  /// Work given to this stream from now on waits for the event.
  template <typename T>
  void wait(const T& event) const {
    event.block(*this);
  }
  /// Whether all work is done.
  bool query() const;
  /// Waits until all work is done.
  void synchronize() const;
  /// Whether work is being captured into a graph rather than run.
  bool is_capturing() const;

  uint64_t hash() const noexcept {
    return static_cast<uint64_t>(device_type()) << 56 |
        static_cast<uint64_t>(static_cast<uint8_t>(device_index())) << 48 |
        (static_cast<uint64_t>(id_) & ((uint64_t{1} << 48) - 1));
  }
  struct StreamData3 pack3() const {
    return {id(), device_index(), device_type()};
  }
  /// Throws if the device type does not exist.
  static Stream unpack3(StreamId stream_id, DeviceIndex device_index, DeviceType device_type);

 private:
  Device device_;
  StreamId id_;
};

C10_API std::ostream& operator<<(std::ostream& stream, const Stream& s);

} // namespace c10

namespace std {
template <>
struct hash<c10::Stream> {
  size_t operator()(c10::Stream s) const noexcept {
    return std::hash<uint64_t>{}(s.hash());
  }
};
} // namespace std
