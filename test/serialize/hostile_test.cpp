// Damaged and hostile files give an error or a value, never a crash, and take no more memory than their size explains.
#include "support.h"

#include <csrc/serialize/safetensors.h>

#include <sys/resource.h>

#include <functional>
#include <random>
#include <sstream>

using namespace serialize_test;

namespace {

// Reads every byte of every tensor in the value: storages must really be there.
size_t use(const IValue& value) {
  if (value.isTensor()) {
    const Tensor& tensor = value.toTensor();
    if (!tensor.defined() || tensor.is_meta() || tensor.numel() > (1 << 20)) {
      return 0; // expanded: large without memory
    }
    if (tensor.layout() != torch::kStrided) {
      return use(tensor.to_dense());
    }
    const Tensor plain = tensor.detach().contiguous();
    size_t sum = 0;
    for (size_t i = 0; i < plain.nbytes(); ++i) {
      sum += static_cast<const uint8_t*>(plain.const_data_ptr())[i];
    }
    return sum;
  }
  size_t sum = 0;
  if (value.isList()) {
    for (const IValue& element : value.toListRef()) {
      sum += use(element);
    }
  } else if (value.isTuple()) {
    for (const IValue& element : value.toTupleRef().elements()) {
      sum += use(element);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      sum += use(entry.value());
    }
  }
  return sum;
}

size_t use(torch::serialize::InputArchive& archive) {
  size_t sum = 0;
  for (const std::string& key : archive.keys()) {
    torch::serialize::InputArchive nested;
    IValue value;
    if (archive.try_read(key, nested)) {
      sum += use(nested);
    } else {
      archive.read(key, value);
      sum += use(value);
    }
  }
  return sum;
}

using Reader = std::function<size_t(const std::string& bytes)>;

size_t read_pickle(const std::string& bytes) {
  return use(torch::pickle_load(std::vector<char>(bytes.begin(), bytes.end())));
}
size_t read_archive(const std::string& bytes) {
  torch::serialize::InputArchive archive;
  archive.load_from(bytes.data(), bytes.size());
  return use(archive);
}
size_t read_safetensors(const std::string& bytes) {
  size_t sum = 0;
  for (const auto& entry : torch::serialize::load_safetensors(bytes.data(), bytes.size()).tensors) {
    sum += use(entry.value());
  }
  return sum;
}

// Whether the reader took the bytes. Anything but a value or a c10::Error fails the test.
bool reads(const Reader& reader, const std::string& bytes) {
  try {
    reader(bytes);
    return true;
  } catch (const c10::Error&) {
    return false;
  }
}

struct Subject {
  const char* file;
  Reader reader;
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = {{"python_values.pt", read_pickle},       {"state_dict.pt", read_pickle},
                                           {"python_sparse.pt", read_pickle},       {"cpp_values.pt", read_archive},
                                           {"cpp_views.pt", read_archive},          {"state_dict.pt", read_archive},
                                           {"python.safetensors", read_safetensors}};
  return all;
}

// The pickle in a ZIP file without checksums in the way: as torch.serialization would write it.
std::string zip_of(const std::string& pickle);

uint32_t crc_of(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) ? 0xEDB88320u : 0);
    }
  }
  return ~crc;
}

std::string little(uint64_t value, int size) {
  std::string out;
  for (int i = 0; i < size; ++i) {
    out += static_cast<char>(value >> (8 * i));
  }
  return out;
}

std::string zip_of(const std::string& pickle) {
  std::string out, directory;
  const std::vector<std::pair<std::string, std::string>> entries = {
      {"a/data.pkl", pickle}, {"a/data/0", std::string(64, '\1')}};
  for (const auto& [name, data] : entries) {
    const std::string common = little(20, 2) + little(0, 2) + little(0, 2) + little(0, 4) + little(crc_of(data), 4) +
        little(data.size(), 4) + little(data.size(), 4) + little(name.size(), 2) + little(0, 2);
    directory += "PK\1\2" + little(20, 2) + common + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4) +
        little(out.size(), 4) + name;
    out += "PK\3\4" + common + name + data;
  }
  return out + directory + "PK\5\6" + little(0, 4) + little(2, 2) + little(2, 2) + little(directory.size(), 4) +
      little(out.size(), 4) + little(0, 2);
}

