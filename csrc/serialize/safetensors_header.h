// The JSON header of a safetensors file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torch::serialize {

struct SafetensorsHeader {
  struct Tensor {
    std::string name;
    std::string dtype;
    std::vector<int64_t> shape;
    uint64_t begin;
    uint64_t end;
  };
  std::vector<Tensor> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// {"__metadata__": {str: str, ...}, name: {"dtype": str, "shape": [int, ...], "data_offsets": [int, int]}, ...}
/// and nothing else; spaces may follow. `where` begins the message of an error.
SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& where);
std::string print_safetensors_header(const SafetensorsHeader& header);

} // namespace torch::serialize
