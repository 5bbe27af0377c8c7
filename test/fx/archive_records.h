// Archives taken apart into records, to be written again with others.
#pragma once

#include <csrc/serialize/stream_reader.h>
#include <csrc/serialize/stream_writer.h>

#include <istream>
#include <map>
#include <string>

namespace test {

using Records = std::map<std::string, std::string>;

inline Records records_of(std::istream& stream) {
  caffe2::serialize::PyTorchStreamReader reader(&stream);
  Records records;
  for (const std::string& record : reader.getAllRecords()) {
    const auto [data, size] = reader.getRecord(record);
    records[record] = std::string(static_cast<const char*>(data.get()), size);
  }
  return records;
}

inline std::string archive_of(const Records& records) {
  std::string out;
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* data, size_t size) {
    out.append(static_cast<const char*>(data), size);
    return size;
  });
  for (const auto& [name, text] : records) {
    if (name.rfind(".data/", 0) != 0 && name != "version" && name != "byteorder") {
      writer.writeRecord(name, text.data(), text.size());
    }
  }
  writer.writeEndOfFile();
  return out;
}

} // namespace test
