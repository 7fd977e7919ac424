/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Attention of com.microsoft. Numbers that are not explained are ONNX Runtime 1.22's.
 */
#include "tests/help/op_case.h"

#define MS(op) "com.microsoft::" op

static void test_contrib_attention__masks(void **state)
{
    (void)state;
    OP_EXPECT(2e-6,
              OP("com.microsoft::Attention", 1, "num_heads=2 unidirectional=1",
                 {"float[2,3,4] random 1", "float[4,12] random 2", "float[12] random 3"}),
              "float[2,3,4] 0.3987525 0.5719448 0.7266325 0.7776644 -0.04635518 0.9654148 "
              "0.9101151 0.8043743 0.2297564 1.223158 1.200199 1.171993 -0.2501982 0.5513422 "
              "1.724791 1.157245 -0.1471862 0.5555331 1.168634 0.8553031 -0.3487203 "
              "0.5466167 1.176172 0.8195624");
    OP_EXPECT(
        2e-3,
        OP("com.microsoft::Attention", 1, "num_heads=2",
           {"float[2,3,4] random 1", "float[4,12] random 2", "float[12] random 3", "int32[2] 2 0"}),
        "float[2,3,4] -0.02474612 0.9463127 0.9510363 0.8103312 -0.04635518 0.9654148 "
        "0.9101151 0.8043743 -0.02986781 0.9508402 0.9496356 0.8101274 -0.2589365 "
        "0.5504677 1.254578 0.8649009 -0.7113226 0.5309633 1.116415 0.7145095 "
        "-0.3487273 0.5466164 1.176272 0.8196278");
    OP_EXPECT(2e-6,
              OP("com.microsoft::Attention", 1, "num_heads=2",
                 {"float[2,3,4] random 1", "float[4,12] random 2", "float[12] random 3",
                  "int32[4] 2 3 1 0"}),
              "float[2,3,4] -0.4094357 1.286374 1.202232 0.8468981 -0.4094357 1.286374 "
              "1.202232 0.8468981 -0.4094357 1.286374 1.202232 0.8468981 -0.258963 0.5504665 "
              "1.254708 0.8649606 -0.7111963 0.5309689 1.116414 0.7145005 -0.3487203 "
              "0.5466167 1.176172 0.8195624");
    OP_EXPECT(2e-6,
              OP("com.microsoft::Attention", 1,
                 "num_heads=2 unidirectional=1 mask_filter_value=-2f",
                 {"float[2,3,4] random 1", "float[4,12] random 2", "float[12] random 3",
                  "int32[2,3] 0 1 1 1 0 0"}),
              "float[2,3,4] 0.3987525 0.5719448 0.7266325 0.7776644 -0.3290861 1.215346 "
              "1.117923 0.8346252 0.167818 1.461832 1.403286 1.341099 -0.2501982 0.5513422 "
              "1.724791 1.157245 -0.2319367 0.5520852 1.59225 1.085287 -0.2782558 0.5499965 "
              "1.589407 1.073914");
    OP_EXPECT(2e-3,
              OP("com.microsoft::Attention", 1, "num_heads=2 unidirectional=1 scale=0.4f",
                 {"float[2,3,4] random 1", "float[4,12] random 2", "float[12] random 3",
                  "int32[2,3,3] 1 0 1 0 0 0 1 1 0 0 1 1 1 1 1 0 0 1"}),
              "float[2,3,4] 0.3987525 0.5719448 0.7266325 0.7776644 -0.02859864 0.9497183 "
              "0.9332621 0.8077438 -0.01922734 0.9414341 0.9560546 0.8110617 -0.2501982 "
              "0.5513422 1.724791 1.157245 -0.1126559 0.5569379 1.168514 0.8552381 -1.034544 "
              "0.5168862 0.967045 0.3117506");
    OP_EXPECT(2e-6,
              OP("com.microsoft::Attention", 1, "num_heads=2",
                 {"float[2,3,4] random 1", "float[4,12] random 2", "float[12] random 3",
                  "int32[1,1] 0", "-", "float[2,1,3,3] random 4"}),
              "float[2,3,4] 0.2471947 1.351804 1.298158 1.26475 0.3466256 1.229789 1.198805 "
              "1.245104 0.4586048 1.163754 1.170363 1.240482 -0.2486106 0.5510665 1.433643 "
              "0.9775952 -0.3970611 0.5446542 1.160442 0.8192897 -0.401448 0.5444132 "
              "1.293338 0.8785796");
}

