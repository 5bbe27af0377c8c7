// The file `.metadata` of a checkpoint.
#include <csrc/distributed/checkpoint/metadata.h>

#include <csrc/distributed/checkpoint/pickle_tree.h>
#include <csrc/serialize/pickle_opcodes.h>
#include <csrc/serialize/storage_types.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace torch::distributed::checkpoint {

namespace {

using serialize::Opcode;
using Kind = PickleTree::Kind;
using Id = PickleTree::Id;

constexpr std::string_view kMetadata = "torch.distributed.checkpoint.metadata.Metadata";
constexpr std::string_view kTensor = "torch.distributed.checkpoint.metadata.TensorStorageMetadata";
constexpr std::string_view kBytes = "torch.distributed.checkpoint.metadata.BytesStorageMetadata";
constexpr std::string_view kProperties = "torch.distributed.checkpoint.metadata.TensorProperties";
constexpr std::string_view kChunk = "torch.distributed.checkpoint.metadata.ChunkStorageMetadata";
constexpr std::string_view kMemoryFormat = "torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING";
constexpr std::string_view kIndex = "torch.distributed.checkpoint.metadata.MetadataIndex";
constexpr std::string_view kStorageMeta = "torch.distributed.checkpoint.metadata.StorageMeta";
constexpr std::string_view kStorageInfo = "torch.distributed.checkpoint.filesystem._StorageInfo";
constexpr std::string_view kSize = "torch.Size";
constexpr std::string_view kLayout = "torch.serialization._get_layout";

bool knows(std::string_view name) {
  static constexpr std::array<std::string_view, 14> kKnown = {
      kMetadata,
      kTensor,
      kBytes,
      kProperties,
      kChunk,
      kMemoryFormat,
      kIndex,
      kStorageMeta,
      kStorageInfo,
      kSize,
      kLayout,
      "pathlib.PosixPath",
      "pathlib._local.PosixPath",
      "collections.OrderedDict"};
  return std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end() ||
      (name.substr(0, 6) == "torch." && serialize::dtype_of_python_name(name.substr(6)).has_value());
}

class Reader {
 public:
  Reader(std::string_view pickle, const std::string& where)
      : tree_(pickle, where, knows), budget_((1 << 20) + pickle.size() * 256) {}

  Metadata read() {
    const Id state = state_of(tree_.root(), kMetadata);
    const Id places = field(state, "storage_data", Kind::Dict);
    read_places(places);
    const Id paths = tree_.find(state, "planner_data");
    const auto& items = tree_[field(state, "state_dict_metadata", Kind::Dict)].items;
    Metadata metadata;
    std::map<std::string_view, Id> path_of;
    for (size_t i = 0; tree_[paths].kind == Kind::Dict && i < tree_[paths].items.size(); i += 2) {
      path_of[text(tree_[paths].items[i])] = tree_[paths].items[i + 1];
    }
    for (size_t i = 0; i < items.size(); i += 2) {
      StoredEntry entry;
      entry.name = text(items[i]);
      const auto path = path_of.find(entry.name);
      entry.path = path == path_of.end() ? Path{entry.name} : read_path(path->second);
      if (tree_[items[i + 1]].text == kBytes) {
        entry.content = bytes_at(entry.name, {});
      } else {
        entry.content = read_tensor(entry.name, items[i + 1]);
      }
      metadata.entries.push_back(std::move(entry));
    }
    return metadata;
  }

 private:
  using Key = std::pair<std::string, std::vector<int64_t>>;

  Id state_of(Id object, std::string_view type) {
    if (tree_[object].kind != Kind::Object || tree_[object].text != type) {
      tree_.fail(
          "where a " + std::string(type) + " must be, there is " +
          (tree_[object].kind == Kind::Object ? tree_[object].text : "something else"));
    }
    return tree_[object].state;
  }
  Id field(Id dict, std::string_view name, Kind kind) {
    const Id id = tree_.find(dict, name);
    if (tree_[id].kind != kind) {
      tree_.fail("field '" + std::string(name) + "' is missing, or of another type");
    }
    return id;
  }
  // What a short pickle can say many times over costs from a budget in proportion to its length.
  void spend(uint64_t work) {
    if (work > budget_) {
      tree_.fail("it says the same too many times over");
    }
    budget_ -= work;
  }
  const std::string& text(Id id) {
    if (tree_[id].kind != Kind::Text) {
      tree_.fail("a name must be a text");
    }
    spend(tree_[id].text.size() + 1);
    return tree_[id].text;
  }
  int64_t size(Id id) {
    if (tree_[id].kind != Kind::Int || tree_[id].number < 0) {
      tree_.fail("a size must be a number that is not negative");
    }
    return tree_[id].number;
  }
  std::vector<int64_t> sizes(Id id) {
    const auto& object = tree_[id];
    const bool is_size = object.kind == Kind::Object && object.text == kSize && object.items.size() == 1;
    const auto& tuple = is_size ? tree_[object.items[0]] : object;
    if (tuple.kind != Kind::Tuple && tuple.kind != Kind::List) {
      tree_.fail("sizes must be a torch.Size");
    }
    spend(tuple.items.size() + 1);
    std::vector<int64_t> result;
    for (const Id item : tuple.items) {
      result.push_back(size(item));
    }
    return result;
  }
  Path read_path(Id id) {
    if (tree_[id].kind != Kind::Tuple) {
      tree_.fail("a path must be a tuple");
    }
    spend(tree_[id].items.size());
    Path path;
    for (const Id item : tree_[id].items) {
      if (tree_[item].kind == Kind::Int) {
        path.emplace_back(tree_[item].number);
      } else {
        path.emplace_back(text(item));
      }
    }
    return path;
  }

