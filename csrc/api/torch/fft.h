#pragma once

#include <csrc/fft.h>