static void test_contrib_attention__past(void **state)
{
    (void)state;
    OP_EXPECT(2e-6,
              OP("com.microsoft::Attention", 1, "num_heads=2 unidirectional=1",
                 {"float[2,1,4] random 1", "float[4,12] random 2", "float[12] random 3",
                  "int32[2,3] 0 1 1 1 1 1", "float[2,2,2,2,2] random 5"}),
              "float[2,1,4] -0.0408127 0.1586947 0.1685614 0.2731384 0.09100506 -0.03346302 "
              "0.1525596 0.008109584",
              "float[2,2,2,3,2] 0.6064225 -0.7195157 0.6410074 -0.3810957 0.5930872 -0.30187 "
              "-0.1145289 -0.4817642 -0.09352919 0.8063578 -0.1232214 -0.3022615 -0.4650874 "
              "-0.5882205 -0.6087635 -0.5639693 0.1953134 0.08541229 0.4477156 -0.6079562 "
              "0.1315143 0.9175901 -1.058719 0.07505003 -0.8604307 0.9238105 -0.4768615 "
              "-0.2512497 0.3987525 0.5719448 0.1907164 0.8031251 -0.4638958 -0.2986366 "
              "0.7266325 0.7776644 0.9942639 -0.7431265 -0.514545 0.07173366 -0.4094357 "
              "1.286374 0.04184539 -0.9354109 -0.5018343 0.9768581 1.202232 0.8468981");
}

static void test_contrib_attention__values_of_another_size(void **state)
{
    (void)state;
    OP_EXPECT(2e-6,
              OP("com.microsoft::Attention", 1, "num_heads=2 qkv_hidden_sizes=4,4,2,",
                 {"float[2,3,4] random 1", "float[4,10] random 2", "float[10] random 3"}),
              "float[2,3,2] 0.2691931 0.4109176 0.2863247 0.4696251 0.2906635 0.3672646 "
              "-0.4277837 0.9219503 -0.4518188 0.9832299 -0.3710894 0.931038");
}

