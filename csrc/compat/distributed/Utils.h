// What backends need again and again: checks of lists of tensors, flat tensors, variables of the environment, sockets.
#pragma once

#include <aten/Functions.h>
#include <aten/core/DeprecatedTypeProperties.h>
#include <c10/util/Exception.h>
#include <c10/util/env.h>
#include <c10/util/irange.h>
#include <csrc/compat/c10/util/error.h>
#include <csrc/distributed/c10d/Types.h>

#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace c10d {

/// What a check calls with the fault; expected to throw.
using Fault = std::function<void(const std::string&)>;
using RankType = uint32_t;
using SizeType = uint64_t;

TORCH_API size_t getTensorsNumel(const std::vector<at::Tensor>& tensors);
/// The sizes of each, as a tensor.
TORCH_API std::vector<at::Tensor> getTensorShapes(const std::vector<at::Tensor>& tensors);
/// Of ranks at even distances: the first, and the distance. Else the start of what can be said: -1 and 0.
TORCH_API void getGlobalRankStartAndStride(
    const std::vector<uint64_t>& globalRanksInGroup, int& globalRankStart, int& globalRankStride);

#define C10D_ENV_NOT_SET -2

// ---- text ----

template <class T>
inline std::string toString(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}
/// "(2, 3)".
inline std::string toString(at::IntArrayRef sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
  }
  return text + ")";
}
inline std::string toString(const std::vector<int64_t>& sizes) {
  return toString(at::IntArrayRef(sizes));
}
inline std::vector<std::string> split(char separator, const std::string& string) {
  std::vector<std::string> pieces;
  std::istringstream rest(string);
  for (std::string piece; std::getline(rest, piece, separator);) {
    pieces.push_back(piece);
  }
  return pieces;
}

// ---- variables of the environment: the first name is the one to use, others are older ----

/// The value of the first name that is set, or `def`.
TORCH_API std::string getCvarString(const std::vector<std::string>& env, const char* def);
TORCH_API int getCvarInt(const std::vector<std::string>& env, int def);
/// y, yes, t, true or 1; n, no, f, false or 0.
TORCH_API bool getCvarBool(const std::vector<std::string>& env, bool def);

// ---- checks ----

