// NUMA nodes, for programs that ask: memory is placed by the operating system alone, as in a libtorch without NUMA
// support.
#pragma once

#include <cstddef>

namespace c10 {

inline bool IsNUMAEnabled() {
  return false;
}
/// These do nothing, and give -1 for a node that is not known.
inline void NUMABind(int /*numa_node_id*/) {}
inline void NUMAMove(void* /*ptr*/, size_t /*size*/, int /*numa_node_id*/) {}
inline int GetNUMANode(const void* /*ptr*/) {
  return -1;
}
inline int GetNumNUMANodes() {
  return -1;
}
inline int GetCurrentNUMANode() {
  return -1;
}

} // namespace c10
