/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row per difference that is not ours: an extended regular expression for the case's line as
 * versus.c writes it, why, and where it is not so everywhere, on which processors.
 */
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

#include "known.h"

struct known {
    const char *pattern;
    const char *reason;
    bool (*here)(void); /* NULL: everywhere */
};

/* The instruction for dot products of bytes (AVX512_VNNI, AVX_VNNI) is missing. Without it ONNX
 * Runtime adds two products of uint8 and int8 in 16 bits, which its own notes on quantization
 * tell: from 255 * 127 + 255 * 127 they keep 32767. */
static bool known_saturates(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;
    bool vnni512 = __get_cpuid_count(7, 0, &a, &b, &c, &d) && c & bit_AVX512VNNI;
    bool vnni = __get_cpuid_count(7, 1, &a, &b, &c, &d) && a & 1u << 4;
    return !vnni512 && !vnni;
#else
    return false;
#endif
}

static const struct known known_rows[] = {
    {"they crash", "ONNX Runtime dies of it"},
    {"^Scatter(Elements|ND).*reduction=m.*NAN", "it does not let NaN win"},
    {"CDist.*theirs 0.0$", "it expands the square, and close points become one"},
    {"^PRelu.*LARGE.*theirs nan", "it multiplies infinities by 0"},
    {"^(ArgM|ReduceM|Hardmax|TopK|Unique|NonMax|MaxRoi|MaxPool|GlobalMax|Max|Min|Sign|Erf|Clip|"
     "PRelu).* NAN",
     "it does not let NaN win"},
    {"count == 1 was false", "it does not know noop_with_empty_axes without axes"},
    {"^ReduceSumSquare.*noop_with_empty_axes=1.* int64.0.",
     "it returns the input itself where nothing is reduced"},
    {"^Reduce.*noop_with_empty_axes=1 \\| [a-z0-9]+\\[[0-9,]*\\].* \\| output",
     "it reduces all axes where there is no list of axes"},
    {"^Reduce.*noop_with_empty_axes=1.* int64.0.",
     "it reduces all axes where the list of axes is empty"},
    {"^Reduce.*[[,]0[],].*(kind|theirs 0.0$)", "it mixes axes up where a dimension is 0"},
    {"^Reduce.*int(32|64).*\\| output",
     "integers overflow, or are rounded in between: ONNX does not say how"},
    {"^(Shrink|Pow|ReduceLogSum).* u?int",
     "a float outside the integer type: ONNX does not say what becomes of it"},
    {"^Shrink.* double", "it computes in float"},
    {"^Pow.*zero to a negative", "integer 0 to a negative power has no value"},
    {"^Cast.*(to=8|stoll|stoull|stof|stod|stoi|Invalid)",
     "numbers in strings: it writes %.8g, and reads what C reads"},
    {"^Cast-[1-5] ", "it does not infer the type of Cast before opset 6"},
    {"^(Cast|CastLike).*float8", "it rounds to float8 by way of float"},
    {"^MatMul.*[[,]0[],]", "sums of nothing are left unset, or refused"},
    {"^STFT.*,2. int64.*onesided|^STFT.*onesided=0.*,2. int64", "it misreads complex signals"},
    {"^MelWeightMatrix.*highest_index", "it refuses bands beyond the spectrum"},
    {"^Tile.*atleast 1 dim", "it refuses a scalar"},
    {"^Pad.*(Expected:int64 Actual:int32|Unexpected mode of 3)",
     "it takes axes as int64 only, and does not wrap nothing"},
    {"^Gather-.* string", "it copies the first string of each block only"},
    {"^Scatter.*of string", "it joins strings, which ONNX does not define"},
    {"is not supported with Scatter", "it lacks the type"},
    {"^OneHot-(9|10) ", "it counts from the end before opset 11"},
    {"^NonZero-[0-9]+ \\| [a-z0-9]+\\[\\]", "it gives a scalar one coordinate"},
    {"^CenterCropPad.*bound to different", "its function body mixes int32 and int64"},
    {"^StringNormalizer.*Single dimension", "it refuses an empty list"},
    {"^StringSplit", "it gives the empty string no part"},
    {"^Softmax|^LogSoftmax.*LARGE", "infinities"},
    {"^QuantizeLinear.* float16", "it truncates quotients in float16"},
    {"^QLinearMatMul.*(IsBQuant|valid)", "it has no scale per column of a batch"},
    {"Binarizer.*is NaN", "it refuses NaN"},
    {"LabelEncoder-[23] keys_floats=",
     "it compares floats by value, and takes the first of equal keys; ONNX says bit by bit"},
    {"SOFTMAX_ZERO.*theirs nan", "it divides by a sum of nothing"},
    {"should be 0 for per-tensor|must be 0 for per-tensor",
     "it takes blocks that make one for none"},
    {"QLinearSoftmax.*element", "it sums entries of a table in float"},
    {"ExpandDims.*Axis must be", "it compares axes with the rank before it has grown"},
    {"^Mod.*fmod=1.*int64", "its fmod of integers goes by way of double"},
    {"^Cast.*(LARGE|NAN).* u?int",
     "a float outside the integer type: ONNX does not say what becomes of it"},
    {"^Cast.*(LARGE|NAN).*element [0-9]+ is -?[0-9]+,",
     "a float outside the integer type: ONNX does not say what becomes of it"},
    {"^(Arg|Reduce).*[[,]0[],].*(kind|refuse)", "it mixes axes up where a dimension is 0"},
    {"^Gemm.* beta=0 .*is nan", "it does not read what is multiplied by 0"},
    {"^Gemm.*\\[0,|^Gemm.*,0\\]", "it forgets beta where there is nothing to multiply"},
    {"^(ReduceLogSum|Det|LogSoftmax|Einsum|MatMul|Gemm|Softmax).*LARGE",
     "infinities meet zeros, and large sums cancel"},
    {"^RoiAlign.*(NAN|LARGE)", "it lets infinities in"},
    {"^Resize.*keep_aspect_ratio_policy=not.*axes=.*-.*kind", "it mixes up negative axes"},
    {"TreeEnsemble.*(EQ|LT|GT).*NAN", "it compares NaN before it asks where missing values go"},
    {"^Resize-[0-9]+ .*axes=[0-9,]*-.*kind", "it mixes up negative axes"},
    {"^Resize.*align_corners.*keep_aspect_ratio_policy=not",
     "it takes whole lengths where scales are given; ONNX's own cases do not"},
    {"^Cast.*string", "numbers in strings: it writes %.8g, and reads what C reads"},
    {"^Reduce(Max|Min).*[[,]0[],].*element", "it gives 0 for the extreme of nothing"},
    {"^Reduce.*LARGE.*theirs nan", "infinities meet zeros"},
    {"Dilation not supported", "it refuses dilations with auto_pad"},
    {"Pool.*dilations=.*auto_pad=SAME", "it takes the dilated window's shape for another"},
    {"Pool.*auto_pad=VALID ceil_mode=1",
     "it rounds up where VALID says floor((in - window) / stride) + 1"},
    {"(Average|Max|Lp)Pool.*strides=.*SAME_",
     "it pads by less than 0 where strides exceed the window"},
    {"^AveragePool.*count_include_pad=1",
     "it counts pads at the end as it does those at the beginning, and what ceil_mode adds"},
    {"Pool.*does not fit dimension", "it gives nothing where the window is larger than the image"},
    {"^Arg.*of no elements", "it gives nothing where there is nothing to choose from"},
    {"^MaxPool.*(int8|LARGE).*output 1", "it has no index where all are the smallest number"},
    {"^(Global)?MaxPool.*is -inf, theirs", "its largest number begins with the lowest finite one"},
    {"^ConvTranspose.*auto_pad=SAME.*kind",
     "it makes less than in * stride where strides exceed the window"},
    {"^LayerNorm.*(must be larger than 1|Missing Input)", "it refuses rows of one"},
    {"^LayerNorm.*float16.*output [12]", "its mean and deviation have the precision of the input"},
    {"^MeanVar.*(bound to different|theirs nan)",
     "its function body knows float only, and takes the root of a negative variance"},
    {"^(LSTM).* clip=", "it does not clip what goes into the last activation"},
    {"^(LSTM|GRU|RNN).*theirs nan", "its activations overflow"},
    {"^Resize.*(align_corners|tf_crop_and_resize).*(float\\[[0-9]\\] \\||float\\[[0-9]\\] "
     "float\\[[0-9]\\]( NAN| LARGE| \\|))",
     "it takes whole lengths where scales are given; ONNX's own cases do not"},
    {"^Resize.*mode=(cubic|nearest).*tf_crop", "it mixes up the regions of axes"},
    {"^Resize.*(size of roi|should be same|IsPrimitiveDataType|mode. only supports|when "
     "anti-aliasing|ScalesValidation)",
     "it has no such resizing"},
    {"^Resize.*antialias=1.*int8", "it computes bytes in fixed point"},
    {"^(Resize|Upsample).*mode=(linear|cubic).*int", "it truncates; ONNX rounds"},
    {"^Upsample.*(mode only supports|ScalesValidation)", "it has no such resizing"},
    {"^(Resize|Upsample).*(NAN|LARGE)", "it multiplies infinities by 0"},
    {"^GridSample.*reflection.*theirs nan", "it divides by the width of a single pixel"},
    {"^AffineGrid.*float16.*refuse", "its function body does not split one theta"},
    {"^N(egative|onMax).*e-0[678]", "cancellation"},
    {"((MatMulInteger(ToFloat)?|QLinearConv|QGemm)-.*\\| uint8\\[|DynamicQuantizeMatMul-).*"
     " int8\\[[0-9].*element",
     "two products of uint8 and int8 saturate in 16 bits, without VNNI", known_saturates},
};

const char *vs_known(const char *line)
{
    for (size_t i = 0; i < ODB_COUNT(known_rows); i++) {
        regex_t re;
        if (known_rows[i].here && !known_rows[i].here())
            continue;
        if (regcomp(&re, known_rows[i].pattern, REG_EXTENDED | REG_NOSUB))
            abort();
        bool found = regexec(&re, line, 0, NULL, 0) == 0;
        regfree(&re);
        if (found)
            return known_rows[i].reason;
    }
    return NULL;
}
