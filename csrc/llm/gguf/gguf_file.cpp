#include <csrc/llm/gguf/gguf_file.h>

#include <csrc/llm/gguf/blocks.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace torch::llm {

/// Kinds of values in metadata, with the numbers of the format.
enum class GgufValueKind : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

namespace {

constexpr size_t kMaxDimensions = 8;

size_t bytes_of_kind(GgufValueKind kind) {
  switch (kind) {
    case GgufValueKind::U8:
    case GgufValueKind::I8:
    case GgufValueKind::Bool:
      return 1;
    case GgufValueKind::U16:
    case GgufValueKind::I16:
      return 2;
    case GgufValueKind::U32:
    case GgufValueKind::I32:
    case GgufValueKind::F32:
      return 4;
    default:
      return 8; // at least, for a string its length
  }
}

template <class T>
const T& value_as(const GgufValue& value, std::string_view key, const char* wanted) {
  const T* const found = std::get_if<T>(&value);
  TORCH_CHECK(found, "GGUF: '", key, "' must be ", wanted);
  return *found;
}

} // namespace

/// Reads a file front to back; each read is checked against what is left.
class GgufReader {
 public:
  static GgufFile read(serialize::FileBytes bytes) {
    GgufFile file(std::move(bytes));
    GgufReader(file).run();
    return file;
  }

 private:
  explicit GgufReader(GgufFile& file) : file_(file) {}

  void run() {
    TORCH_CHECK(
        size() >= 24 && std::memcmp(data(), "GGUF", 4) == 0, name(), " is no GGUF file: it does not begin with 'GGUF'");
    position_ = 4;
    const auto version = take<uint32_t>();
    TORCH_CHECK(version == 2 || version == 3, name(), " has version ", version, "; supported: 2 and 3, little-endian");
    const auto tensors = take<uint64_t>(), values = take<uint64_t>();
    // The least that a value or a tensor takes, so that no count makes work that the file does not hold.
    check_room(values, 13);
    for (uint64_t i = 0; i < values; ++i) {
      read_value();
    }
    check_room(tensors, 24);
    for (uint64_t i = 0; i < tensors; ++i) {
      read_tensor();
    }
    place_tensors();
  }

  const uint8_t* data() const {
    return file_.bytes_.data();
  }
  size_t size() const {
    return file_.bytes_.size();
  }
  const std::string& name() const {
    return file_.bytes_.name();
  }