IValue unpickle(const std::string& pickle) {
  const std::string bytes = zip_of(pickle);
  return torch::pickle_load(std::vector<char>(bytes.begin(), bytes.end()));
}

size_t peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) << 10;
}

// A tensor of storage "0": (storage, offset, size, stride, False, OrderedDict()).
std::string tensor_pickle(
    const std::string& count, const std::string& offset, const std::string& size, const std::string& stride) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((U\7storagectorch\nFloatStorage\nU\1"
         "0U\3cpu" +
      count + "tQ" + offset + size + stride +
      "\x89"
      "ccollections\nOrderedDict\n)RtR";
}

const std::string kProto("\x80\x02", 2);

} // namespace

TEST_CASE("files cut at any length are refused", "[serialize][hostile]") {
  for (const Subject& subject : subjects()) {
    const std::string bytes = read_bytes(data_file(subject.file));
    INFO(subject.file);
    REQUIRE(reads(subject.reader, bytes));
    size_t accepted = 0;
    for (size_t size = 0; size < bytes.size(); size += 1 + size / 40) {
      accepted += reads(subject.reader, bytes.substr(0, size));
    }
    for (size_t size = bytes.size() - 30; size < bytes.size(); ++size) {
      accepted += reads(subject.reader, bytes.substr(0, size));
    }
    CHECK(accepted == 0);
  }
}

TEST_CASE("files with flipped bits give an error or a value", "[serialize][hostile]") {
  const int mutants = 2500;
  const size_t memory = peak_memory();
  for (size_t s = 0; s < subjects().size(); ++s) {
    const Subject& subject = subjects()[s];
    const std::string bytes = read_bytes(data_file(subject.file));
    std::mt19937 random(static_cast<unsigned>(s));
    int accepted = 0;
    for (int i = 0; i < mutants; ++i) {
      std::string mutant = bytes;
      const int flips = 1 + static_cast<int>(random() % 3);
      for (int flip = 0; flip < flips; ++flip) {
        mutant[random() % mutant.size()] ^= static_cast<char>(1 << random() % 8);
      }
      accepted += reads(subject.reader, mutant);
    }
    INFO(subject.file);
    CHECK(accepted < mutants); // some must be noticed; in padding none is
  }
  CHECK(peak_memory() - memory < (256u << 20));
}

TEST_CASE("pickles with changed bytes give an error or a value", "[serialize][hostile]") {
  // Past the checksum of the container, where mutants of whole files hardly come.
  const std::string bytes = read_bytes(data_file("python_values.pt"));
  const size_t begin = bytes.find(kProto), end = bytes.find("PK", begin);
  REQUIRE(begin != std::string::npos);
  const std::string pickle = bytes.substr(begin, end - begin);
  std::mt19937 random(7);
  const std::string opcodes(
      "(.012GJKMNQRXabc}ehj]qrst)uTUBC\x80\x81\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x93\x94\x95", 45);
  const size_t memory = peak_memory();
  int accepted = 0;
  for (int i = 0; i < 8000; ++i) {
    std::string mutant = pickle;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int change = 0; change < changes; ++change) {
      const size_t position = random() % mutant.size();
      switch (random() % 4) {
        case 0:
          mutant[position] ^= static_cast<char>(1 << random() % 8);
          break;
        case 1:
          mutant[position] = opcodes[random() % opcodes.size()];
          break;
        case 2:
          mutant.erase(position, 1 + random() % 8);
          break;
        default:
          mutant.insert(position, mutant.substr(random() % mutant.size(), 1 + random() % 16));
          break;
      }
    }
    accepted += reads(read_pickle, zip_of(mutant));
  }
  CHECK(accepted < 8000);
  CHECK(peak_memory() - memory < (256u << 20));
}