static void test_contrib_attention__many_heads(void **state)
{
    (void)state;
    OP_EXPECT(2e-6,
              OP("com.microsoft::MultiHeadAttention", 1, "num_heads=2",
                 {"float[1,2,4] random 1", "float[1,3,4] random 2", "float[1,3,6] random 3",
                  "float[14] random 4", "int32[1] 2", "float[1,1,2,3] random 5"}),
              "float[1,2,6] 0.1941146 -0.3823883 -0.4327603 -1.156731 1.271169 0.7904477 "
              "0.3514121 -0.3181299 -0.505628 -1.029412 1.396913 0.968217",
              "float[1,2,3,2] -0.4017534 0.4731647 -1.523633 -0.4807417 -1.544855 0.5395374 "
              "1.339612 -0.8835008 0.01434153 -0.06280357 1.673279 -0.1998778",
              "float[1,2,3,3] 0.04746795 -0.4422958 -0.3648266 0.8282183 -0.1233472 "
              "-0.7265072 0.3285888 0.4211259 -0.02435118 -1.212783 1.215812 0.7121867 "
              "-0.5007684 1.919013 1.706331 -0.1963813 0.4719495 1.486607",
              "float[1,2,2,3] 0.8356918 -0.6284947 -9998.916 -0.3692723 -0.8195381 -10000.86 "
              "1.774659 -0.6851813 -9998.27 1.004887 -0.05391497 -9999.525");
    OP_EXPECT(2e-6,
              OP("com.microsoft::MultiHeadAttention", 1, "num_heads=2",
                 {"float[1,2,4] random 1", "float[1,2,3,2] random 2", "float[1,2,3,2] random 3"}),
              "float[1,2,4] -0.01223367 -0.2972875 0.4274776 0.4247155 -0.07230249 "
              "-0.3079074 0.4109251 0.4029272");
    OP_EXPECT(2e-6,
              OP("com.microsoft::MultiHeadAttention", 1, "num_heads=2 unidirectional=1",
                 {"float[1,3,4] random 1", "float[1,4,4] random 2", "float[1,4,4] random 3"}),
              "float[1,3,4] -0.7735796 -0.3503504 0.4688631 -0.3076845 -0.3843052 -0.3080359 "
              "0.3058436 -0.2101315 -0.2951642 0.06364349 0.6180905 0.3204023");
    OP_EXPECT(
        2e-6,
        OP("com.microsoft::MultiHeadAttention", 1, "num_heads=2 unidirectional=1",
           {"float[1,2,4] random 1", "float[1,2,4] random 2", "float[1,2,4] random 3",
            "float[12] random 4", "-", "-", "float[1,2,1,2] random 5", "float[1,2,1,2] random 6"}),
        "float[1,2,4] -0.2225988 -0.2487662 0.01554398 -0.9358472 -0.04766437 "
        "-0.2082021 -0.1406577 -0.9557322",
        "float[1,2,3,2] 0.6064225 -0.7195157 -0.4017534 0.4731647 -1.523633 -0.4807417 "
        "0.6410074 -0.3810957 1.339612 -0.8835008 0.01434153 -0.06280357",
        "float[1,2,3,2] -0.7035765 0.09590171 0.04746795 -0.4422958 1.059231 "
        "-0.3323162 0.7270795 -0.4178014 -0.3648266 -1.212783 -0.826519 -0.9365");
}

static void test_contrib_attention__decoder(void **state)
{
    (void)state;
    OP_EXPECT(2e-6,
              OP("com.microsoft::DecoderMaskedMultiHeadAttention", 1, "num_heads=2",
                 {"float[1,1,4] random 1", "float[1,2,3,2] random 2", "float[1,2,3,2] random 3",
                  "int32[1,3] 1 0 1"}),
              "float[1,1,4] -0.2401186 -0.2923627 0.5598938 0.4331433");
    OP_EXPECT(2e-6,
              OP("com.microsoft::DecoderMaskedMultiHeadAttention", 1,
                 "num_heads=2 past_present_share_buffer=1",
                 {"float[1,1,4] random 1", "float[1,1,4] random 2", "float[1,1,4] random 3", "-",
                  "-", "float[1,2,3,2] random 4", "float[1,2,3,2] random 5", "int32[1] 1",
                  "int32[1] 1", "-", "float[12] random 6"}),
              "float[1,1,4] 0.2616155 -0.3279372 -0.006800793 0.1570018",
              "float[1,2,3,2] -0.08357856 0.465067 1.245534 0.2317713 -0.9381728 -0.3610675 "
              "0.9568208 -0.612522 1.238912 -0.04574126 -0.8336897 -0.9050981",
              "float[1,2,3,2] 0.6064225 -0.7195157 -0.5248019 0.5651539 -0.1145289 "
              "-0.4817642 -0.09352919 0.8063578 0.0850257 -0.5305249 -0.6087635 -0.5639693");
}

