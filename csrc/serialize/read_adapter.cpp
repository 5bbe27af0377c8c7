#include <csrc/serialize/read_adapter.h>

#include <c10/util/Exception.h>

#include <istream>

namespace caffe2::serialize {

ReadAdapterInterface::~ReadAdapterInterface() = default;

FileAdapter::FileAdapter(const std::string& file_name) : bytes_(torch::serialize::FileBytes::map(file_name)) {}
FileAdapter::~FileAdapter() = default;

size_t FileAdapter::read(uint64_t pos, void* buf, size_t n, const char*) const {
  if (pos >= bytes_.size()) {
    return 0;
  }
  const size_t count = std::min<size_t>(n, bytes_.size() - pos);
  std::memcpy(buf, bytes_.data() + pos, count);
  return count;
}

IStreamAdapter::~IStreamAdapter() = default;

void IStreamAdapter::check(const char* what) const {
  TORCH_CHECK(!istream_->fail(), "istream reader failed: ", what, ": the stream must be open and able to seek");
}

size_t IStreamAdapter::size() const {
  const auto before = istream_->tellg();
  check("getting the current position");
  istream_->seekg(0, std::istream::end);
  check("seeking the end");
  const auto end = istream_->tellg();
  check("getting the position of the end");
  istream_->seekg(before);
  check("seeking back");
  return static_cast<size_t>(end);
}

size_t IStreamAdapter::read(uint64_t pos, void* buf, size_t n, const char* what) const {
  istream_->clear();
  istream_->seekg(static_cast<std::streamoff>(pos));
  check(what);
  istream_->read(static_cast<char*>(buf), static_cast<std::streamsize>(n));
  const auto count = static_cast<size_t>(istream_->gcount());
  if (istream_->eof()) {
    istream_->clear();
  }
  check(what);
  return count;
}

} // namespace caffe2::serialize
