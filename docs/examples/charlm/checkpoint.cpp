// The file: magic, then little-endian numbers and byte strings in the order of save_checkpoint, then a checksum of all
// that stands before it.
#include "checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <c10/core/GradMode.h>

#include "options.h"

namespace charlm {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

constexpr std::string_view kMagic = "charlm checkpoint 1\n";

uint64_t checksum(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (const unsigned char c : bytes) {
    hash = (hash ^ c) * 0x100000001b3;
  }
  return hash;
}

class Writer {
 public:
  void number(int64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<int64_t>(value.size()));
    bytes_ += value;
  }
  void tensor(const at::Tensor& value) {
    const at::Tensor host = value.detach().to(at::kCPU).contiguous();
    number(host.dim());
    for (const int64_t size : host.sizes()) {
      number(size);
    }
    text({static_cast<const char*>(host.const_data_ptr()), host.nbytes()});
  }
  void raw(std::string_view value) {
    bytes_ += value;
  }
  const std::string& bytes() const {
    return bytes_;
  }

 private:
  std::string bytes_;
};

/// Never reads or allocates more than the file holds, whatever the numbers in it say.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  int64_t number(int64_t least, int64_t most) {
    int64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    if (value < least || value > most) {
      damaged();
    }
    return value;
  }
  std::string_view text() {
    return take(static_cast<size_t>(number(0, static_cast<int64_t>(rest_.size()))));
  }
  at::Tensor tensor(at::ScalarType dtype) {
    std::vector<int64_t> sizes(static_cast<size_t>(number(0, 8)));
    const auto most = static_cast<int64_t>(rest_.size());
    int64_t count = 1;
    for (int64_t& size : sizes) {
      size = number(0, most);
      count = size == 0 || count <= most / size ? count * size : damaged();
    }
    const std::string_view data = text();
    if (data.size() != static_cast<size_t>(count) * c10::elementSize(dtype)) {
      damaged();
    }
    at::Tensor value = at::empty(sizes, dtype);
    if (!data.empty()) {
      std::memcpy(value.mutable_data_ptr(), data.data(), data.size());
    }
    return value;
  }
  void finish() const {
    if (!rest_.empty()) {
      damaged();
    }
  }

 private:
  [[noreturn]] static int64_t damaged() {
    throw UserError("it is damaged");
  }
  std::string_view take(size_t count) {
    if (count > rest_.size()) {
      damaged();
    }
    const std::string_view part = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return part;
  }

  std::string_view rest_;
};

Checkpoint parse(std::string_view bytes) {
  constexpr size_t kChecksum = sizeof(uint64_t);
  const std::string_view start = bytes.substr(0, kMagic.size());
  if (bytes.empty() || start != kMagic.substr(0, start.size())) {
    throw UserError("it is not a checkpoint of charlm");
  }
  uint64_t stored = 0;
  if (bytes.size() >= kMagic.size() + kChecksum) {
    std::memcpy(&stored, bytes.data() + bytes.size() - kChecksum, kChecksum);
    bytes.remove_suffix(kChecksum);
  }
  if (stored != checksum(bytes)) {
    throw UserError("it is cut short or damaged (its checksum does not fit)");
  }
  Reader reader(bytes.substr(kMagic.size()));
  Checkpoint checkpoint;
  checkpoint.config.vocabulary = reader.number(1, 256);
  checkpoint.config.layers = reader.number(1, 64);
  checkpoint.config.width = reader.number(ModelConfig::kHeadWidth, 4096);
  checkpoint.config.context = reader.number(2, 4096);
  checkpoint.symbols = reader.text();
  checkpoint.step = reader.number(0, INT64_MAX);
  checkpoint.generator_state = reader.tensor(at::kByte);
  const int64_t count = reader.number(0, 10000);
  for (int64_t i = 0; i < count; ++i) {
    std::string name(reader.text());
    checkpoint.tensors.emplace_back(std::move(name), reader.tensor(at::kFloat));
  }
  reader.finish();
  const bool sane = checkpoint.config.width % ModelConfig::kHeadWidth == 0 &&
      static_cast<int64_t>(checkpoint.symbols.size()) == checkpoint.config.vocabulary;
  if (!sane) {
    throw UserError("it is damaged");
  }
  return checkpoint;
}

void write_and_sync(const std::string& path, const std::string& bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = file < 0 ? errno : 0;
  for (size_t done = 0; error == 0 && done < bytes.size();) {
    const ssize_t wrote = ::write(file, bytes.data() + done, bytes.size() - done);
    if (wrote >= 0) {
      done += static_cast<size_t>(wrote);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  // A rename may reach the disk before the data does; a power cut would then leave an empty file in the old one's
  // place.
  if (error == 0 && ::fsync(file) != 0) {
    error = errno;
  }
  if (file >= 0 && ::close(file) != 0 && error == 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(path.c_str());
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(error));
  }
}

} // namespace

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  Writer writer;
  writer.raw(kMagic);
  writer.number(checkpoint.config.vocabulary);
  writer.number(checkpoint.config.layers);
  writer.number(checkpoint.config.width);
  writer.number(checkpoint.config.context);
  writer.text(checkpoint.symbols);
  writer.number(checkpoint.step);
  writer.tensor(checkpoint.generator_state);
  writer.number(static_cast<int64_t>(checkpoint.tensors.size()));
  for (const auto& [name, tensor] : checkpoint.tensors) {
    writer.text(name);
    writer.tensor(tensor);
  }
  writer.number(static_cast<int64_t>(checksum(writer.bytes())));

  const std::string temporary = path + ".new";
  write_and_sync(temporary, writer.bytes());
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(error));
  }
}

Checkpoint load_checkpoint(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in || in.bad()) {
    throw UserError("cannot read the checkpoint " + path + ": " + std::strerror(errno ? errno : EIO));
  }
  try {
    return parse(bytes);
  } catch (const UserError& error) {
    throw UserError("cannot use " + path + ": " + error.what() + "; --fresh replaces it");
  }
}

void restore(const NamedTensors& to, const NamedTensors& from) {
  bool fits = to.size() == from.size();
  for (size_t i = 0; fits && i < to.size(); ++i) {
    fits = to[i].first == from[i].first && to[i].second.sizes().equals(from[i].second.sizes());
  }
  if (!fits) {
    throw UserError("the checkpoint's tensors are not those of its model; --fresh replaces it");
  }
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < to.size(); ++i) {
    to[i].second.copy_(from[i].second);
  }
}

} // namespace charlm