TEST_CASE("random opcodes give an error or a value", "[serialize][hostile]") {
  const std::string opcodes("(.012KMNRXab}eh]qst)u\x85\x86\x87\x88\x89\x94", 28);
  std::mt19937 random(11);
  const size_t memory = peak_memory();
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string pickle = kProto;
    for (int length = static_cast<int>(random() % 60); length > 0; --length) {
      const char opcode = opcodes[random() % opcodes.size()];
      pickle += opcode;
      if (opcode == 'K' || opcode == 'q' || opcode == 'h') {
        pickle += static_cast<char>(random() % 4);
      }
      if (opcode == 'M') {
        pickle += "\1\1";
      }
      if (opcode == 'X') {
        pickle += little(1, 4) + "x";
      }
    }
    pickle += '.';
    accepted += reads(read_pickle, zip_of(pickle));
  }
  CHECK(accepted < 4000);
  CHECK(peak_memory() - memory < (256u << 20));
}

TEST_CASE("pickles that ask for the impossible", "[serialize][hostile]") {
  struct Case {
    const char* what;
    std::string pickle;
    const char* says;
  };
  std::string deep = kProto;
  for (int i = 0; i < 5000; ++i) {
    deep += ")\x85";
  }
  std::string chain = kProto + "]q" + std::string(1, '\0');
  for (int i = 0; i < 5000; ++i) {
    chain += "\x85";
  }
  const Case cases[] = {
      {"system",
       kProto +
           "cos\nsystem\n(U\2ls"
           "tR.",
       "'os.system' is not known here"},
      {"eval",
       kProto +
           "c__builtin__\neval\n(U\1x"
           "tR.",
       "'__builtin__.eval' is not known here"},
      {"a class as a value", kProto + "](ctorch\nFloatStorage\ne.", "stands where a value must stand"},
      {"a huge string",
       kProto +
           "X\xff\xff\xff\xff"
           "abc.",
       "more bytes are needed"},
      {"a huge int", kProto + "\x8b\xff\xff\xff\x7f.", "more bytes are needed"},
      {"an int of 80 bits",
       kProto +
           "\x8a\x0a"
           "0123456789.",
       "does not fit into 64 bits"},
      {"an empty stack", kProto + "0.", "the stack is empty"},
      {"below a mark", kProto + "K\1(\x85.", "the stack is empty"},
      {"no mark", kProto + "t.", "there is no mark"},
      {"unknown memo", kProto + "h\5.", "memo 5 was never stored"},
      {"odd dict", kProto + "}(K\1u.", "has no value"},
      {"a list as a key", kProto + "}]K\1s.", "a key of a dict must be"},
      {"appending to an int", kProto + "K\1K\2a.", "must be a list"},
      {"itself", kProto + "]q\1h\1a.", "contain themselves"},
      {"deep nesting of tuples", chain + ".", "levels deep"},
      {"no end", kProto + "K\1", "1 more bytes are needed"},
      {"too much left", kProto + "K\1K\2.", "more than one value"},
      {"protocol 9", std::string("\x80\x09N.", 4), "protocol 9 is not supported"},
      {"an old opcode", kProto + "I5\n.", "opcode 0x49"},
      {"a storage larger than its entry",
       kProto + tensor_pickle("K\x11", "K\0" + std::string(), "K\1\x85", "K\1\x85") + ".", ""},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    CHECK_THROWS_MATCHES(unpickle(c.pickle), c10::Error, test::Says(c.says));
  }
  CHECK_FALSE(reads(read_pickle, zip_of(deep + ".")));
}

