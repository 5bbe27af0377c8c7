#pragma once

#include <c10/core/Stream.h>
#include <c10/core/impl/InlineStreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/ArrayRef.h>

#include <optional>

namespace c10 {

/// Makes a stream and its device current until it goes out of scope, see InlineStreamGuard.
struct StreamGuard {
  explicit StreamGuard(Stream stream) : guard_(stream) {}

  void reset_stream(Stream stream) {
    guard_.reset_stream(stream);
  }
  Stream original_stream() const {
    return guard_.original_stream();
  }
  Stream current_stream() const {
    return guard_.current_stream();
  }
  Device current_device() const {
    return guard_.current_device();
  }
  Device original_device() const {
    return guard_.original_device();
  }

 private:
  impl::InlineStreamGuard<impl::VirtualGuardImpl> guard_;
};

/// The same, but does nothing until it is given a stream.
struct OptionalStreamGuard {
  explicit OptionalStreamGuard() = default;
  explicit OptionalStreamGuard(Stream stream) : guard_(stream) {}
  explicit OptionalStreamGuard(std::optional<Stream> stream_opt) : guard_(stream_opt) {}

  void reset_stream(Stream stream) {
    guard_.reset_stream(stream);
  }
  std::optional<Stream> original_stream() const {
    return guard_.original_stream();
  }
  std::optional<Stream> current_stream() const {
    return guard_.current_stream();
  }
  void reset() {
    guard_.reset();
  }

 private:
  impl::InlineOptionalStreamGuard<impl::VirtualGuardImpl> guard_;
};

/// Makes several streams current, see InlineMultiStreamGuard.
struct MultiStreamGuard {
  explicit MultiStreamGuard(ArrayRef<Stream> streams) : guard_(streams) {}

 private:
  impl::InlineMultiStreamGuard<impl::VirtualGuardImpl> guard_;
};

} // namespace c10