inline void assertSameType(const at::DeprecatedTypeProperties& type, const std::vector<at::Tensor>& tensors) {
  for (const auto& tensor : tensors) {
    TORCH_CHECK_VALUE(
        tensor.options().type_equal(type.options()), "mixed types (", type.toString(), " and ", tensor.toString(), ")");
  }
}
inline void assertSameSizes(const at::IntArrayRef& sizes, const std::vector<at::Tensor>& tensors) {
  for (const auto& tensor : tensors) {
    TORCH_CHECK_VALUE(
        tensor.sizes().equals(sizes), "mixed sizes (", toString(sizes), " and ", toString(tensor.sizes()), ")");
  }
}
inline void assertSameSizeAndType(const std::vector<at::Tensor>& tensors) {
  TORCH_CHECK_VALUE(!tensors.empty(), "argument is empty");
  for (const auto& tensor : tensors) {
    TORCH_CHECK_VALUE(
        tensor.options().type_equal(tensors[0].options()), "argument contains mixed types (",
        toString(tensors[0].options()), " and ", toString(tensor.options()), ")");
    TORCH_CHECK_VALUE(
        tensor.sizes().equals(tensors[0].sizes()), "argument contains mixed types (", toString(tensors[0].sizes()),
        " and ", toString(tensor.sizes()), ")");
  }
}
inline void assertTypeMatch(
    const Fault& fn, const at::TensorOptions& options, const at::ArrayRef<at::Tensor> tensors, size_t index) {
  if (!tensors[index].options().type_equal(options)) {
    fn("invalid tensor type at index " + std::to_string(index) + " (expected " + toString(options) + ", got " +
       toString(tensors[index].options()) + ")");
  }
}
inline void assertTypeMatch(
    const Fault& fn, const at::DeprecatedTypeProperties& type, const at::ArrayRef<at::Tensor> tensors, size_t index) {
  assertTypeMatch(fn, type.options(), tensors, index);
}
inline void assertSizesMatch(
    const Fault& fn, const at::IntArrayRef& sizes, const at::ArrayRef<at::Tensor> tensors, size_t index) {
  if (tensors[index].sizes() != sizes) {
    fn("invalid tensor size at index " + std::to_string(index) + " (expected " + toString(sizes) + ", got " +
       toString(tensors[index].sizes()) + ")");
  }
}
inline void assertLayoutMatch(
    const Fault& fn, const c10::Layout& expected, const at::ArrayRef<at::Tensor> tensors, size_t index) {
  if (tensors[index].layout() != expected) {
    fn("invalid tensor layout at index " + std::to_string(index) + " (expected " + toString(expected) + ", got " +
       toString(tensors[index].layout()) + ")");
  }
}
inline void assertLayoutMatch(const Fault& fn, const at::ArrayRef<at::Tensor> tensors) {
  for (size_t i = 1; i < tensors.size(); ++i) {
    assertLayoutMatch(fn, tensors[0].layout(), tensors, i);
  }
}
inline void assertNonEmpty(const Fault& fn, const at::ArrayRef<at::Tensor> tensors) {
  if (tensors.empty()) {
    fn("requires non-empty tensor list");
  }
}
inline void assertSingleElement(const Fault& fn, const at::ArrayRef<at::Tensor> tensors) {
  if (tensors.size() != 1) {
    fn("requires a single-element tensor list");
  }
}
inline void assertSingleElementInput(const Fault& fn, const at::ArrayRef<at::Tensor> tensors) {
  if (tensors.size() != 1) {
    fn("requires a single-element input tensor list");
  }
}
inline void assertSingleElementOutput(const Fault& fn, const at::ArrayRef<at::Tensor> tensors) {
  if (tensors.size() != 1) {
    fn("requires a single-element output tensor list");
  }
}
inline void assertRootRank(const Fault& fn, int64_t rank, int64_t size) {
  if (rank < 0 || rank >= size) {
    fn("invalid root rank: " + std::to_string(rank));
  }
}
inline void assertRootTensor(const Fault& fn, int64_t rank, int64_t size) {
  if (rank < 0 || rank >= size) {
    fn("invalid root tensor: " + std::to_string(rank));
  }
}
namespace detail {
inline void assert_list_for_each_rank(
    const Fault& fn, const char* what, const std::vector<std::vector<at::Tensor>>& lists, int64_t size) {
  if (lists.size() != 1) {
    fn(std::string("requires a single-element ") + what + " list containing a list with " + std::to_string(size) +
       " tensors.");
  } else if (lists[0].size() != static_cast<size_t>(size)) {
    fn(std::string("Incorrect ") + what + " list size " + std::to_string(lists[0].size()) + ". The " + what +
       " list size should be " + std::to_string(size) + ", same as size of the process group.");
  }
}
} // namespace detail
inline void assertGatherOutputTensorList(
    const Fault& fn, const std::vector<std::vector<at::Tensor>>& outputTensors, int64_t size) {
  detail::assert_list_for_each_rank(fn, "output", outputTensors, size);
}
inline void assertScatterInputTensorList(
    const Fault& fn, const std::vector<std::vector<at::Tensor>>& inputTensors, int64_t size) {
  detail::assert_list_for_each_rank(fn, "input", inputTensors, size);
}
template <typename TensorList>
inline void assertEmptyOutputTensorList(const Fault& fn, const TensorList& outputTensors) {
  if (!outputTensors.empty()) {
    fn("requires empty output on non-root");
  }
}
template <typename TensorList>
inline void assertEmptyInputTensorList(const Fault& fn, const TensorList& inputTensors) {
  if (!inputTensors.empty()) {
    fn("requires empty input on non-root");
  }
}
inline void assertNonEmptyInputTensorList(const Fault& fn, size_t inputTensorListSize) {
  if (inputTensorListSize == 0) {
    fn("requires non-empty input tensor list");
  }
}
inline void assertInputOutputTensorListsSameSize(
    const Fault& fn, size_t outputTensorListSize, size_t inputTensorListSize) {
  if (outputTensorListSize != inputTensorListSize) {
    fn("requires input/output tensor lists to have the same length");
  }
}
inline void assertInputTensorListSizeEqualsWorldSize(const Fault& fn, size_t inputTensorListSize, int64_t worldSize) {
  if (inputTensorListSize != static_cast<size_t>(worldSize)) {
    fn("invalid input tensor list size, must be world size");
  }
}
inline void assertAllgatherCoalescedOutputTensorLists(
    const Fault& fn,
    const std::vector<std::vector<at::Tensor>>& outputTensorLists,
    size_t inputTensorListSize,
    int64_t worldSize) {
  if (outputTensorLists.size() != static_cast<size_t>(worldSize)) {
    fn("output lists should be equal to world size");
  }
  for (const auto& list : outputTensorLists) {
    if (list.size() != inputTensorListSize) {
      fn("invalid output size: (expected length " + std::to_string(inputTensorListSize) + ", got " +
         std::to_string(list.size()) + ")");
    }
  }
}
inline void assertAllToAllTensorListSizes(
    const Fault& fn, size_t outputTensorListSize, size_t inputTensorListSize, int64_t worldSize) {
  const auto check = [&](const char* what, size_t size) {
    if (size != static_cast<size_t>(worldSize)) {
      fn(std::string(what) + " tensor list size " + std::to_string(size) + " does not match world size " +
         std::to_string(worldSize));
    }
  };
  check("input", inputTensorListSize);
  check("output", outputTensorListSize);
}
inline void assertDense(const Fault& fn, const at::ArrayRef<at::Tensor> tensors) {
  if (tensors[0].layout() != at::kStrided) {
    fn("only supports dense tensors");
  }
}
inline void assertCPU(const Fault& fn, const at::ArrayRef<at::Tensor> tensors) {
  if (tensors[0].device().type() != at::kCPU) {
    fn("only supports CPU tensors");
  }
}
inline void assertSameDevice(const Fault& fn, const at::ArrayRef<at::Tensor> tensors) {
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i].device() != tensors[0].device()) {
      fn("tensors should be on the same device");
    }
  }
}
template <class Type>
inline void assertTypeAndSizesMatch(
    const Fault& fn, const at::ArrayRef<at::Tensor> tensors, const Type& type, const at::IntArrayRef& sizes) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    assertTypeMatch(fn, type, tensors, i);
    assertSizesMatch(fn, sizes, tensors, i);
  }
}
inline void assertTypeAndSizesMatch(const Fault& fn, const at::ArrayRef<at::Tensor> tensors) {
  assertTypeAndSizesMatch(fn, tensors.slice(1), tensors[0].options(), tensors[0].sizes());
}
inline void checkSplitSizes(const std::vector<int64_t>& split_sizes, const at::Tensor& tensor, int group_size) {
  for (const int64_t size : split_sizes) {
    TORCH_CHECK(size >= 0, "Split sizes must be non-negative");
  }
  if (split_sizes.empty()) {
    TORCH_CHECK(tensor.size(0) % group_size == 0, "Tensor's dim 0 does not divide equally across group size");
    return;
  }
  TORCH_CHECK(split_sizes.size() == static_cast<size_t>(group_size), "Number of tensor splits not equal to group size");
  TORCH_CHECK(
      std::accumulate(split_sizes.begin(), split_sizes.end(), int64_t(0)) == tensor.size(0),
      "Split sizes doesn't match total dim 0 size");
}