TEST_CASE("tensors must lie in their storage", "[serialize][hostile]") {
  const std::string zero("K\0", 2), one("K\1"), four("K\4"), sixteen("K\x10"),
      max("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f");
  const auto tensor = [&](const std::string& count, const std::string& offset, const std::string& size,
                          const std::string& stride) {
    return unpickle(kProto + tensor_pickle(count, offset, size + "\x85", stride + "\x85") + ".").toTensor();
  };
  CHECK(tensor(sixteen, zero, sixteen, one).numel() == 16);
  CHECK(tensor(sixteen, zero, four, four).numel() == 4);
  CHECK(tensor(sixteen, sixteen, zero, one).numel() == 0);
  CHECK(tensor(sixteen, zero, max, zero).numel() == INT64_MAX); // expanded
  CHECK_THROWS_MATCHES(tensor("K\x11", zero, one, one), c10::Error, test::Says("its tensors need 68"));
  CHECK_THROWS_MATCHES(tensor(max, zero, one, one), c10::Error, test::Says("is impossible"));
  CHECK_THROWS_MATCHES(
      tensor(sixteen, one, sixteen, one), c10::Error, test::Says("reaches past its storage of 16 elements"));
  CHECK_THROWS_MATCHES(tensor(sixteen, zero, max, one), c10::Error, test::Says("reaches past its storage"));
  CHECK_THROWS_MATCHES(tensor(sixteen, zero, max, max), c10::Error, test::Says("reaches past its storage"));
  CHECK_THROWS_MATCHES(tensor(sixteen, max, one, one), c10::Error, test::Says("reaches past its storage"));
  CHECK_THROWS_MATCHES(
      tensor(sixteen, "J\xff\xff\xff\xff", one, one), c10::Error, test::Says("reaches past its storage"));
  CHECK_THROWS_MATCHES(tensor(sixteen, zero, "J\xff\xff\xff\xff", one), c10::Error, test::Says("not negative"));
}

TEST_CASE("sparse tensors must fit what they are made of", "[serialize][hostile]") {
  const std::string zero("K\0", 2), one("K\1"), two("K\2"), max("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f");
  const auto member = [&](const char* type, const std::string& count, const std::string& size,
                          const std::string& stride) {
    std::string text = tensor_pickle(count, zero, size, stride);
    return text.replace(text.find("Float"), 5, type);
  };
  const auto sparse = [&](const std::string& layout, const std::string& members) {
    return unpickle(
        kProto + "ctorch._utils\n_rebuild_sparse_tensor\nctorch.serialization\n_get_layout\nX" +
        little(layout.size(), 4) + layout + "\x85R(" + members + "t\x86R.");
  };
  const std::string coo = "torch.sparse_coo", indices = member("Long", "K\x8", one + two + "\x86", two + one + "\x86"),
                    values = member("Float", "K\x10", two + "\x85", one + "\x85");
  // Each index is 0x0101010101010101.
  CHECK(sparse(coo, indices + values + max + "\x85\x89").toTensor()._nnz() == 2);
  CHECK_THROWS_MATCHES(
      sparse(coo, indices + values + "K\5\x85\x89"), c10::Error, test::Says("size is 5 but found index"));
  CHECK_THROWS_MATCHES(
      sparse(coo, indices + values + max + "\x85\x88"), c10::Error, test::Says("cannot set is_coalesced"));
  CHECK_THROWS_MATCHES(
      sparse(coo, indices + values), c10::Error, test::Says("takes (layout, (indices, values, size))"));
  CHECK_THROWS_MATCHES(
      sparse(coo, indices + "N" + max + "\x85"), c10::Error, test::Says("takes (layout, (indices, values, size))"));
  CHECK_THROWS_MATCHES(
      sparse("torch.sparse_csr", indices + indices + values + max + "\x85"), c10::Error, test::Says("data.pkl"));
  CHECK_THROWS_MATCHES(
      sparse("torch.round", indices + values + max + "\x85"), c10::Error,
      test::Says("layout 'torch.round' is not known"));
  const std::string expanded = member("Long", "K\x8", one + max + "\x86", zero + zero + "\x86"),
                    wide = member("Float", "K\x10", max + "\x85", zero + "\x85");
  CHECK_THROWS_MATCHES(sparse(coo, expanded + wide + max + "\x85"), c10::Error, test::Says("must not be expanded"));
  // One and the same storage again and again: some tensors may share their indices.
  std::string many = kProto;
  for (int i = 0; i < 600; ++i) {
    if (i == 80) {
      CHECK(unpickle(many + "N.").isNone());
    }
    many += "ctorch._utils\n_rebuild_sparse_tensor\nK\1(" + indices + values + max + "\x85t\x86R0";
  }
  CHECK_THROWS_MATCHES(unpickle(many + "N."), c10::Error, test::Says("one and the same many times"));
}