static void test_contrib_attention__packed_in_one(void **state)
{
    (void)state;
    /* Two heads of two: the same numbers, Q, K and V apart and side by side. */
    OP_EXPECT_SAME(1,
                   OP(MS("MultiHeadAttention"), 1, "num_heads=2",
                      {"float[1,2,4] 1 2 3 4 -1 0 1 2", "float[1,2,4] 5 6 7 8 1 -2 2 0",
                       "float[1,2,4] 9 8 7 6 0 1 -1 3", "float[12] 1 2 3 4 5 6 7 8 9 10 11 12"}),
                   OP(MS("MultiHeadAttention"), 1, "num_heads=2",
                      {"float[1,2,2,3,2] 1 2 5 6 9 8 3 4 7 8 7 6 -1 0 1 -2 0 1 1 2 2 0 -1 3", "-",
                       "-", "float[12] 1 2 3 4 5 6 7 8 9 10 11 12"}));
    OP_EXPECT_SAME(1,
                   OP(MS("MultiHeadAttention"), 1, "num_heads=2",
                      {"float[1,2,4] 1 2 3 4 -1 0 1 2", "float[1,2,4] 5 6 7 8 1 -2 2 0",
                       "float[1,2,4] 9 8 7 6 0 1 -1 3"}),
                   OP(MS("MultiHeadAttention"), 1, "num_heads=2",
                      {"float[1,2,4] 1 2 3 4 -1 0 1 2",
                       "float[1,2,2,2,2] 5 6 9 8 7 8 7 6 1 -2 0 1 2 0 -1 3"}));
    OP_EXPECT_SAME(
        3,
        OP(MS("DecoderMaskedMultiHeadAttention"), 1, "num_heads=1 past_present_share_buffer=1",
           {"float[1,1,6] 1 2 3 4 5 6", "-", "-", "-", "-", "float[1,1,3,2] random 1",
            "float[1,1,3,2] random 2", "int32[1] 1"}),
        OP(MS("DecoderMaskedMultiHeadAttention"), 1, "num_heads=1 past_present_share_buffer=1",
           {"float[1,1,2] 1 2", "float[1,1,2] 3 4", "float[1,1,2] 5 6", "-", "-",
            "float[1,1,3,2] random 1", "float[1,1,3,2] random 2", "int32[1] 1"}));
}

static void test_contrib_attention__packed_tokens(void **state)
{
    (void)state;
    /* A sequence of two tokens and one of one, without and with their padding. */
    const struct op_call padded =
        OP(MS("MultiHeadAttention"), 1, "num_heads=2",
           {"float[2,2,4] 1 2 3 4 -1 0 1 2 3 0 1 1 0 0 0 0",
            "float[2,2,4] 2 0 1 1 0 1 0 1 1 1 2 0 0 0 0 0", "float[2,2,2] 1 2 3 4 5 6 0 0", "-",
            "-", "float[1,2,2,2] 0 1 2 0 1 0 0 3"});
    const struct op_call packed =
        OP(MS("PackedMultiHeadAttention"), 1, "num_heads=2",
           {"float[3,4] 1 2 3 4 -1 0 1 2 3 0 1 1", "float[3,4] 2 0 1 1 0 1 0 1 1 1 2 0",
            "float[3,2] 1 2 3 4 5 6", "-", "int32[2,2] 0 1 2 3", "int32[3] 0 2 3",
            "float[1,2,2,2] 0 1 2 0 1 0 0 3"});
    struct odb_tensor *a, *b;
    assert_int_equal(op_run_text(&padded, 1, &a, NULL), ODB_OK);
    assert_int_equal(op_run_text(&packed, 1, &b, NULL), ODB_OK);
    assert_int_equal(b->rank, 2);
    assert_int_equal(b->dims[0], 3);
    assert_int_equal(b->dims[1], 2);
    for (size_t i = 0; i < 4; i++)
        assert_float_equal(odb_tensor_f64(a, i), odb_tensor_f64(b, i), 1e-6);
    assert_float_equal(odb_tensor_f64(b, 4), 5, 0); /* one token: its own value */
    assert_float_equal(odb_tensor_f64(b, 5), 6, 0);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
    OP_EXPECT_SAME(1,
                   OP(MS("PackedMultiHeadAttention"), 1, "num_heads=1",
                      {"float[2,1,3,2] 1 2 3 4 5 6 7 8 9 1 2 3", "-", "-", "float[6] 1 0 1 0 2 2",
                       "int32[1,2] 0 1", "int32[2] 0 2"}),
                   OP(MS("PackedMultiHeadAttention"), 1, "num_heads=1",
                      {"float[2,2] 1 2 7 8", "float[2,2] 3 4 9 1", "float[2,2] 5 6 2 3",
                       "float[6] 1 0 1 0 2 2", "int32[1,2] 0 1", "int32[2] 0 2"}));
    OP_FAILS(OP(MS("PackedAttention"), 1, "num_heads=1",
                {"float[2,2] 1 2 7 8", "float[2,6] random 1", "float[6] random 2", "int32[1,2] 0 1",
                 "int32[2] 0 3"}));
}

