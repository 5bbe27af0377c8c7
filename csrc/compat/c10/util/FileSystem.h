#pragma once

#include <filesystem>

namespace c10 {
namespace filesystem = std::filesystem;
} // namespace c10
