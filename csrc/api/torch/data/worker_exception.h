#pragma once

#include <csrc/data/worker_exception.h>
