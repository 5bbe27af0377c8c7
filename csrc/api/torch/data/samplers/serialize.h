#pragma once

#include <csrc/data/samplers/serialize.h>