  void check_room(uint64_t count, size_t bytes_each) const {
    TORCH_CHECK(
        count <= (size() - position_) / bytes_each, name(), ": ", count, " entries at byte ", position_,
        " do not fit into the ", size() - position_, " bytes that follow");
  }
  template <class T>
  T take() {
    check_room(1, sizeof(T));
    T value{};
    std::memcpy(&value, data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }
  std::string take_text() {
    const auto length = take<uint64_t>();
    check_room(length, 1);
    std::string text(reinterpret_cast<const char*>(data()) + position_, length);
    position_ += length;
    return text;
  }

  int64_t take_integer(GgufValueKind kind) {
    switch (kind) {
      case GgufValueKind::U8:
      case GgufValueKind::Bool:
        return take<uint8_t>();
      case GgufValueKind::I8:
        return take<int8_t>();
      case GgufValueKind::U16:
        return take<uint16_t>();
      case GgufValueKind::I16:
        return take<int16_t>();
      case GgufValueKind::U32:
        return take<uint32_t>();
      case GgufValueKind::I32:
        return take<int32_t>();
      default: {
        const auto value = take<uint64_t>();
        TORCH_CHECK(
            kind == GgufValueKind::I64 || value <= INT64_MAX, name(), ": the number ", value,
            " does not fit into 63 bits");
        return static_cast<int64_t>(value);
      }
    }
  }
  double take_float(GgufValueKind kind) {
    return kind == GgufValueKind::F32 ? take<float>() : take<double>();
  }

  GgufValue take_array() {
    const auto kind = static_cast<GgufValueKind>(take<uint32_t>());
    TORCH_CHECK(
        kind <= GgufValueKind::F64 && kind != GgufValueKind::Array, name(), ": arrays of type ",
        static_cast<uint32_t>(kind), " are not supported");
    const auto count = take<uint64_t>();
    check_room(count, bytes_of_kind(kind));
    const auto fill = [&](auto values, auto take_one) {
      values.reserve(count);
      for (uint64_t i = 0; i < count; ++i) {
        values.push_back(take_one());
      }
      return GgufValue(std::move(values));
    };
    if (kind == GgufValueKind::String) {
      return fill(std::vector<std::string>(), [this] { return take_text(); });
    }
    if (kind == GgufValueKind::F32 || kind == GgufValueKind::F64) {
      return fill(std::vector<double>(), [&] { return take_float(kind); });
    }
    return fill(std::vector<int64_t>(), [&] { return take_integer(kind); });
  }

  void read_value() {
    std::string key = take_text();
    const auto kind = static_cast<GgufValueKind>(take<uint32_t>());
    TORCH_CHECK(
        kind <= GgufValueKind::F64, name(), ": '", key.substr(0, 100), "' has the unknown type ",
        static_cast<uint32_t>(kind));
    GgufValue value = kind == GgufValueKind::Array                 ? take_array()
        : kind == GgufValueKind::String                            ? GgufValue(take_text())
        : kind == GgufValueKind::Bool                              ? GgufValue(take<uint8_t>() != 0)
        : kind == GgufValueKind::F32 || kind == GgufValueKind::F64 ? GgufValue(take_float(kind))
                                                                   : GgufValue(take_integer(kind));
    const bool is_new = file_.metadata_.emplace(key, std::move(value)).second;
    TORCH_CHECK(is_new, name(), ": '", key.substr(0, 100), "' is there twice");
  }

  void read_tensor() {
    GgufTensor tensor;
    tensor.name = take_text();
    const auto dimensions = take<uint32_t>();
    TORCH_CHECK(
        dimensions <= kMaxDimensions, name(), ": tensor '", tensor.name.substr(0, 100), "' has ", dimensions,
        " dimensions; at most ", kMaxDimensions, " are supported");
    for (uint32_t i = 0; i < dimensions; ++i) {
      const auto length = take<uint64_t>();
      TORCH_CHECK(length <= INT64_MAX, name(), ": tensor '", tensor.name.substr(0, 100), "' has a size of ", length);
      tensor.sizes.push_back(static_cast<int64_t>(length));
    }
    tensor.type = static_cast<GgufType>(take<uint32_t>());
    tensor.offset = take<uint64_t>();
    tensor.nbytes = nbytes_of(tensor); // sizes are still innermost first
    std::reverse(tensor.sizes.begin(), tensor.sizes.end());
    const bool is_new = file_.by_name_.emplace(tensor.name, file_.tensors_.size()).second;
    TORCH_CHECK(is_new, name(), ": tensor '", tensor.name.substr(0, 100), "' is there twice");
    file_.tensors_.push_back(std::move(tensor));
  }

  size_t nbytes_of(const GgufTensor& tensor) const {
    const GgufBlock block = gguf_block(tensor.type);
    TORCH_CHECK(
        block.elements > 0, name(), ": tensor '", tensor.name.substr(0, 100), "' has type ",
        static_cast<uint32_t>(tensor.type),
        ", which is not supported; supported: F32, F16, BF16, Q4_0, Q4_1, Q5_0, "
        "Q5_1, Q8_0, Q4_K, Q5_K, Q6_K");
    const auto row = static_cast<uint64_t>(tensor.sizes.empty() ? 1 : tensor.sizes[0]);
    TORCH_CHECK(
        row % block.elements == 0, name(), ": tensor '", tensor.name.substr(0, 100), "' has rows of ", row,
        " elements; ", gguf_type_name(tensor.type), " needs a multiple of ", block.elements);
    uint64_t nbytes = row / block.elements * block.bytes;
    bool overflows = row / block.elements > size();
    for (size_t i = 1; i < tensor.sizes.size() && !overflows; ++i) {
      overflows = __builtin_mul_overflow(nbytes, static_cast<uint64_t>(tensor.sizes[i]), &nbytes);
    }
    TORCH_CHECK(
        !overflows && nbytes <= size(), name(), ": tensor '", tensor.name.substr(0, 100),
        "' needs more bytes than the ", size(), " of the file");
    return nbytes;
  }

  /// Data begins at the next multiple of the alignment.
  void place_tensors() {
    const int64_t alignment = file_.integer("general.alignment", 32);
    TORCH_CHECK(
        alignment > 0 && alignment <= (1 << 20) && std::has_single_bit(static_cast<uint64_t>(alignment)), name(),
        ": general.alignment is ", alignment, "; it must be a power of two up to 2^20");
    const auto step = static_cast<size_t>(alignment);
    const size_t begin = (position_ + step - 1) / step * step;
    for (GgufTensor& tensor : file_.tensors_) {
      const bool fits = begin <= size() && tensor.offset <= size() - begin &&
          tensor.nbytes <= size() - begin - tensor.offset && tensor.offset % step == 0;
      TORCH_CHECK(
          fits || tensor.nbytes == 0, name(), ": tensor '", tensor.name.substr(0, 100), "' at offset ", tensor.offset,
          " with ", tensor.nbytes, " bytes does not lie inside the file at a multiple of ", step);
      tensor.offset = tensor.nbytes == 0 ? 0 : tensor.offset + begin;
    }
  }

  GgufFile& file_;
  size_t position_ = 0;
};

GgufFile GgufFile::open(const std::string& path) {
  return GgufReader::read(serialize::FileBytes::map(path));
}

GgufFile GgufFile::from_bytes(std::string_view bytes) {
  return GgufReader::read(serialize::FileBytes::view(bytes.data(), bytes.size()));
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

int64_t GgufFile::integer(std::string_view key, int64_t fallback) const {
  const GgufValue* const value = find(key);
  return value ? value_as<int64_t>(*value, key, "an integer") : fallback;
}

bool GgufFile::flag(std::string_view key, bool fallback) const {
  const GgufValue* const value = find(key);
  return value ? value_as<bool>(*value, key, "a boolean") : fallback;
}

std::string GgufFile::text(std::string_view key, std::string fallback) const {
  const GgufValue* const value = find(key);
  return value ? value_as<std::string>(*value, key, "a string") : std::move(fallback);
}

std::vector<std::string> GgufFile::texts(std::string_view key) const {
  const GgufValue* const value = find(key);
  return value ? value_as<std::vector<std::string>>(*value, key, "an array of strings") : std::vector<std::string>();
}

std::vector<int64_t> GgufFile::integers(std::string_view key) const {
  const GgufValue* const value = find(key);
  return value ? value_as<std::vector<int64_t>>(*value, key, "an array of integers") : std::vector<int64_t>();
}

std::vector<double> GgufFile::numbers(std::string_view key) const {
  const GgufValue* const value = find(key);
  return value ? value_as<std::vector<double>>(*value, key, "an array of floats") : std::vector<double>();
}

bool GgufFile::has_tensor(std::string_view name) const {
  return by_name_.find(name) != by_name_.end();
}

const GgufTensor& GgufFile::tensor_info(std::string_view name) const {
  const auto found = by_name_.find(name);
  TORCH_CHECK(found != by_name_.end(), bytes_.name(), " has no tensor '", name, "'");
  return tensors_[found->second];
}

bool GgufFile::is_quantized(std::string_view name) const {
  return gguf_codes(tensor_info(name).type).group > 0;
}

at::Tensor GgufFile::tensor(std::string_view name) const {
  const GgufTensor& info = tensor_info(name);
  TORCH_CHECK(
      !is_quantized(name), "GGUF: tensor '", name, "' is stored as ", gguf_type_name(info.type),
      "; read it with dequantized()");
  const at::ScalarType dtype = info.type == GgufType::F32 ? at::kFloat
      : info.type == GgufType::F16                        ? at::kHalf
                                                          : at::kBFloat16;
  at::Tensor out = at::empty({0}, dtype);
  out.set_(bytes_.storage(info.offset, info.nbytes, c10::elementSize(dtype)), 0, info.sizes);
  return out;
}

at::Tensor GgufFile::dequantized(std::string_view name) const {
  const GgufTensor& info = tensor_info(name);
  at::Tensor out = at::empty(info.sizes, at::kFloat);
  const GgufBlock block = gguf_block(info.type);
  dequantize_blocks(info.type, bytes_.data() + info.offset, info.nbytes / block.bytes, out.data_ptr<float>());
  return out;
}

WeightCodes GgufFile::codes(std::string_view name) const {
  const GgufTensor& info = tensor_info(name);
  const GgufCodeFormat format = gguf_codes(info.type);
  TORCH_CHECK(
      format.group > 0, "GGUF: tensor '", name, "' is stored as ", gguf_type_name(info.type), ", which has no codes");
  WeightCodes out{at::empty(info.sizes, at::kChar), {}, {}, format.bits, static_cast<int64_t>(format.group)};
  std::vector<int64_t> groups = info.sizes;
  groups.back() /= out.group_size;
  out.scales = at::empty(groups, at::kFloat);
  if (format.has_offsets) {
    out.offsets = at::empty(groups, at::kFloat);
  }
  unpack_blocks(
      info.type, bytes_.data() + info.offset, info.nbytes / gguf_block(info.type).bytes,
      out.codes.mutable_data_ptr<int8_t>(), out.scales.mutable_data_ptr<float>(),
      format.has_offsets ? out.offsets.mutable_data_ptr<float>() : nullptr);
  if (format.bits == 4 && format.has_offsets) {
    out.codes.sub_(8);
    out.offsets.add_(out.scales, 8);
  }
  return out;
}

} // namespace torch::llm
