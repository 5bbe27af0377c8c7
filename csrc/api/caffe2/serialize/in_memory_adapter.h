#pragma once

#include <csrc/serialize/read_adapter.h>
