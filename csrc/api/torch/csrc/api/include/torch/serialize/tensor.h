#pragma once

#include <csrc/serialize/archive.h>
