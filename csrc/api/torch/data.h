#pragma once

#include <csrc/data/data.h>
