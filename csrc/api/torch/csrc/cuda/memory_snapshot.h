#pragma once

#include <csrc/cuda/memory_snapshot.h>
