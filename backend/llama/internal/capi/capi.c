//go:build llama && cgo

#include "capi.h"

struct stencil_capi capi;