static void test_contrib_attention__packed_projection(void **state)
{
    struct odb_tensor *a, *b;
    (void)state;
    const struct op_call plain =
        OP(MS("Attention"), 1, "num_heads=2",
           {"float[1,3,4] random 1", "float[4,12] random 2", "float[12] random 3"});
    const struct op_call packed = OP(MS("PackedAttention"), 1, "num_heads=2",
                                     {"float[3,4] random 1", "float[4,12] random 2",
                                      "float[12] random 3", "int32[1,3] 0 1 2", "int32[2] 0 3"});
    assert_int_equal(op_run_text(&plain, 1, &a, NULL), ODB_OK);
    assert_int_equal(op_run_text(&packed, 1, &b, NULL), ODB_OK);
    for (size_t i = 0; i < 12; i++)
        assert_float_equal(odb_tensor_f64(a, i), odb_tensor_f64(b, i), 1e-6);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
}

static void test_contrib_attention__beams(void **state)
{
    (void)state;
    /* Every beam follows itself. */
    OP_EXPECT_SAME(
        3,
        OP(MS("DecoderMaskedMultiHeadAttention"), 1, "num_heads=1 past_present_share_buffer=1",
           {"float[2,1,2] random 1", "float[2,1,2] random 2", "float[2,1,2] random 3", "-", "-",
            "float[2,1,3,2] random 4", "float[2,1,3,2] random 5", "int32[1] 2"}),
        OP(MS("DecoderMaskedMultiHeadAttention"), 1, "num_heads=1 past_present_share_buffer=1",
           {"float[2,1,2] random 1", "float[2,1,2] random 2", "float[2,1,2] random 3", "-", "-",
            "float[2,1,3,2] random 4", "float[2,1,3,2] random 5", "int32[1] 2", "int32[1] 2",
            "int32[1,2,3] 0 0 0 1 1 0"}));
    /* Each took its first token from the other. */
    OP_EXPECT_SAME(
        1,
        OP(MS("MultiHeadAttention"), 1, "num_heads=1",
           {"float[2,1,2] 1 2 3 4", "float[2,1,2] 0 0 0 0", "float[2,1,2] 1 1 2 2", "-", "-", "-",
            "float[2,1,2,2] 9 9 3 4 1 2 7 8", "float[2,1,2,2] 5 6 1 0 1 2 0 1"}),
        OP(MS("MultiHeadAttention"), 1, "num_heads=1",
           {"float[2,1,2] 1 2 3 4", "float[2,1,2] 0 0 0 0", "float[2,1,2] 1 1 2 2", "-", "-", "-",
            "float[2,1,3,2] 1 2 3 4 0 0 9 9 7 8 0 0", "float[2,1,3,2] 1 2 1 0 0 0 5 6 0 1 0 0",
            "int32[1] 2", "int32[1,2,3] 1 0 0 0 1 0"}));
}

