#pragma once

#include <csrc/version.h>
