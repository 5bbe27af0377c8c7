#pragma once

#include <csrc/amp/autocast_guard.h>
