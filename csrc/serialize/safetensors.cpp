// The format: 8 bytes of header length, little-endian; the JSON header; the tensors' bytes. Facts from
// https://huggingface.co/docs/safetensors.
#include <csrc/serialize/safetensors.h>

#include <csrc/serialize/byte_sink.h>
#include <csrc/serialize/file_bytes.h>
#include <csrc/serialize/safetensors_header.h>
#include <csrc/serialize/tensor_file.h>
#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace torch::serialize {

namespace {

using c10::ScalarType;
using Header = SafetensorsHeader;

// The limit of the reference implementation.
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr size_t kHeaderAlignment = 64;

struct DtypeName {
  ScalarType dtype;
  std::string_view name;
};

constexpr DtypeName kDtypes[] = {
    {ScalarType::Float, "F32"},
    {ScalarType::Half, "F16"},
    {ScalarType::BFloat16, "BF16"},
    {ScalarType::Double, "F64"},
    {ScalarType::Long, "I64"},
    {ScalarType::Int, "I32"},
    {ScalarType::Short, "I16"},
    {ScalarType::Char, "I8"},
    {ScalarType::Byte, "U8"},
    {ScalarType::UInt16, "U16"},
    {ScalarType::UInt32, "U32"},
    {ScalarType::UInt64, "U64"},
    {ScalarType::Bool, "BOOL"},
    {ScalarType::ComplexFloat, "C64"},
    {ScalarType::Float8_e4m3fn, "F8_E4M3"},
    {ScalarType::Float8_e5m2, "F8_E5M2"},
    {ScalarType::Float8_e4m3fnuz, "F8_E4M3FNUZ"},
    {ScalarType::Float8_e5m2fnuz, "F8_E5M2FNUZ"},
    {ScalarType::Float8_e8m0fnu, "F8_E8M0"},
};

std::string supported_dtypes() {
  std::string names;
  for (const DtypeName& row : kDtypes) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

ScalarType dtype_named(const Header::Tensor& tensor, const std::string& where) {
  for (const DtypeName& row : kDtypes) {
    if (row.name == tensor.dtype) {
      return row.dtype;
    }
  }
  TORCH_CHECK(
      false, where, ", tensor '", tensor.name, "': dtype '", tensor.dtype,
      "' is not supported; supported: ", supported_dtypes());
}

void check_size(const Header::Tensor& tensor, ScalarType dtype, const std::string& where) {
  uint64_t bytes = c10::elementSize(dtype);
  bool overflow = false;
  for (const int64_t size : tensor.shape) {
    overflow |= __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes);
  }
  TORCH_CHECK(
      !overflow && tensor.begin <= tensor.end && bytes == tensor.end - tensor.begin, where, ", tensor '", tensor.name,
      "': ", tensor.dtype,
      fmt::format(" of shape [{}] with data_offsets [{}, {}]", fmt::join(tensor.shape, ", "), tensor.begin, tensor.end),
      ": the offsets must span ", overflow ? "more bytes than can be counted" : fmt::format("{} bytes", bytes));
}

Safetensors read(const FileBytes& bytes, const LoadOptions& options) {
  const std::string where = "safetensors " + bytes.name();
  uint64_t header_size = 0;
  TORCH_CHECK(bytes.size() >= sizeof header_size, where, " has ", bytes.size(), " bytes: the header's length takes 8");
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  TORCH_CHECK(
      header_size <= kMaxHeader && header_size <= bytes.size() - 8, where, " (", bytes.size(),
      " bytes) has a header of ", header_size, " bytes: it must fit into the file, and into ", kMaxHeader,
      " bytes. The file is damaged or no safetensors file");
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + 8, header_size);
  TORCH_CHECK(!json.empty() && json[0] == '{', where, ": the header must begin with '{' at offset 8");
  Header header = parse_safetensors_header(json, where);

