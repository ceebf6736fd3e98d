// Included before all C and C++ of llama.cpp that is compiled here (-include), for the sake of CPUs
// with AMX.
//
// GCC before 11.5, 12.4 and 13.3 doesn't know that _tile_loadconfig reads all 64 bytes of its
// argument (GCC's bug 114098): it drops the stores to all but the first eight, no tile has a
// shape, and ggml's first use of one ends the program with SIGILL. Its macros for _tile_loadd don't
// say what is read either, so that stores to a buffer may be moved past them or dropped.
#if defined(__AMX_TILE__) && defined(__GNUC__) && !defined(__clang__) && !defined(__ASSEMBLER__)

#include <immintrin.h>

static inline __attribute__((always_inline)) void tile_loadconfig_all(const void *config) {
    __asm__ volatile("ldtilecfg\t%X0" : : "m"(*(const char(*)[64])config));
}
#define _tile_loadconfig tile_loadconfig_all

#undef _tile_loadd
#define _tile_loadd(dst, base, stride) tile_loadd_after_stores(dst, base, stride)
#define tile_loadd_after_stores(dst, base, stride)      \
    __asm__ volatile("tileloadd\t(%0,%1,1), %%tmm" #dst \
                     : : "r"((const void *)(base)), "r"((long)(stride)) : "memory")

#undef _tile_stream_loadd
#define _tile_stream_loadd(dst, base, stride) tile_stream_loadd_after_stores(dst, base, stride)
#define tile_stream_loadd_after_stores(dst, base, stride) \
    __asm__ volatile("tileloaddt1\t(%0,%1,1), %%tmm" #dst \
                     : : "r"((const void *)(base)), "r"((long)(stride)) : "memory")

#endif