  void read_places(Id dict) {
    const auto& items = tree_[dict].items;
    for (size_t i = 0; i < items.size(); i += 2) {
      const Id index = state_of(items[i], kIndex);
      const Id info = state_of(items[i + 1], kStorageInfo);
      const Id transforms = tree_.find(info, "transform_descriptors");
      if (tree_[transforms].kind != Kind::None && !tree_[transforms].items.empty()) {
        tree_.fail(
            "the data is compressed or otherwise transformed, which is not supported: save it without extensions");
      }
      StoredBytes bytes;
      bytes.file = text(tree_.find(info, "relative_path"));
      bytes.offset = size(tree_.find(info, "offset"));
      bytes.length = size(tree_.find(info, "length"));
      if (bytes.file.empty() || bytes.file[0] == '/' || bytes.file.find("..") != std::string::npos) {
        tree_.fail("file '" + bytes.file + "' is outside of the checkpoint");
      }
      const Id offset = tree_.find(index, "offset");
      places_[{
          text(tree_.find(index, "fqn")), tree_[offset].kind == Kind::None ? std::vector<int64_t>() : sizes(offset)}] =
          std::move(bytes);
    }
  }
  StoredBytes bytes_at(const std::string& name, const std::vector<int64_t>& offsets) {
    const auto found = places_.find({name, offsets});
    if (found == places_.end()) {
      tree_.fail("no file is named for " + name);
    }
    return found->second;
  }

  StoredTensor read_tensor(const std::string& name, Id id) {
    const Id state = state_of(id, kTensor);
    StoredTensor tensor;
    const Id properties = state_of(tree_.find(state, "properties"), kProperties);
    const auto& fields = tree_[properties].items;
    if (tree_[properties].kind != Kind::Tuple || fields.size() < 5 || tree_[fields[0]].kind != Kind::Global) {
      tree_.fail("the properties of " + name + " are not a tuple of dtype, layout, and so on");
    }
    const auto dtype = serialize::dtype_of_python_name(std::string_view(tree_[fields[0]].text).substr(6));
    if (!dtype) {
      tree_.fail(name + " has no dtype");
    }
    tensor.dtype = *dtype;
    tensor.requires_grad = tree_[fields[2]].number != 0;
    tensor.sizes = sizes(tree_.find(state, "size"));
    for (const Id item : tree_[field(state, "chunks", Kind::List)].items) {
      const Id chunk_state = state_of(item, kChunk);
      StoredChunk chunk;
      chunk.offsets = sizes(tree_.find(chunk_state, "offsets"));
      chunk.sizes = sizes(tree_.find(chunk_state, "sizes"));
      bool fits = chunk.offsets.size() == tensor.sizes.size() && chunk.sizes.size() == tensor.sizes.size();
      for (size_t d = 0; fits && d < tensor.sizes.size(); ++d) {
        fits = chunk.offsets[d] <= tensor.sizes[d] && chunk.sizes[d] <= tensor.sizes[d] - chunk.offsets[d];
      }
      if (!fits) {
        tree_.fail("a part of " + name + " lies outside of it");
      }
      chunk.bytes = bytes_at(name, chunk.offsets);
      tensor.chunks.push_back(std::move(chunk));
    }
    return tensor;
  }