  std::sort(header.tensors.begin(), header.tensors.end(), [](const Header::Tensor& a, const Header::Tensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  const uint64_t data_start = 8 + header_size, data_size = bytes.size() - data_start;
  uint64_t reached = 0;
  Safetensors file;
  for (const Header::Tensor& tensor : header.tensors) {
    const ScalarType dtype = dtype_named(tensor, where);
    check_size(tensor, dtype, where);
    TORCH_CHECK(
        tensor.begin == reached && tensor.end <= data_size, where, ", tensor '", tensor.name,
        "' lies at data_offsets [", tensor.begin, ", ", tensor.end, "]: it must begin at ", reached,
        ", where the one before ends, and end within the ", data_size, " bytes of data");
    reached = tensor.end;
    const c10::Storage storage =
        bytes.storage(data_start + tensor.begin, tensor.end - tensor.begin, c10::elementSize(dtype));
    at::Tensor value = at::empty({0}, at::TensorOptions(dtype));
    value.set_(storage, 0, tensor.shape);
    file.tensors.insert(tensor.name, options.device ? value.to(*options.device) : value);
  }
  TORCH_CHECK(
      reached == data_size, where, " has ", data_size, " bytes of data, but its tensors take ", reached,
      ": the file must end with its last tensor");
  for (const auto& [name, text] : header.metadata) {
    file.metadata.insert(name, text);
  }
  return file;
}

std::string_view name_of(const std::string& tensor, ScalarType dtype) {
  for (const DtypeName& row : kDtypes) {
    if (row.dtype == dtype) {
      return row.name;
    }
  }
  TORCH_CHECK(
      false, "save_safetensors: tensor '", tensor, "' has dtype ", dtype,
      ", which the format does not know; supported: ", supported_dtypes(),
      dtype == ScalarType::ComplexDouble ? ". Save torch::view_as_real(tensor) instead" : "");
}

} // namespace

Safetensors load_safetensors(const std::string& filename, const LoadOptions& options) {
  return read(options.map ? FileBytes::map(filename) : FileBytes::read(filename), options);
}

Safetensors load_safetensors(const void* data, size_t size, const LoadOptions& options) {
  return read(FileBytes::view(data, size), options);
}

void save_safetensors(
    const c10::Dict<std::string, at::Tensor>& tensors,
    const std::string& filename,
    const c10::Dict<std::string, std::string>& metadata) {
  struct Source {
    std::string name;
    at::Tensor tensor;
  };
  std::vector<Source> sources;
  for (const auto& entry : tensors) {
    const std::string name = entry.key();
    const at::Tensor tensor = entry.value();
    TORCH_CHECK(
        name != "__metadata__", "save_safetensors: '__metadata__' is not a name for a tensor: pass metadata apart");
    TORCH_CHECK(
        tensor.defined() && tensor.layout() == c10::kStrided && !tensor.is_meta(), "save_safetensors: tensor '", name,
        "' must be dense and have data");
    sources.push_back(Source{name, tensor});
  }
  // Wide elements first, so that every tensor is aligned to its elements.
  std::stable_sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) {
    return a.tensor.itemsize() > b.tensor.itemsize();
  });

  Header header;
  for (const auto& entry : metadata) {
    header.metadata.emplace_back(entry.key(), entry.value());
  }
  uint64_t offset = 0;
  for (const Source& source : sources) {
    const std::string dtype(name_of(source.name, source.tensor.scalar_type()));
    const uint64_t end = offset + source.tensor.nbytes();
    header.tensors.push_back(Header::Tensor{source.name, dtype, source.tensor.sizes().vec(), offset, end});
    offset = end;
  }
  std::string json = print_safetensors_header(header);
  json.resize((json.size() + 8 + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment - 8, ' ');
  TORCH_CHECK(
      json.size() <= kMaxHeader, "save_safetensors: the header has ", json.size(), " bytes, at most ", kMaxHeader,
      " are allowed");

  AtomicFile file(filename);
  const uint64_t header_size = json.size();
  file.write(&header_size, sizeof header_size);
  file.write(json.data(), json.size());
  for (const Source& source : sources) {
    const at::Tensor local = source.tensor.detach().resolve_conj().resolve_neg().cpu().contiguous();
    file.write(local.const_data_ptr(), local.nbytes());
  }
  file.commit();
}

} // namespace torch::serialize
