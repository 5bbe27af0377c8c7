// Random bodies as machine code and element by element in C++.
#include <catch2/catch.hpp>

#include <csrc/compile/cpu/loop_code.h>
#include <aten/core/Version.h>

#include "test/compile/micro_reference.h"

#include <sys/mman.h>

#include <cstdlib>
#include <string>

namespace {

using torch::fused::cpu::LoopCode;

/// Memory in which one piece of code runs after another.
class CodePage {
 public:
  CodePage() : memory_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~CodePage() {
    munmap(memory_, kBytes);
  }
  CodePage(const CodePage&) = delete;
  CodePage& operator=(const CodePage&) = delete;

  /// nullptr where the system refuses it.
  LoopCode place(const std::vector<uint8_t>& code) {
    if (code.size() > kBytes || mprotect(memory_, kBytes, PROT_READ | PROT_WRITE) != 0) {
      return nullptr;
    }
    std::memcpy(memory_, code.data(), code.size());
    return mprotect(memory_, kBytes, PROT_READ | PROT_EXEC) == 0 ? reinterpret_cast<LoopCode>(memory_) : nullptr;
  }

 private:
  static constexpr size_t kBytes = 1 << 16;
  void* memory_;
};

/// Runs one body both ways; gives what differs.
std::string difference(micro::Generator& generator, CodePage& page, micro::CodeLevel level, size_t& tried) {
  const micro::RandomBody made = generator.make();
  const auto code = torch::fused::cpu::emit(made.body, static_cast<uint16_t>(made.operands.size()), level);
  const LoopCode run = code ? page.place(*code) : nullptr;
  if (!run) {
    return ""; // more registers or operands than there are
  }
  ++tried;
  const int width = made.body.width();
  const size_t n = static_cast<size_t>(generator.pick(3) == 0 ? generator.pick(9) : generator.pick(150));
  constexpr char kBehind = 0x5A;
  std::vector<std::vector<char>> got, wanted;
  for (const micro::Operand& operand : made.operands) {
    const size_t size = micro::element_bytes(operand.op, width);
    std::vector<char> bytes(n * size + 64, kBehind);
    for (size_t i = 0; operand.op < micro::Micro::Constant && i < n; ++i) {
      const uint64_t element = generator.element(operand, width);
      std::memcpy(bytes.data() + i * size, &element, size);
    }
    got.push_back(bytes);
    wanted.push_back(std::move(bytes));
  }
  std::vector<char*> pointers;
  for (auto& bytes : got) {
    pointers.push_back(bytes.data());
  }
  run(pointers.data(), static_cast<int64_t>(n));
  for (size_t i = 0; i < n; ++i) {
    std::vector<char*> at;
    for (size_t k = 0; k < made.operands.size(); ++k) {
      const size_t place = made.operands[k].op == micro::Micro::LoadFirst ? 0 : i;
      at.push_back(wanted[k].data() + place * micro::element_bytes(made.operands[k].op, width));
    }
    width == 4 ? micro::Reference<float, int32_t>::run(made.body.insts(), at)
               : micro::Reference<double, int64_t>::run(made.body.insts(), at);
  }
  for (size_t k = 0; k < made.operands.size(); ++k) {
    const size_t size = micro::element_bytes(made.operands[k].op, width);
    for (size_t i = 0; i < n; ++i) {
      if (!micro::same_element(made.operands[k], width, got[k].data() + i * size, wanted[k].data() + i * size)) {
        return "operand " + std::to_string(k) + ", element " + std::to_string(i) + " of " + std::to_string(n);
      }
    }
    for (size_t i = n * size; i < got[k].size(); ++i) {
      if (got[k][i] != kBehind) {
        return "operand " + std::to_string(k) + " is written behind its end";
      }
    }
  }
  return "";
}

/// Code for each level that this processor has.
void compare_bodies(uint64_t seed, size_t count) {
  const std::string found_level = at::get_cpu_capability();
  if (found_level == "DEFAULT") {
    return; // nothing that this processor runs is emitted
  }
  const bool is_wide = found_level == "AVX512";
  CodePage page;
  for (const micro::CodeLevel level : {micro::CodeLevel::Avx2, micro::CodeLevel::Avx512}) {
    micro::Generator generator(seed, level);
    size_t tried = 0;
    for (size_t i = 0; (is_wide || level == micro::CodeLevel::Avx2) && i < count; ++i) {
      const std::string found = difference(generator, page, level, tried);
      INFO("seed " << seed << ", level " << static_cast<int>(level) << ", body " << i << ": " << found);
      REQUIRE(found.empty());
    }
    CHECK((tried > count / 2 || level == micro::CodeLevel::Avx512));
  }
}

} // namespace

TEST_CASE("Random bodies give as machine code what they give in C++", "[compile][code]") {
  compare_bodies(1, 3000);
}

TEST_CASE("A million random bodies give as machine code what they give in C++", "[compile][code][slow]") {
  const char* const count = std::getenv("TENSOR_TEST_BODIES");
  const char* const seed = std::getenv("TENSOR_TEST_SEED");
  compare_bodies(
      seed ? std::strtoull(seed, nullptr, 10) : 2, count ? std::strtoull(count, nullptr, 10) : size_t{1000000});
}