// ---- tensors ----

template <typename F, typename T>
inline auto fmap(T& inputs, const F& fn) -> std::vector<decltype(fn(*inputs.begin()))> {
  std::vector<decltype(fn(*inputs.begin()))> results;
  results.reserve(inputs.size());
  for (auto& input : inputs) {
    results.push_back(fn(input));
  }
  return results;
}
/// All elements one behind the other.
inline at::Tensor flattenDenseTensors(at::TensorList tensors) {
  const auto flat = [](const at::Tensor& tensor) { return tensor.contiguous().view({-1}); };
  return tensors.size() == 1 ? flat(tensors[0]) : at::cat(::c10d::fmap(tensors, flat));
}
/// Room for all tensors of a list, each like the first.
inline at::Tensor newLikeFlat(std::vector<at::Tensor>& tensors) {
  TORCH_CHECK(!tensors.empty(), "Received an empty list");
  std::vector<int64_t> sizes{static_cast<int64_t>(tensors.size())};
  sizes.insert(sizes.end(), tensors[0].sizes().begin(), tensors[0].sizes().end());
  return at::empty(sizes, tensors[0].options());
}
/// The same for the list of one device, with the strides of its tensors.
inline at::Tensor newLikeFlat(std::vector<std::vector<at::Tensor>>& tensors, size_t deviceIdx) {
  TORCH_CHECK(!tensors.empty() && !tensors[0].empty(), "Received an empty list");
  TORCH_CHECK(deviceIdx < tensors.size(), "Invalid device index");
  const auto& list = tensors[deviceIdx];
  for (const auto& tensor : list) {
    TORCH_CHECK(tensor.device() == list[0].device(), "Expecting all tensors on the same device");
  }
  std::vector<int64_t> sizes{static_cast<int64_t>(list.size())};
  std::vector<int64_t> strides{list[0].numel()};
  sizes.insert(sizes.end(), list[0].sizes().begin(), list[0].sizes().end());
  strides.insert(strides.end(), list[0].strides().begin(), list[0].strides().end());
  return at::empty_strided(sizes, strides, list[0].options());
}
inline std::vector<std::vector<int64_t>> getSizes(const std::vector<at::Tensor>& tensors) {
  return ::c10d::fmap(tensors, [](const at::Tensor& tensor) { return tensor.sizes().vec(); });
}
/// Numbers of CUDA devices; -1 elsewhere.
inline std::vector<int> getDevices(const std::vector<at::Tensor>& tensors) {
  return ::c10d::fmap(tensors, [](const at::Tensor& tensor) {
    return tensor.is_cuda() ? static_cast<int>(tensor.device().index()) : -1;
  });
}
template <typename T>
inline T* getDataPointer(const at::Tensor& tensor) {
  return static_cast<T*>(tensor.data_ptr());
}
template <typename T>
std::vector<T*> getDataPointers(const std::vector<at::Tensor>& tensors) {
  return ::c10d::fmap(tensors, [](const at::Tensor& tensor) { return getDataPointer<T>(tensor); });
}
/// Elements to each rank and where they begin; their sum.
template <typename T>
size_t computeLengthsAndOffsets(
    const std::vector<int64_t>& split_sizes,
    const at::Tensor& tensor,
    std::vector<T>* lengths,
    std::vector<T>* offsets) {
  const int64_t rows = tensor.size(0);
  const int64_t row = rows != 0 ? tensor.numel() / rows : 1;
  size_t offset = 0;
  for (size_t i = 0; i < lengths->size(); ++i) {
    const int64_t n = split_sizes.empty() ? rows / static_cast<int64_t>(lengths->size()) : split_sizes[i];
    (*lengths)[i] = static_cast<T>(row * n);
    (*offsets)[i] = static_cast<T>(offset);
    offset += static_cast<size_t>(row * n);
  }
  return offset;
}
template <typename T>
size_t computeLengthsAndOffsets(
    const std::vector<at::Tensor>& tensors, std::vector<T>* lengths, std::vector<T>* offsets) {
  size_t offset = 0;
  for (size_t i = 0; i < lengths->size(); ++i) {
    (*lengths)[i] = static_cast<T>(tensors[i].numel());
    (*offsets)[i] = static_cast<T>(offset);
    offset += static_cast<size_t>(tensors[i].numel());
  }
  return offset;
}

} // namespace c10d

