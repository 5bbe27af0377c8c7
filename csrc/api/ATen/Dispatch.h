#pragma once
#include <aten/Dispatch.h>