static void test_contrib_attention__decoder_keeps_keys_in_pieces(void **state)
{
    struct odb_tensor *a[2], *b[2];
    (void)state;
    /* One head of eight, two keys before, room for three: pieces of four floats. */
    const struct op_call plain =
        OP(MS("Attention"), 1, "num_heads=1 past_present_share_buffer=1",
           {"float[1,1,2] 1 2", "float[2,24] random 1", "float[24] random 2", "-",
            "float[2,1,1,3,8] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 "
            "1 0 2 0 3 0 1 1 0 1 0 2 0 3 1 1 0 0 0 0 0 0 0 0",
            "-", "int32[1] 2"});
    struct op_call pieces = plain;
    pieces.op = MS("DecoderMaskedSelfAttention");
    pieces.in[4] = "float[2,1,1,3,8] 0 1 2 3 8 9 10 11 16 17 18 19 4 5 6 7 12 13 14 15 20 21 22 23 "
                   "1 0 2 0 3 0 1 1 0 1 0 2 0 3 1 1 0 0 0 0 0 0 0 0";
    assert_int_equal(op_run_text(&plain, 2, a, NULL), ODB_OK);
    assert_int_equal(op_run_text(&pieces, 2, b, NULL), ODB_OK);
    op_assert_close(a[0], b[0], 1e-6, "output");
    for (size_t row = 0; row < 3; row++)
        for (size_t i = 0; i < 8; i++) {
            double key = odb_tensor_f64(b[1], i / 4 * 12 + row * 4 + i % 4);
            assert_float_equal(odb_tensor_f64(a[1], row * 8 + i), key, 0);
            assert_float_equal(odb_tensor_f64(a[1], 24 + row * 8 + i),
                               odb_tensor_f64(b[1], 24 + row * 8 + i), 0);
        }
    for (int i = 0; i < 2; i++) {
        odb_tensor_unref(a[i]);
        odb_tensor_unref(b[i]);
    }
}

static void test_contrib_attention__megatron_mask(void **state)
{
    (void)state;
    OP_EXPECT_SAME(
        1,
        OP(MS("Attention"), 1, "num_heads=1",
           {"float[1,1,2] 1 2", "float[2,6] random 1", "float[6] random 2",
            "int32[1,1,4,4] 0 0 0 0 0 0 0 0 1 0 1 0 0 0 0 0", "float[2,1,1,2,2] random 3"}),
        OP(MS("Attention"), 1, "num_heads=1",
           {"float[1,1,2] 1 2", "float[2,6] random 1", "float[6] random 2", "int32[1,3] 1 0 1",
            "float[2,1,1,2,2] random 3"}));
}

static void test_contrib_attention__decoder_attention(void **state)
{
    (void)state;
    const char *x = "float[2,1,2] 1 2 -1 3", *q = "float[2,2] 1 2 0 1";
    const char *kv = "float[2,4] 1 0 2 1 -1 1 0 3", *bias = "float[6] 1 2 3 4 5 6";
    const char *no = "bool[] 0", *yes = "bool[] 1";
    /* Of its own sequence: what Attention makes of the weights side by side. */
    const struct op_call own = OP(MS("DecoderAttention"), 1, "num_heads=1",
                                  {x, x, q, kv, bias, "-", "-", "-", no, no, no, no});
    const struct op_call plain =
        OP(MS("Attention"), 1, "num_heads=1",
           {"float[1,2,2] 1 2 -1 3", "float[2,6] 1 2 1 0 2 1 0 1 -1 1 0 3", bias});
    struct odb_tensor *a[3], *b[2];
    assert_int_equal(op_run_text(&own, 3, a, NULL), ODB_OK);
    assert_int_equal(op_run_text(&plain, 2, b, NULL), ODB_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_float_equal(odb_tensor_f64(a[0], i), odb_tensor_f64(b[0], i), 1e-6);
        assert_float_equal(odb_tensor_f64(a[1], i), odb_tensor_f64(b[1], i), 0);
        assert_float_equal(odb_tensor_f64(a[2], i), odb_tensor_f64(b[1], 4 + i), 0);
    }
    for (int i = 0; i < 3; i++)
        odb_tensor_unref(a[i]);
    odb_tensor_unref(b[0]);
    odb_tensor_unref(b[1]);
    /* Static keys from the cache, of which the mask leaves the second. */
    OP_EXPECT(0,
              OP(MS("DecoderAttention"), 1, "num_heads=1",
                 {"float[1,1,2] 1 2", x, q, kv, bias, "bool[1,2] 1 0", "float[1,1,2,2] 1 2 1 2",
                  "float[1,1,2,2] 7 8 5 9", yes, yes, yes, yes}),
              "float[1,1,2] 5 9", "float[1,1,2,2] 1 2 1 2", "float[1,1,2,2] 7 8 5 9");
    /* Static keys that are projected; keys before, and a new one. */
    OP_EXPECT(
        0,
        OP(MS("DecoderAttention"), 1, "num_heads=1",
           {"float[1,1,2] 1 2", "float[1,1,2] 0 1", q, kv, bias, "-", "-", "-", yes, no, no, no}),
        "float[1,1,2] 5 9", "float[1,1,1,2] 2 5", "float[1,1,1,2] 5 9");
    OP_EXPECT(1e-6,
              OP(MS("DecoderAttention"), 1, "num_heads=1",
                 {"float[1,1,2] 0 1", x, q, kv, bias, "-", "float[1,1,1,2] 2 5",
                  "float[1,1,1,2] 7 1", no, yes, yes, no}),
              "float[1,1,2] 6 5", "float[1,1,2,2] 2 5 2 5", "float[1,1,2,2] 7 1 5 9");
}

