#pragma once

#include <csrc/data/detail/queue.h>
