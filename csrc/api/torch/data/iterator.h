#pragma once

#include <csrc/data/iterator.h>
