#include <csrc/data/datasets/mnist.h>

#include <aten/ops/empty.h>
#include <csrc/data/datasets/byte_images.h>
#include <csrc/serialize/file_bytes.h>

#include <cstdint>

namespace torch::data::datasets {

namespace {

using serialize::FileBytes;

// The format: a magic number, whose last byte is the number of dimensions and the one before it the type (8: bytes),
// the sizes, then the data. Numbers are of 32 bits, the highest byte first.
constexpr uint32_t kImageMagic = 0x803;
constexpr uint32_t kLabelMagic = 0x801;

uint32_t number_at(const FileBytes& file, size_t offset) {
  const uint8_t* p = file.data() + offset;
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

/// What the first bytes look like, for the message.
const char* guess(uint32_t magic) {
  if (magic == kLabelMagic) {
    return " (these are labels)";
  }
  if (magic == kImageMagic) {
    return " (these are images)";
  }
  return magic >> 16 == 0x1f8b ? " (the file is compressed: unpack it with gunzip)" : "";
}

/// A file of this magic number as a tensor of bytes, which keeps it mapped.
Tensor map_idx(const std::string& path, uint32_t magic) {
  const FileBytes file = FileBytes::map(path);
  const size_t dims = magic & 0xff;
  const size_t header = 4 * (1 + dims);
  const uint32_t found = file.size() >= 4 ? number_at(file, 0) : magic;
  TORCH_CHECK(
      found == magic, "MNIST: ", path, " begins with the number ", found, guess(found), "; a file of ",
      dims == 1 ? "labels" : "images", " begins with ", magic);
  TORCH_CHECK(file.size() >= header, "MNIST: ", path, " has ", file.size(), " bytes, not even a header of ", header);
  std::vector<int64_t> sizes;
  uint64_t bytes = 1;
  bool fits = true;
  for (size_t dim = 0; dim < dims; ++dim) {
    const uint32_t size = number_at(file, 4 * (1 + dim));
    sizes.push_back(size);
    fits = fits && !__builtin_mul_overflow(bytes, uint64_t{size}, &bytes);
  }
  TORCH_CHECK(
      fits && bytes == file.size() - header, "MNIST: ", path, " is damaged: its header says sizes ",
      at::IntArrayRef(sizes), ", which does not go with ", file.size() - header, " bytes behind the header");
  return at::empty({0}, at::kByte).set_(file.storage(header, bytes, /*alignment=*/1), 0, sizes);
}

std::shared_ptr<detail::ByteImages> open_files(const std::string& root, MNIST::Mode mode) {
  const std::string prefix = root + (mode == MNIST::Mode::kTrain ? "/train-" : "/t10k-");
  const Tensor images = map_idx(prefix + "images-idx3-ubyte", kImageMagic);
  const Tensor labels = map_idx(prefix + "labels-idx1-ubyte", kLabelMagic);
  TORCH_CHECK(
      images.size(0) == labels.size(0), "MNIST: ", prefix, "images-idx3-ubyte has ", images.size(0), " images, but ",
      prefix, "labels-idx1-ubyte has ", labels.size(0), " labels");
  TORCH_CHECK(
      images.size(0) == 0 || images.numel() > 0, "MNIST: ", prefix,
      "images-idx3-ubyte has images without pixels: ", images.sizes());
  return std::make_shared<detail::ByteImages>(std::vector<Tensor>{images.unsqueeze(1)}, labels.to(at::kLong));
}

} // namespace

MNIST::MNIST(const std::string& root, Mode mode) : data_(open_files(root, mode)), mode_(mode) {}

Example<> MNIST::get(size_t index) {
  return data_->get("MNIST", index);
}

std::optional<size_t> MNIST::size() const {
  return data_->size();
}

const Tensor& MNIST::images() const {
  return data_->images();
}

const Tensor& MNIST::targets() const {
  return data_->targets();
}

} // namespace torch::data::datasets
