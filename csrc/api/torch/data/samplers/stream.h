#pragma once

#include <csrc/data/samplers/stream.h>
