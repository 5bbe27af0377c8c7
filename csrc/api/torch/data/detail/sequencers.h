#pragma once

#include <csrc/data/detail/sequencers.h>