static void test_contrib_attention__modes(void **state)
{
    (void)state;
    const struct op_call c =
        OP(MS("Attention"), 1, "num_heads=3 unidirectional=1",
           {"float[2,17,8] random 1", "float[8,36] random 2", "float[36] random 3"});
    op_expect_modes(&c, 1e-5);
    op_expect_any_threads(&c);
    /* Half types come out as they came in, from sums that are no worse. */
    const struct op_call h = OP(MS("Attention"), 1, "num_heads=1",
                                {"float16[1,2,2] 1 2 3 4", "float16[2,6] 1 0 1 0 1 0 0 1 0 1 0 1"});
    struct odb_tensor *y;
    assert_int_equal(op_run_text(&h, 1, &y, NULL), ODB_OK);
    assert_int_equal(y->dtype, ODB_F16);
    odb_tensor_unref(y);
}

static void test_contrib_attention__nothing_at_all(void **state)
{
    (void)state;
    OP_EXPECT(0,
              OP(MS("Attention"), 1, "num_heads=1",
                 {"float[0,2,2]", "float[2,6] random 1", "float[6] random 2"}),
              "float[0,2,2]", "float[2,0,1,2,2]");
    OP_EXPECT(0,
              OP(MS("MultiHeadAttention"), 1, "num_heads=1",
                 {"float[1,0,2]", "float[1,1,2] 1 2", "float[1,1,2] 1 2"}),
              "float[1,0,2]");
    OP_EXPECT(0,
              OP(MS("MultiHeadAttention"), 1, "num_heads=1",
                 {"float[1,1,2] 1 2", "float[1,0,2]", "float[1,0,2]"}),
              "float[1,1,2] 0 0");
}

