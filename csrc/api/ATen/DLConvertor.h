#pragma once

#include <aten/DLConvertor.h>