  PickleTree tree_;
  uint64_t budget_;
  std::map<Key, StoredBytes> places_;
};

class Writer {
 public:
  std::string write(const Metadata& metadata) {
    op(Opcode::Proto);
    out_ += '\4';
    begin(kMetadata);
    key("state_dict_metadata");
    dict([&] {
      for (const auto& entry : metadata.entries) {
        text(entry.name);
        if (const auto* tensor = std::get_if<StoredTensor>(&entry.content)) {
          write_tensor(*tensor);
        } else {
          global(kBytes);
          op(Opcode::EmptyTuple);
          op(Opcode::NewObj);
        }
      }
    });
    key("planner_data");
    dict([&] {
      for (const auto& entry : metadata.entries) {
        text(entry.name);
        op(Opcode::Mark);
        for (const auto& part : entry.path) {
          std::holds_alternative<int64_t>(part) ? number(std::get<int64_t>(part)) : text(std::get<std::string>(part));
        }
        op(Opcode::Tuple);
      }
    });
    key("storage_data");
    dict([&] {
      for (const auto& entry : metadata.entries) {
        if (const auto* tensor = std::get_if<StoredTensor>(&entry.content)) {
          int64_t index = 0;
          for (const auto& chunk : tensor->chunks) {
            write_place(entry.name, chunk.bytes, &chunk.offsets, index++);
          }
        } else {
          write_place(entry.name, std::get<StoredBytes>(entry.content), nullptr, 0);
        }
      }
    });
    key("storage_meta");
    op(Opcode::None);
    key("version");
    text("1.0.0");
    end();
    op(Opcode::Stop);
    return std::move(out_);
  }

 private:
  void op(Opcode opcode) {
    out_.push_back(static_cast<char>(opcode));
  }
  template <class T>
  void raw(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    op(Opcode::BinUnicode);
    raw(static_cast<uint32_t>(value.size()));
    out_ += value;
  }
  void key(std::string_view name) {
    text(name);
  }
  void number(int64_t value) {
    op(Opcode::Long1);
    out_ += '\10';
    raw(value);
  }
  void global(std::string_view name) {
    const size_t dot = name.rfind('.');
    op(Opcode::Global);
    out_.append(name.substr(0, dot)).append("\n").append(name.substr(dot + 1)).append("\n");
  }
  // An object of a class, whose fields follow as key and value up to end().
  void begin(std::string_view type) {
    global(type);
    op(Opcode::EmptyTuple);
    op(Opcode::NewObj);
    op(Opcode::EmptyDict);
    op(Opcode::Mark);
  }
  void end() {
    op(Opcode::SetItems);
    op(Opcode::Build);
  }
  template <class Fill>
  void dict(Fill fill) {
    op(Opcode::EmptyDict);
    op(Opcode::Mark);
    fill();
    op(Opcode::SetItems);
  }
  void numbers(const std::vector<int64_t>& values) {
    op(Opcode::Mark);
    for (const int64_t value : values) {
      number(value);
    }
    op(Opcode::Tuple);
  }
  void size(const std::vector<int64_t>& values) {
    global(kSize);
    numbers(values);
    op(Opcode::Tuple1);
    op(Opcode::Reduce);
  }
  template <class Argument>
  void call(std::string_view function, Argument argument) {
    global(function);
    argument();
    op(Opcode::Tuple1);
    op(Opcode::Reduce);
  }

  void write_tensor(const StoredTensor& tensor) {
    begin(kTensor);
    key("properties");
    global(kProperties);
    op(Opcode::EmptyTuple);
    op(Opcode::NewObj);
    op(Opcode::Mark);
    global("torch." + std::string(serialize::python_dtype(tensor.dtype).value_or("float32")));
    call(kLayout, [&] { text("torch.strided"); });
    op(tensor.requires_grad ? Opcode::NewTrue : Opcode::NewFalse);
    call(kMemoryFormat, [&] { number(0); });
    op(Opcode::NewFalse);
    std::vector<int64_t> strides(tensor.sizes.size(), 1);
    for (size_t d = strides.size(); d-- > 1;) {
      strides[d - 1] = strides[d] * std::max<int64_t>(1, tensor.sizes[d]);
    }
    numbers(strides);
    op(Opcode::Tuple);
    op(Opcode::Build);
    key("size");
    size(tensor.sizes);
    key("chunks");
    op(Opcode::EmptyList);
    op(Opcode::Mark);
    for (const auto& chunk : tensor.chunks) {
      begin(kChunk);
      key("offsets");
      size(chunk.offsets);
      key("sizes");
      size(chunk.sizes);
      end();
    }
    op(Opcode::Appends);
    end();
  }

  void write_place(
      const std::string& name, const StoredBytes& bytes, const std::vector<int64_t>* offsets, int64_t index) {
    begin(kIndex);
    key("fqn");
    text(name);
    key("index");
    offsets ? number(index) : op(Opcode::None);
    key("offset");
    offsets ? size(*offsets) : op(Opcode::None);
    end();
    begin(kStorageInfo);
    key("relative_path");
    text(bytes.file);
    key("offset");
    number(bytes.offset);
    key("length");
    number(bytes.length);
    end();
  }

  std::string out_;
};

} // namespace

const StoredEntry* Metadata::find(const std::string& name) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const StoredEntry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

std::string write_metadata(const Metadata& metadata) {
  return Writer().write(metadata);
}

Metadata read_metadata(std::string_view pickle, const std::string& where) {
  return Reader(pickle, where).read();
}

} // namespace torch::distributed::checkpoint
