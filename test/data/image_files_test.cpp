// MNIST and CIFAR files: small ones made here, right and damaged.
#include "datasets_for_tests.h"

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <random>

using namespace torch::data;
using test::TemporaryFolder;

namespace {

std::string big_endian(uint32_t number) {
  return {
      static_cast<char>(number >> 24), static_cast<char>(number >> 16), static_cast<char>(number >> 8),
      static_cast<char>(number)};
}

/// `count` bytes 0, 7, 14, ...
std::string ramp(size_t count, size_t modulus = 256) {
  std::string bytes(count, '\0');
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<char>(7 * i % modulus);
  }
  return bytes;
}

std::string idx_images(uint32_t count, uint32_t rows, uint32_t columns) {
  return big_endian(2051) + big_endian(count) + big_endian(rows) + big_endian(columns) +
      ramp(size_t{count} * rows * columns);
}

std::string idx_labels(uint32_t count) {
  return big_endian(2049) + big_endian(count) + ramp(count, 10);
}

void write_mnist(const TemporaryFolder& folder, const std::string& images, const std::string& labels) {
  folder.write("train-images-idx3-ubyte", images);
  folder.write("train-labels-idx1-ubyte", labels);
}

/// What opening the files says.
template <class Dataset>
std::string error_of(const std::string& folder, typename Dataset::Mode mode = Dataset::Mode::kTrain) {
  try {
    Dataset dataset(folder, mode);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

std::string cifar_file(size_t records, size_t labels) {
  std::string bytes;
  for (size_t i = 0; i < records; ++i) {
    bytes += std::string(labels, static_cast<char>(i % 10)) + ramp(3 * 32 * 32);
  }
  return bytes;
}

/// Every way to read a dataset.
template <class Dataset>
void read_everything(Dataset dataset) {
  for (size_t i = 0; i < *dataset.size(); ++i) {
    dataset.get(i);
  }
  CHECK(dataset.images().size(0) == dataset.targets().size(0));
}

} // namespace

TEST_CASE("MNIST files become floats and labels", "[files]") {
  const TemporaryFolder folder;
  write_mnist(folder, idx_images(3, 4, 5), idx_labels(3));
  folder.write("t10k-images-idx3-ubyte", idx_images(2, 4, 5));
  folder.write("t10k-labels-idx1-ubyte", idx_labels(2));
  datasets::MNIST train(folder.path());
  CHECK(train.is_train());
  CHECK(train.size() == 3);
  CHECK(train.images().sizes() == torch::IntArrayRef({3, 1, 4, 5}));
  CHECK(train.images().dtype() == torch::kFloat32);
  CHECK(train.targets().equal(torch::tensor({0, 7, 4}, torch::kLong)));
  const auto second = train.get(1);
  CHECK(second.data.sizes() == torch::IntArrayRef({1, 4, 5}));
  CHECK(second.data.equal(train.images()[1]));
  CHECK(second.data.flatten()[3].item<float>() == static_cast<float>(7 * 23 % 256) / 255.0f);
  CHECK(second.target.item<int64_t>() == 7);
  CHECK(second.target.dim() == 0);
  // Examples are the reader's own: changing one does not change the dataset.
  second.data.zero_();
  CHECK(train.get(1).data.flatten()[3].item<float>() > 0);
  CHECK_THROWS_WITH(train.get(3), Catch::Contains("MNIST: index 3 is out of range for 3"));
  datasets::MNIST tested(folder.path(), datasets::MNIST::Mode::kTest);
  CHECK_FALSE(tested.is_train());
  CHECK(tested.size() == 2);

  auto loader = make_data_loader(train.map(transforms::Stack<>()), DataLoaderOptions(2).workers(2));
  int64_t seen = 0;
  for (auto& batch : *loader) {
    seen += batch.data.size(0);
    CHECK(batch.data.size(0) == batch.target.size(0));
  }
  CHECK(seen == 3);
}

TEST_CASE("damaged MNIST files are named with what is wrong", "[files]") {
  const TemporaryFolder folder;
  const auto message = [&] { return error_of<datasets::MNIST>(folder.path()); };
  CHECK_THAT(
      message(),
      Catch::Contains("cannot open '" + folder.path() + "/train-images-idx3-ubyte' for reading: No such file"));
  write_mnist(folder, idx_labels(30), idx_labels(3));
  CHECK_THAT(message(), Catch::Contains("begins with the number 2049 (these are labels)"));
  write_mnist(folder, "\x1f\x8b" + std::string(40, 'x'), idx_labels(3));
  CHECK_THAT(message(), Catch::Contains("compressed"));
  write_mnist(folder, "", idx_labels(3));
  CHECK_THAT(message(), Catch::Contains("has 0 bytes, not even a header of 16"));
  write_mnist(folder, idx_images(3, 4, 5).substr(0, 60), idx_labels(3));
  CHECK_THAT(message(), Catch::Contains("header says sizes [3, 4, 5]") && Catch::Contains("44 bytes"));
  write_mnist(folder, idx_images(3, 4, 5) + "x", idx_labels(3));
  CHECK_THAT(message(), Catch::Contains("does not go with 61 bytes"));
  // Sizes whose product wraps around to the file's size.
  write_mnist(folder, big_endian(2051) + big_endian(1U << 31) + big_endian(1U << 31) + big_endian(4), idx_labels(3));
  CHECK_THAT(message(), Catch::Contains("is damaged"));
  write_mnist(folder, idx_images(2, 4, 5), idx_labels(3));
  CHECK_THAT(message(), Catch::Contains("has 2 images") && Catch::Contains("has 3 labels"));
  write_mnist(folder, idx_images(3, 0, 5), idx_labels(3));
  CHECK_THAT(message(), Catch::Contains("images without pixels"));
  std::filesystem::remove(folder.path() + "/train-images-idx3-ubyte");
  std::filesystem::create_directory(folder.path() + "/train-images-idx3-ubyte");
  CHECK_THAT(message(), Catch::Contains("is a directory, not a file"));
}

TEST_CASE("CIFAR files become floats and labels", "[files]") {
  const TemporaryFolder folder;
  for (int batch = 1; batch <= 5; ++batch) {
    folder.write(
        "cifar-10-batches-bin/data_batch_" + std::to_string(batch) + ".bin", cifar_file(static_cast<size_t>(batch), 1));
  }
  folder.write("cifar-10-batches-bin/test_batch.bin", cifar_file(2, 1));
  datasets::CIFAR10 train(folder.path());
  CHECK(train.size() == 15);
  CHECK(train.images().sizes() == torch::IntArrayRef({15, 3, 32, 32}));
  CHECK(train.targets().equal(torch::tensor({0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4}, torch::kLong)));
  for (const size_t index : {0, 1, 2, 3, 14}) {
    CHECK(train.get(index).data.equal(train.images()[static_cast<int64_t>(index)]));
    CHECK(train.get(index).target.equal(train.targets()[static_cast<int64_t>(index)]));
  }
  CHECK(train.get(3).data[1][0][1].item<float>() == static_cast<float>(7 * 1025 % 256) / 255.0f);
  CHECK_THROWS_WITH(train.get(15), Catch::Contains("CIFAR10: index 15 is out of range"));
  CHECK(datasets::CIFAR10(folder.path() + "/cifar-10-batches-bin", datasets::CIFAR10::Mode::kTest).size() == 2);

  folder.write("train.bin", std::string({'\3', '\44'}) + ramp(3072) + std::string({'\1', '\143'}) + ramp(3072));
  datasets::CIFAR100 hundred(folder.path());
  CHECK(hundred.targets().equal(torch::tensor({36, 99}, torch::kLong)));
  CHECK(hundred.coarse_targets().equal(torch::tensor({3, 1}, torch::kLong)));
  CHECK(hundred.get(1).target.item<int64_t>() == 99);
}

TEST_CASE("damaged CIFAR files are named with what is wrong", "[files]") {
  const TemporaryFolder folder;
  const auto message = [&] { return error_of<datasets::CIFAR10>(folder.path(), datasets::CIFAR10::Mode::kTest); };
  CHECK_THAT(message(), Catch::Contains("cannot open '" + folder.path() + "/test_batch.bin' for reading"));
  folder.write("test_batch.bin", cifar_file(2, 1).substr(1));
  CHECK_THAT(message(), Catch::Contains("has 6145 bytes, which is no multiple of 3073"));
  folder.write("test_batch.bin", "");
  CHECK_THAT(message(), Catch::Contains("has 0 bytes"));
  std::string wrong_label = cifar_file(2, 1);
  wrong_label[3073] = '\12';
  folder.write("test_batch.bin", wrong_label);
  CHECK_THAT(message(), Catch::Contains("record 1 has the class 10, but there are 10"));
  folder.write("train.bin", "\24" + std::string(1, '\0') + ramp(3072));
  CHECK_THAT(
      error_of<datasets::CIFAR100>(folder.path()), Catch::Contains("record 0 has the group 20, but there are 20"));
}

TEST_CASE("files with flipped bits and cut ends give data or an error", "[files][fuzz]") {
  const TemporaryFolder folder;
  std::mt19937 random(20261121);
  const std::string images = idx_images(3, 4, 5), labels = idx_labels(3), cifar = cifar_file(2, 1);
  const auto damage = [&](std::string bytes) {
    for (uint32_t flips = random() % 4; flips > 0; --flips) {
      // The beginning is where the sizes are.
      const size_t at = random() % (random() % 2 == 0 ? 20 : bytes.size());
      bytes[at % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    }
    return random() % 4 == 0 ? bytes.substr(0, random() % (bytes.size() + 1)) : bytes;
  };
  int readable = 0, refused = 0;
  for (int round = 0; round < 400; ++round) {
    write_mnist(folder, damage(images), damage(labels));
    folder.write("test_batch.bin", damage(cifar));
    try {
      read_everything(datasets::MNIST(folder.path()));
      read_everything(datasets::CIFAR10(folder.path(), datasets::CIFAR10::Mode::kTest));
      ++readable;
    } catch (const c10::Error& error) {
      ++refused;
      CHECK_THAT(error.what_without_backtrace(), Catch::Contains(folder.path()));
    }
  }
  CHECK(readable > 20);
  CHECK(refused > 100);
}
