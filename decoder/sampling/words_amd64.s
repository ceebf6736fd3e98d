#include "textflag.h"

// func largeAVX2(set *uint64, logits *float32, words int, floor float32) (n int, hits uint64)
//
// For each word that has members, eight comparisons of eight logits; what they
// say is looked at one by one only if any of them says yes.
TEXT ·largeAVX2(SB), NOSPLIT, $0-48
	MOVQ         set+0(FP), SI
	MOVQ         logits+8(FP), DI
	MOVQ         words+16(FP), CX
	VBROADCASTSS floor+24(FP), Y0
	XORQ         AX, AX

loop:
	CMPQ  AX, CX
	JGE   none
	MOVQ  (SI)(AX*8), BX
	TESTQ BX, BX
	JZ    next

	// 0x12: less or equal, false for NaN
	VCMPPS    $0x12, 0(DI), Y0, Y1
	VCMPPS    $0x12, 32(DI), Y0, Y2
	VCMPPS    $0x12, 64(DI), Y0, Y3
	VCMPPS    $0x12, 96(DI), Y0, Y4
	VCMPPS    $0x12, 128(DI), Y0, Y5
	VCMPPS    $0x12, 160(DI), Y0, Y6
	VCMPPS    $0x12, 192(DI), Y0, Y7
	VCMPPS    $0x12, 224(DI), Y0, Y8
	VORPS     Y1, Y2, Y9
	VORPS     Y3, Y4, Y10
	VORPS     Y5, Y6, Y11
	VORPS     Y7, Y8, Y12
	VORPS     Y9, Y10, Y9
	VORPS     Y11, Y12, Y11
	VORPS     Y9, Y11, Y9
	VMOVMSKPS Y9, DX
	TESTL     DX, DX
	JNZ       hit

next:
	ADDQ $256, DI
	INCQ AX
	JMP  loop

hit:
	VMOVMSKPS Y8, DX
	SHLQ      $8, DX
	VMOVMSKPS Y7, R8
	ORQ       R8, DX
	SHLQ      $8, DX
	VMOVMSKPS Y6, R8
	ORQ       R8, DX
	SHLQ      $8, DX
	VMOVMSKPS Y5, R8
	ORQ       R8, DX
	SHLQ      $8, DX
	VMOVMSKPS Y4, R8
	ORQ       R8, DX
	SHLQ      $8, DX
	VMOVMSKPS Y3, R8
	ORQ       R8, DX
	SHLQ      $8, DX
	VMOVMSKPS Y2, R8
	ORQ       R8, DX
	SHLQ      $8, DX
	VMOVMSKPS Y1, R8
	ORQ       R8, DX
	ANDQ      BX, DX
	JZ        next
	MOVQ      AX, n+32(FP)
	MOVQ      DX, hits+40(FP)
	VZEROUPPER
	RET

none:
	MOVQ CX, n+32(FP)
	MOVQ $0, hits+40(FP)
	VZEROUPPER
	RET

// Offsets in spread.
#define FAR 0
#define PERLN2 32
#define SHIFT 64
#define C5 96
#define C4 128
#define C3 160
#define C2 192
#define C1 224
#define C0 256
#define BIAS 288
#define BIT 320

// WEIGH adds the weights of the eight logits at off, of which those count whose
// bits are set in members, to sum. See exp32 for the steps.
#define WEIGH(off, bit, members, sum) \
	VMOVUPS  off(DI), Y3             \
	VSUBPS   Y0, Y3, Y3              \
	VMULPS   Y1, Y3, Y3              \
	VCMPPS   $0x1e, Y2, Y3, Y4       \
	VPAND    BIT+bit(SI), members, Y5 \
	VPCMPEQD BIT+bit(SI), Y5, Y5     \
	VPAND    Y5, Y4, Y4              \
	VMULPS   Y10, Y3, Y3             \
	VADDPS   Y11, Y3, Y6             \
	VSUBPS   Y11, Y6, Y7             \
	VSUBPS   Y7, Y3, Y3              \
	VMULPS   Y14, Y3, Y7             \
	VADDPS   C4(SI), Y7, Y7          \
	VMULPS   Y3, Y7, Y7              \
	VADDPS   C3(SI), Y7, Y7          \
	VMULPS   Y3, Y7, Y7              \
	VADDPS   C2(SI), Y7, Y7          \
	VMULPS   Y3, Y7, Y7              \
	VADDPS   C1(SI), Y7, Y7          \
	VMULPS   Y3, Y7, Y7              \
	VADDPS   C0(SI), Y7, Y7          \
	VPADDD   Y15, Y6, Y6             \
	VPSLLD   $23, Y6, Y6             \
	VMULPS   Y6, Y7, Y7              \
	VANDPS   Y4, Y7, Y7              \
	VADDPS   Y7, sum, sum

// func weighAVX2(w uint64, logits *float32, top, scale float32) float32
TEXT ·weighAVX2(SB), NOSPLIT, $0-28
	MOVQ         logits+8(FP), DI
	LEAQ         ·spread(SB), SI
	MOVQ         w+0(FP), AX
	VMOVQ        AX, X12
	SHRQ         $32, AX
	VMOVQ        AX, X13
	VPBROADCASTD X12, Y12
	VPBROADCASTD X13, Y13
	VBROADCASTSS top+16(FP), Y0
	VBROADCASTSS scale+20(FP), Y1
	VMOVUPS      FAR(SI), Y2
	VMOVUPS      PERLN2(SI), Y10
	VMOVUPS      SHIFT(SI), Y11
	VMOVUPS      C5(SI), Y14
	VMOVDQU      BIAS(SI), Y15
	VXORPS       Y8, Y8, Y8
	VXORPS       Y9, Y9, Y9

	WEIGH(0, 0, Y12, Y8)
	WEIGH(32, 32, Y12, Y9)
	WEIGH(64, 64, Y12, Y8)
	WEIGH(96, 96, Y12, Y9)
	WEIGH(128, 0, Y13, Y8)
	WEIGH(160, 32, Y13, Y9)
	WEIGH(192, 64, Y13, Y8)
	WEIGH(224, 96, Y13, Y9)

	// 16 sums to 8, 4, 2, 1
	VADDPS       Y9, Y8, Y8
	VEXTRACTF128 $1, Y8, X9
	VADDPS       X9, X8, X8
	VPERMILPS    $0x0e, X8, X9
	VADDPS       X9, X8, X8
	VPERMILPS    $0x01, X8, X9
	VADDSS       X9, X8, X8
	VMOVSS       X8, ret+24(FP)
	VZEROUPPER
	RET