TEST_CASE("short pickles cannot ask for long work", "[serialize][hostile]") {
  // A wide tuple as the size of many tensors; and a long key, hashed again and again.
  std::string wide = kProto + "(";
  for (int i = 0; i < 2000; ++i) {
    wide += "K\1";
  }
  wide +=
      "tq\1"
      "0(";
  for (int i = 0; i < 3000; ++i) {
    wide += "ctorch.jit._pickle\nbuild_intlist\n](h\1et\x85R";
  }
  CHECK_FALSE(reads(read_pickle, zip_of(wide + "t.")));

  std::string sizes = kProto + "(";
  for (int i = 0; i < 5000; ++i) {
    sizes += "K\1";
  }
  sizes +=
      "tq\1"
      "0" +
      tensor_pickle("K\x10", std::string("K\0", 2), "h\1", "h\1");
  sizes += "0";
  std::string many;
  for (int i = 0; i < 400; ++i) {
    many += tensor_pickle("K\x10", std::string("K\0", 2), "h\1", "h\1") + "0";
  }
  CHECK_THROWS_MATCHES(unpickle(sizes + many + "N."), c10::Error, test::Says("far more work than its length explains"));

  std::string keys = kProto + "X" + little(100000, 4) + std::string(100000, 'k') +
      "q\1"
      "0}(";
  for (int i = 0; i < 20000; ++i) {
    keys += "h\1K\1";
  }
  CHECK_THROWS_MATCHES(unpickle(keys + "u."), c10::Error, test::Says("far more work than its length explains"));

  // Doubling: a tuple of the tuple before, twice, is cheap to make, and must be cheap to throw away.
  std::string doubling = kProto + ")";
  for (int i = 0; i < 900; ++i) {
    doubling += "2\x86";
  }
  CHECK(reads(
      [](const std::string& bytes) {
        return torch::pickle_load(std::vector<char>(bytes.begin(), bytes.end())).isTuple() ? 1u : 0u;
      },
      zip_of(doubling + ".")));
}

TEST_CASE("ZIP files that lie", "[serialize][hostile]") {
  const std::string good = zip_of(kProto + "K\5.");
  REQUIRE(reads(read_pickle, good));
  const size_t directory = good.find("PK\1\2"), end = good.find("PK\5\6");
  const auto changed = [&](size_t offset, const std::string& bytes) {
    std::string out = good;
    out.replace(offset, bytes.size(), bytes);
    return std::vector<char>(out.begin(), out.end());
  };
  const auto says = [](const char* text) { return test::Says(text); };
  CHECK_THROWS_MATCHES(
      torch::pickle_load(changed(end + 8, little(3, 2) + little(3, 2))), c10::Error,
      says("must") || says("missing") || says("do not fit"));
  CHECK_THROWS_MATCHES(
      torch::pickle_load(changed(end + 16, little(1u << 30, 4))), c10::Error, says("reaches past its end record"));
  CHECK_THROWS_MATCHES(
      torch::pickle_load(changed(directory + 42, little(1u << 30, 4))), c10::Error, says("has no header at offset"));
  CHECK_THROWS_MATCHES(
      torch::pickle_load(changed(directory + 20, little(9999, 4) + little(9999, 4))), c10::Error,
      says("reaches past the directory"));
  CHECK_THROWS_MATCHES(
      torch::pickle_load(changed(directory + 10, little(8, 2))), c10::Error, says("compressed (method 8)"));
  CHECK_THROWS_MATCHES(torch::pickle_load(changed(directory + 8, little(1, 2))), c10::Error, says("encrypted"));
  CHECK_THROWS_MATCHES(
      torch::pickle_load(changed(directory + 46, "b")), c10::Error, says("is called 'a/data.pkl' in its header"));
  const size_t second = good.find("PK\1\2", directory + 4);
  CHECK_THROWS_MATCHES(
      torch::pickle_load(changed(second + 42, little(0, 4))), c10::Error, says("is called 'a/data.pkl'"));
  CHECK_THROWS_MATCHES(
      torch::pickle_load(std::vector<char>(22, '\0')), c10::Error, says("does not begin as a ZIP file"));
}