// Calls again what a signal has interrupted; throws DistNetworkError for other failures.
#define SYSCHECK(expr, success_cond)                                   \
  while (true) {                                                       \
    auto __output = (expr);                                            \
    (void)__output;                                                    \
    if (success_cond) {                                                \
      break;                                                           \
    }                                                                  \
    if (errno == EAGAIN || errno == EWOULDBLOCK) {                     \
      C10_THROW_ERROR(DistNetworkError, "Socket Timeout");             \
    }                                                                  \
    if (errno != EINTR) {                                              \
      C10_THROW_ERROR(DistNetworkError, c10::utils::str_error(errno)); \
    }                                                                  \
  }
#define SYSCHECK_ERR_RETURN_NEG1(expr) SYSCHECK(expr, __output != -1)

namespace c10d::tcputil {

/// All bytes to, or from, a blocking socket.
template <typename T>
void sendBytes(int socket, const T* buffer, size_t length, bool moreData = false) {
  const auto* at = reinterpret_cast<const char*>(buffer);
  for (size_t left = sizeof(T) * length; left > 0;) {
    ssize_t sent = 0;
    SYSCHECK_ERR_RETURN_NEG1(sent = ::send(socket, at, left, MSG_NOSIGNAL | (moreData ? MSG_MORE : 0)))
    if (sent == 0) {
      C10_THROW_ERROR(DistNetworkError, "Failed to send, sent 0 bytes. Connection was likely closed.");
    }
    at += sent;
    left -= static_cast<size_t>(sent);
  }
}
template <typename T>
void recvBytes(int socket, T* buffer, size_t length) {
  auto* at = reinterpret_cast<char*>(buffer);
  for (size_t left = sizeof(T) * length; left > 0;) {
    ssize_t received = 0;
    SYSCHECK_ERR_RETURN_NEG1(received = ::recv(socket, at, left, 0))
    if (received == 0) {
      C10_THROW_ERROR(DistNetworkError, "Failed to recv, got 0 bytes. Connection was likely closed.");
    }
    at += received;
    left -= static_cast<size_t>(received);
  }
}
/// The number of elements, then the elements.
template <typename T>
void sendVector(int socket, const std::vector<T>& vec, bool moreData = false) {
  const SizeType size = vec.size();
  sendBytes<SizeType>(socket, &size, 1, true);
  sendBytes<T>(socket, vec.data(), size, moreData);
}
template <typename T>
std::vector<T> recvVector(int socket) {
  SizeType size = 0;
  recvBytes<SizeType>(socket, &size, 1);
  std::vector<T> values;
  // What was announced is allocated as it comes.
  constexpr SizeType piece = 1 << 16;
  while (values.size() < size) {
    const size_t begin = values.size();
    values.resize(begin + std::min<SizeType>(piece, size - begin));
    recvBytes<T>(socket, values.data() + begin, values.size() - begin);
  }
  return values;
}
template <typename T>
void sendValue(int socket, const T& value, bool moreData = false) {
  sendBytes<T>(socket, &value, 1, moreData);
}
template <typename T>
T recvValue(int socket) {
  T value;
  recvBytes<T>(socket, &value, 1);
  return value;
}
inline void sendString(int socket, const std::string& str, bool moreData = false) {
  sendVector(socket, std::vector<char>(str.begin(), str.end()), moreData);
}
inline std::string recvString(int socket) {
  const auto bytes = recvVector<char>(socket);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace c10d::tcputil
