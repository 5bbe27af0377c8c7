#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <string>

namespace c10 {

/// Library that computes quantized operators.
enum class QEngine : uint8_t {
  NoQEngine = 0,
  FBGEMM = 1,
  QNNPACK = 2,
  ONEDNN = 3,
  X86 = 4,
};

constexpr auto kNoQEngine = QEngine::NoQEngine;
constexpr auto kFBGEMM = QEngine::FBGEMM;
constexpr auto kQNNPACK = QEngine::QNNPACK;
constexpr auto kONEDNN = QEngine::ONEDNN;
constexpr auto kX86 = QEngine::X86;

inline std::string toString(QEngine engine) {
  constexpr const char* names[] = {"NoQEngine", "FBGEMM", "QNNPACK", "ONEDNN", "X86"};
  const auto index = static_cast<uint8_t>(engine);
  TORCH_CHECK(index < 5, "Unrecognized Quantized Engine: ", static_cast<int>(engine));
  return names[index];
}

} // namespace c10
