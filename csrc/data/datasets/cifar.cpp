#include <csrc/data/datasets/cifar.h>

#include <aten/ops/empty.h>
#include <csrc/data/datasets/byte_images.h>
#include <csrc/serialize/file_bytes.h>

#include <unistd.h>

#include <vector>

namespace torch::data::datasets {

namespace {

// The format: records of some label bytes, then 1024 red, 1024 green and 1024 blue ones. There is no header.
constexpr int64_t kSide = 32;
constexpr int64_t kPixels = kSide * kSide;

/// Of one label byte in each record: what it is called and how many there are.
struct Label {
  const char* name;
  int classes;
};

struct Records {
  std::vector<Tensor> images; // [n, 3, 32, 32] of each file
  std::vector<Tensor> labels; // [n, labels] of each file, int64
};

std::string find_folder(const std::string& root, const std::string& folder, const std::string& file) {
  const std::string inside = root + "/" + folder;
  return access((inside + "/" + file).c_str(), F_OK) == 0 ? inside : root;
}

void check_labels(const char* dataset, const std::string& path, const Tensor& labels, const std::vector<Label>& kinds) {
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    const Tensor column = labels.select(1, static_cast<int64_t>(kind));
    const Tensor wrong = column.ge(kinds[kind].classes).nonzero();
    if (wrong.size(0) > 0) {
      const auto record = wrong[0][0].item<int64_t>();
      TORCH_CHECK(
          false, dataset, ": ", path, " is damaged: record ", record, " has the ", kinds[kind].name, " ",
          column[record].item<int64_t>(), ", but there are ", kinds[kind].classes);
    }
  }
}

void read_file(const char* dataset, const std::string& path, const std::vector<Label>& kinds, Records& records) {
  const auto file = serialize::FileBytes::map(path);
  const auto label_bytes = static_cast<int64_t>(kinds.size());
  const int64_t record = label_bytes + 3 * kPixels;
  const auto bytes = static_cast<int64_t>(file.size());
  TORCH_CHECK(
      bytes > 0 && bytes % record == 0, dataset, ": ", path, " has ", bytes, " bytes, which is no multiple of ", record,
      ", the bytes of a record. Is it the binary version, whole and unpacked?");
  const int64_t count = bytes / record;
  const c10::Storage storage = file.storage(0, file.size(), /*alignment=*/1);
  const auto bytes_at = [&](int64_t offset, at::IntArrayRef sizes, at::IntArrayRef strides) {
    return at::empty({0}, at::kByte).set_(storage, offset, sizes, strides);
  };
  records.images.push_back(bytes_at(label_bytes, {count, 3, kSide, kSide}, {record, kPixels, kSide, 1}));
  const Tensor labels = bytes_at(0, {count, label_bytes}, {record, 1}).to(at::kLong);
  check_labels(dataset, path, labels, kinds);
  records.labels.push_back(labels);
}

std::shared_ptr<detail::ByteImages> images_with_labels(Records records, const Tensor& labels, int64_t column) {
  return std::make_shared<detail::ByteImages>(std::move(records.images), labels.select(1, column).contiguous());
}

} // namespace

CIFAR10::CIFAR10(const std::string& root, Mode mode) : mode_(mode) {
  const std::vector<std::string> files = mode == Mode::kTrain
      ? std::vector<std::string>{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                                 "data_batch_5.bin"}
      : std::vector<std::string>{"test_batch.bin"};
  const std::string folder = find_folder(root, "cifar-10-batches-bin", files[0]);
  Records records;
  for (const std::string& file : files) {
    read_file("CIFAR10", folder + "/" + file, {{"class", 10}}, records);
  }
  const Tensor labels = at::cat(records.labels);
  data_ = images_with_labels(std::move(records), labels, 0);
}

Example<> CIFAR10::get(size_t index) {
  return data_->get("CIFAR10", index);
}

std::optional<size_t> CIFAR10::size() const {
  return data_->size();
}

const Tensor& CIFAR10::images() const {
  return data_->images();
}

const Tensor& CIFAR10::targets() const {
  return data_->targets();
}

CIFAR100::CIFAR100(const std::string& root, Mode mode) : mode_(mode) {
  const std::string file = mode == Mode::kTrain ? "train.bin" : "test.bin";
  Records records;
  read_file(
      "CIFAR100", find_folder(root, "cifar-100-binary", file) + "/" + file, {{"group", 20}, {"class", 100}}, records);
  const Tensor labels = records.labels[0];
  coarse_targets_ = labels.select(1, 0).contiguous();
  data_ = images_with_labels(std::move(records), labels, 1);
}

Example<> CIFAR100::get(size_t index) {
  return data_->get("CIFAR100", index);
}

std::optional<size_t> CIFAR100::size() const {
  return data_->size();
}

const Tensor& CIFAR100::images() const {
  return data_->images();
}

const Tensor& CIFAR100::targets() const {
  return data_->targets();
}

} // namespace torch::data::datasets
