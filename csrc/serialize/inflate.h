// Unpacks DEFLATE streams, which ZIP files hold.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace torch::serialize {

/// The `size` bytes that a raw DEFLATE stream (RFC 1951) stands for. Throws c10::Error, which begins with `where`, if
/// the stream is damaged, stands for another number of bytes, or for more than 200 times its own size and 16 KiB.
std::string inflate(std::string_view packed, size_t size, const std::string& where);

} // namespace torch::serialize
