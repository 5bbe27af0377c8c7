// PyTorchStreamWriter and PyTorchStreamReader.
#include "support.h"

#include <caffe2/serialize/file_adapter.h>
#include <caffe2/serialize/in_memory_adapter.h>
#include <caffe2/serialize/inline_container.h>
#include <caffe2/serialize/istream_adapter.h>
#include <caffe2/serialize/versions.h>
#include <torch/csrc/jit/serialization/import_read.h>

#include <atomic>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>

using namespace serialize_test;
using namespace caffe2::serialize;
using Catch::Matchers::Contains;

namespace {

const std::string kText = "some text";
const std::string kNumbers(1000, '\7');

template <class Fill>
std::string written(Fill fill, uint64_t alignment = 64) {
  std::string bytes;
  PyTorchStreamWriter writer(
      [&](const void* data, size_t size) {
        bytes.append(static_cast<const char*>(data), size);
        return size;
      },
      /*compute_crc32=*/true, alignment);
  fill(writer);
  if (!writer.finalized()) {
    writer.writeEndOfFile();
  }
  return bytes;
}

std::string two_records(uint64_t alignment = 64) {
  return written(
      [](PyTorchStreamWriter& writer) {
        writer.writeRecord("text", kText.data(), kText.size());
        writer.writeRecord("data/numbers", kNumbers.data(), kNumbers.size(), /*compress=*/true);
      },
      alignment);
}

std::string record(PyTorchStreamReader& reader, const std::string& name) {
  const auto [data, size] = reader.getRecord(name);
  return std::string(static_cast<const char*>(data.get()), size);
}

std::shared_ptr<ReadAdapterInterface> memory(const std::string& bytes) {
  return std::make_shared<MemoryReadAdapter>(bytes.data(), static_cast<off_t>(bytes.size()));
}

} // namespace

TEST_CASE("records come back as they were written", "[stream_archive]") {
  const std::string bytes = two_records();
  std::istringstream stream(bytes);
  std::istringstream adapted(bytes);
  PyTorchStreamReader from_memory(memory(bytes)), from_stream(&stream),
      from_adapter(std::make_shared<IStreamAdapter>(&adapted));
  for (PyTorchStreamReader* reader : {&from_memory, &from_stream, &from_adapter}) {
    CHECK(
        reader->getAllRecords() ==
        std::vector<std::string>{"text", "data/numbers", "version", "byteorder", kSerializationIdRecordName});
    CHECK(reader->version() == kMinProducedFileFormatVersion);
    CHECK(reader->serializationId().size() == 40);
    CHECK(reader->hasRecord("text"));
    CHECK_FALSE(reader->hasRecord("texts"));
    CHECK(record(*reader, "text") == kText);
    CHECK(record(*reader, "byteorder") == "little");
    CHECK(reader->getRecordSize("data/numbers") == kNumbers.size());
    const size_t offset = reader->getRecordOffset("data/numbers");
    CHECK(offset % 64 == 0);
    CHECK(bytes.substr(offset, kNumbers.size()) == kNumbers);
    CHECK(
        reader->getRecordOffsetNoRead(
            reader->getRecordHeaderOffset("data/numbers"), "data/numbers", kNumbers.size(), 64) == offset);
  }
}

TEST_CASE("records are read in place, in chunks and by several threads", "[stream_archive]") {
  const std::string bytes = two_records();
  PyTorchStreamReader reader(memory(bytes));
  std::string copy(kNumbers.size(), ' ');
  CHECK(reader.getRecord("data/numbers", copy.data(), copy.size()) == copy.size());
  CHECK(copy == kNumbers);
  char buffer[300];
  int chunks = 0;
  copy.assign(kNumbers.size(), ' ');
  reader.getRecord(
      "data/numbers", copy.data(), copy.size(), sizeof buffer, buffer, [&](void* to, const void* from, size_t size) {
        std::memcpy(to, from, size);
        ++chunks;
      });
  CHECK(copy == kNumbers);
  CHECK(chunks == 4);
  ChunkRecordIterator chunk =
      PyTorchStreamReader(memory(bytes)).createChunkReaderIter("data/numbers", kNumbers.size(), sizeof buffer);
  std::string joined;
  while (const size_t size = chunk.next(buffer)) {
    joined.append(buffer, size);
  }
  CHECK(joined == kNumbers);
  CHECK(chunk.next(buffer) == 0);

  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { good += record(reader, "data/numbers") == kNumbers; });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(good == 4);
  std::vector<std::shared_ptr<ReadAdapterInterface>> beside{memory(bytes)};
  CHECK(std::get<1>(reader.getRecord("text", beside)) == kText.size());

  CHECK_THROWS_WITH(reader.getRecord("data/numbers", copy.data(), 5), Contains("has 1000 bytes; 5"));
  CHECK_THROWS_WITH(reader.getRecord("data/numbers", copy.data(), 1000, 0, buffer), Contains("chunk_size"));
  CHECK_THROWS_WITH(reader.createChunkReaderIter("data/numbers", 5, 1), Contains("1000 bytes"));
  CHECK_THROWS_WITH(reader.getRecord("missing"), Contains("no such entry"));
}

