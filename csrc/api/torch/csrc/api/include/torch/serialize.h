#pragma once

#include <csrc/serialize/serialize.h>
