#include <csrc/jit/frontend/token_kinds.h>

#include <c10/util/Exception.h>
#include <csrc/jit/frontend/token_names.h>

namespace torch::jit {

std::string kindToString(int kind) {
  if (kind > 0 && kind < TK_DUMMY_START) {
    return std::string(1, static_cast<char>(kind));
  }
  const auto index = static_cast<size_t>(kind) - TK_EOF;
  TORCH_CHECK(kind > TK_DUMMY_START && index < kTokenNames.size(), "kindToString: no kind has the number ", kind);
  return std::string(kTokenNames[index].name);
}

int stringToKind(const std::string& str) {
  const int kind = kind_of_text(str);
  TORCH_CHECK(kind != 0, "stringToKind: '", str, "' is no keyword and no operator of TorchScript");
  return kind;
}

} // namespace torch::jit
