#pragma once

#include <aten/custom_class_detail.h>