static void test_contrib_attention__refuses(void **state)
{
    (void)state;
    const struct {
        enum odb_status status;
        struct op_call call;
    } rows[] = {
        {ODB_E_OPERATOR,
         OP(MS("Attention"), 1, "num_heads=3", {"float[1,1,2] 1 2", "float[2,6] random 1"})},
        {ODB_E_OPERATOR, OP(MS("Attention"), 1, NULL, {"float[1,1,2] 1 2", "float[2,6] random 1"})},
        {ODB_E_OPERATOR,
         OP(MS("Attention"), 1, "num_heads=1", {"float[1,1,3] 1 2 3", "float[2,6] random 1"})},
        {ODB_E_OPERATOR, OP(MS("Attention"), 1, "num_heads=1",
                            {"float[1,1,2] 1 2", "float[2,6] random 1", "float[5] random 1"})},
        {ODB_E_OPERATOR,
         OP(MS("Attention"), 1, "num_heads=1",
            {"float[1,1,2] 1 2", "float[2,6] random 1", "-", "int32[4] 1 1 1 1", "-", "-"})},
        {ODB_E_OPERATOR,
         OP(MS("Attention"), 1, "num_heads=1",
            {"float[2,1,2] 1 2 3 4", "float[2,6] random 1", "-", "int32[2,3] 1 1 1 1 1 1"})},
        {ODB_E_OPERATOR,
         OP(MS("Attention"), 1, "num_heads=1",
            {"float[1,1,2] 1 2", "float[2,6] random 1", "-", "-", "float[2,1,2,1,2] random 1"})},
        {ODB_E_OPERATOR, OP(MS("Attention"), 1, "num_heads=1 past_present_share_buffer=1",
                            {"float[1,1,2] 1 2", "float[2,6] random 1", "-", "-",
                             "float[2,1,1,3,2] random 1", "-", "int32[1] 3"})},
        {ODB_E_OPERATOR,
         OP(MS("Attention"), 1, "num_heads=1",
            {"float[1,1,2] 1 2", "float[2,6] random 1", "-", "-", "-", "float[1,1,1,2] 1 2"})},
        {ODB_UNSUPPORTED, OP(MS("Attention"), 1, "num_heads=1 do_rotary=1",
                             {"float[1,1,2] 1 2", "float[2,6] random 1"})},
        {ODB_E_OPERATOR, OP(MS("MultiHeadAttention"), 1, "num_heads=1", {"float[1,1,2] 1 2"})},
        {ODB_E_OPERATOR,
         OP(MS("MultiHeadAttention"), 1, "num_heads=1", {"float[1,1,2] 1 2", "float[1,1,2] 1 2"})},
        {ODB_E_OPERATOR, OP(MS("MultiHeadAttention"), 1, "num_heads=1",
                            {"float[1,1,2] 1 2", "float[1,1,2] 1 2", "float[1,1,2] 1 2", "-", "-",
                             "-", "float[1,1,1,2] 1 2"})},
        {ODB_E_OPERATOR, OP(MS("DecoderMaskedMultiHeadAttention"), 1, "num_heads=1",
                            {"float[1,2,2] 1 2 3 4", "float[1,1,1,2] 1 2", "float[1,1,1,2] 1 2"})},
        {ODB_E_OPERATOR, OP(MS("MultiHeadAttention"), 1, "num_heads=1",
                            {"float[1,1,2] 1 2", "float[1,1,2] 1 2", "float[1,1,2] 1 2", "-", "-",
                             "-", "float[1,1,2,2] 1 2 3 4", "float[1,1,2,2] 1 2 3 4", "int32[1] 1",
                             "int32[1,1,2] 1 0"})},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        op_expect_error(&rows[i].call, rows[i].status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contrib_attention__masks),
        cmocka_unit_test(test_contrib_attention__past),
        cmocka_unit_test(test_contrib_attention__values_of_another_size),
        cmocka_unit_test(test_contrib_attention__many_heads),
        cmocka_unit_test(test_contrib_attention__decoder),
        cmocka_unit_test(test_contrib_attention__packed_in_one),
        cmocka_unit_test(test_contrib_attention__packed_tokens),
        cmocka_unit_test(test_contrib_attention__packed_projection),
        cmocka_unit_test(test_contrib_attention__beams),
        cmocka_unit_test(test_contrib_attention__decoder_keeps_keys_in_pieces),
        cmocka_unit_test(test_contrib_attention__megatron_mask),
        cmocka_unit_test(test_contrib_attention__decoder_attention),
        cmocka_unit_test(test_contrib_attention__modes),
        cmocka_unit_test(test_contrib_attention__nothing_at_all),
        cmocka_unit_test(test_contrib_attention__refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