TEST_CASE("an archive is a file when it is whole", "[stream_archive]") {
  const Folder folder;
  const std::string path = folder.file("model.pt");
  {
    PyTorchStreamWriter writer(path);
    CHECK(writer.archiveName() == "model");
    writer.writeRecord("text", kText.data(), kText.size());
    CHECK_THROWS_WITH(writer.writeRecord("text", "", 0), Contains("twice: text"));
    writer.setMinVersion(7);
    CHECK(writer.getAllWrittenRecords().count("text") == 1);
    CHECK_FALSE(writer.finalized());
  }
  PyTorchStreamReader reader(path);
  CHECK(record(reader, "text") == kText);
  CHECK(record(reader, ".data/version") == "7\n");
  CHECK(reader.version() == 7);
  PyTorchStreamReader adapted(std::make_shared<FileAdapter>(path));
  CHECK(record(adapted, "text") == kText);
  CHECK_THROWS_WITH(FileAdapter("/no/such/file"), Contains("/no/such/file"));

  try {
    PyTorchStreamWriter writer(folder.file("other.pt"));
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error&) {
  }
  CHECK(folder.files() == std::vector<std::string>{"model.pt"});
}

TEST_CASE("records of a tensor file are found, and copied records make the same file", "[stream_archive]") {
  const std::vector<char> pickled = torch::pickle_save(torch::ones({3}));
  const std::string bytes(pickled.begin(), pickled.end());
  PyTorchStreamReader reader(memory(bytes));
  CHECK(reader.getRecordSize("data/0") == 12);
  const std::string copy = written([&](PyTorchStreamWriter& writer) {
    for (const std::string& name : reader.getAllRecords()) {
      const auto [data, size] = reader.getRecord(name);
      writer.writeRecord(name, data.get(), size);
    }
    writer.writeEndOfFile();
    CHECK_THROWS_WITH(writer.writeRecord("late", "", 0), Contains("writeEndOfFile"));
    CHECK(writer.serializationId() == reader.serializationId());
  });
  CHECK(copy == bytes);
}

TEST_CASE("other alignments, and the padding that they take", "[stream_archive]") {
  for (const uint64_t alignment : {1, 8, 4096}) {
    const std::string bytes = two_records(alignment);
    PyTorchStreamReader reader(memory(bytes));
    CHECK(reader.getRecordOffset("data/numbers") % alignment == 0);
    CHECK(record(reader, "text") == kText);
  }
  CHECK_THROWS_WITH(two_records(0), Contains("0 bytes"));
  CHECK_THROWS_WITH(two_records(1 << 16), Contains("65536"));
  std::string field;
  const auto [offset, padding] = detail::getOffset(100, 10, 5, 64);
  CHECK(offset == 192);
  CHECK(padding == 192 - 100 - 30 - 10 - 4);
  CHECK(detail::getPadding(100, 10, 5, field, 64) == padding + 4);
}

TEST_CASE("archives that are no archives", "[stream_archive]") {
  const std::string bytes = two_records();
  CHECK_THROWS_WITH(PyTorchStreamReader(memory("no")), Contains("ZIP"));
  CHECK_THROWS_WITH(PyTorchStreamReader(memory(bytes.substr(0, bytes.size() / 2))), Contains("central directory"));
  CHECK_THROWS_WITH(PyTorchStreamReader(std::shared_ptr<ReadAdapterInterface>()), Contains("null"));
  CHECK_THROWS_WITH(PyTorchStreamReader(static_cast<std::istream*>(nullptr)), Contains("null"));
  for (const char* version : {"0", "11", "-1", "x", "", "99999999999999999999"}) {
    const std::string wrong =
        written([&](PyTorchStreamWriter& writer) { writer.writeRecord("version", version, std::strlen(version)); });
    CHECK_THROWS_WITH(PyTorchStreamReader(memory(wrong)), Contains("version"));
  }
  std::string damaged = bytes;
  damaged[damaged.find(kText)] ^= 1;
  PyTorchStreamReader reader(memory(damaged));
  CHECK_THROWS_WITH(record(reader, "text"), Contains("CRC-32"));
}

TEST_CASE("a pickle and its tensors are read from an archive that is open", "[stream_archive]") {
  c10::impl::GenericDict values(c10::StringType::get(), c10::AnyType::get());
  const at::Tensor base = torch::arange(6, torch::kFloat);
  values.insert("view", base.slice(0, 2, 5));
  values.insert("base", base);
  values.insert("step", 7);
  const std::vector<char> saved = torch::pickle_save(values);
  PyTorchStreamReader reader(memory(std::string(saved.begin(), saved.end())));
  const auto read = [&](const std::string& name, const std::string& tensors) {
    return torch::jit::readArchiveAndTensors(name, "", tensors, std::nullopt, std::nullopt, std::nullopt, reader);
  };
  const auto loaded = read("data", "data/").toGenericDict();
  CHECK(loaded.at("step").toInt() == 7);
  CHECK(loaded.at("base").toTensor().equal(base));
  CHECK(loaded.at("view").toTensor().equal(base.slice(0, 2, 5)));
  CHECK(loaded.at("view").toTensor().is_alias_of(loaded.at("base").toTensor()));
  CHECK(read("data", "").toGenericDict().at("base").toTensor().equal(base));
  CHECK_THROWS_WITH(read("other", ""), Contains("other.pkl"));
  CHECK_THROWS_WITH(read("data", "elsewhere/"), Contains("elsewhere/0"));
}
