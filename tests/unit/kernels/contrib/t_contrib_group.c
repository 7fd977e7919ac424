/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Attention with shared heads (com.microsoft). Numbers that are not explained are ONNX Runtime
 * 1.22's.
 */
#include "tests/help/op_case.h"

#define MS(op) "com.microsoft::" op

static void test_contrib_group__prompt(void **state)
{
    (void)state;
    OP_EXPECT(2e-6,
              OP("com.microsoft::GroupQueryAttention", 1,
                 "num_heads=2 kv_num_heads=1 softcap=0.5f local_window_size=2",
                 {"float[2,3,16] random 1", "float[2,3,8] random 2", "float[2,3,8] random 3", "-",
                  "-", "int32[2] 2 2", "int32[] 3"}),
              "float[2,3,16] -0.7735796 -0.3503504 0.4688631 -0.3076845 0.2381833 -0.2403708 "
              "0.007170766 -0.03140179 -0.7735796 -0.3503504 0.4688631 -0.3076845 0.2381833 "
              "-0.2403708 0.007170766 -0.03140179 -0.3039962 0.05201173 0.7207904 0.2582377 "
              "-0.1513627 0.1613312 0.4348511 0.3631968 -0.3514752 0.01132938 0.6953183 "
              "0.201018 -0.1119762 0.1207156 0.3916089 0.3232994 -0.2012745 0.4696185 "
              "0.4092977 0.6651058 -0.5157623 0.1950386 0.8135996 0.3380686 -0.1134445 "
              "0.4510282 0.5608041 0.6903529 -0.5091268 0.2855952 0.8123863 0.443607 "
              "-0.6156741 -0.08328376 -0.1675795 -0.4092131 0.4856793 -0.07979371 -0.4677017 "
              "0.6287075 -0.6156741 -0.08328376 -0.1675795 -0.4092131 0.4856793 -0.07979371 "
              "-0.4677017 0.6287075 -0.2907085 -0.2093979 -0.2727712 -0.4121199 -0.04055523 "
              "-0.07955766 -0.6326218 0.5200716 -0.08049213 -0.2909796 -0.3408184 -0.4140002 "
              "-0.3809702 -0.07940496 -0.7393067 0.4497963 0.1287419 0.2239626 -0.1295726 "
              "0.2319881 -0.1163288 -0.1378572 0.2157248 0.3469853 0.1463943 0.1496244 "
              "-0.1668686 0.1584879 -0.2132308 -0.13121 0.08662875 0.3448046",
              "float[2,1,3,8] 0.5364194 0.8342323 0.3827909 -0.2709788 -0.5854606 -0.1196741 "
              "-0.9424793 0.5497184 -0.6066827 0.9006049 0.716458 0.4126442 0.03745412 "
              "0.07358503 0.1482506 -0.3957198 -0.3283031 -0.6608309 -0.9352665 0.99203 "
              "-0.9034978 -0.5797863 -0.5413449 -0.8922469 -0.4206431 -0.7533624 -0.9940968 "
              "0.3503135 0.7075963 -0.6519851 -0.4506353 -0.5453678 0.9631017 0.8308582 "
              "-0.1901019 0.5396299 0.8140444 0.6441218 0.05509294 -0.03047017 -0.2612666 "
              "-0.5378793 0.5285743 0.1847292 0.3004031 -0.3001148 0.162736 0.2393139",
              "float[2,1,3,8] -0.7735796 -0.3503504 0.4688631 -0.3076845 0.2381833 "
              "-0.2403708 0.007170766 -0.03140179 0.1071824 0.4043298 0.9413841 0.753773 "
              "-0.4924587 0.5130713 0.8093385 0.7087169 -0.505679 0.5340496 -0.1157982 "
              "0.5776034 -0.5387597 -0.1188158 0.8178048 -0.02771012 -0.6156741 -0.08328376 "
              "-0.1675795 -0.4092131 0.4856793 -0.07979371 -0.4677017 0.6287075 0.2846715 "
              "-0.4326938 -0.4590222 -0.4172665 -0.9722995 -0.07913969 -0.9246272 0.3277222 "
              "0.02788055 0.6487139 0.08352846 0.6519517 0.4373469 -0.1758381 0.9533495 "
              "0.3594454");
    OP_EXPECT(2e-6,
              OP("com.microsoft::GroupQueryAttention", 1,
                 "num_heads=2 kv_num_heads=1 smooth_softmax=1",
                 {"float[2,3,16] random 1", "float[2,3,8] random 2", "float[2,3,8] random 3", "-",
                  "-", "int32[2] 2 2", "int32[] 3", "-", "-", "-", "float[1,2,3,3] random 9"}),
              "float[2,3,16] -0.2201582 -0.09970858 0.1334369 -0.087566 0.06778619 "
              "-0.06840876 0.002040776 -0.008936848 -0.3110786 -0.1408859 0.1885433 "
              "-0.1237288 0.09578035 -0.09666002 0.002883571 -0.01262756 -0.1854015 "
              "-0.001427471 0.3458357 0.09123772 -0.04950595 0.05369331 0.1897094 0.1558815 "
              "-0.3988318 -0.1270639 0.3932393 -0.05156681 0.05362635 -0.05169651 0.1256954 "
              "0.08985514 -0.2510956 0.2365151 0.3553605 0.3723888 -0.2861914 0.09196214 "
              "0.5178062 0.2200125 -0.1362724 0.206157 0.5235279 0.3895979 -0.2682576 "
              "0.1972809 0.4978517 0.3384852 -0.2680345 -0.03625769 -0.07295596 -0.1781515 "
              "0.2114411 -0.03473829 -0.2036145 0.2737086 -0.129273 -0.01748707 -0.03518664 "
              "-0.08592239 0.101978 -0.01675427 -0.09820322 0.1320096 -0.2225371 -0.1025723 "
              "-0.1430848 -0.2411849 0.06055141 -0.04668729 -0.3445152 0.3223588 -0.1708793 "
              "-0.1120752 -0.1478004 -0.2280751 -0.006367872 -0.04405312 -0.3452006 "
              "0.2912504 -0.07263424 0.1258211 -0.09534752 0.05759859 0.07547011 -0.09419321 "
              "0.05336512 0.3273984 0.04605132 -0.03567469 -0.1811403 -0.06692789 -0.2278835 "
              "-0.07934438 -0.2060066 0.2816255",
              "float[2,1,3,8] 0.5364194 0.8342323 0.3827909 -0.2709788 -0.5854606 -0.1196741 "
              "-0.9424793 0.5497184 -0.6066827 0.9006049 0.716458 0.4126442 0.03745412 "
              "0.07358503 0.1482506 -0.3957198 -0.3283031 -0.6608309 -0.9352665 0.99203 "
              "-0.9034978 -0.5797863 -0.5413449 -0.8922469 -0.4206431 -0.7533624 -0.9940968 "
              "0.3503135 0.7075963 -0.6519851 -0.4506353 -0.5453678 0.9631017 0.8308582 "
              "-0.1901019 0.5396299 0.8140444 0.6441218 0.05509294 -0.03047017 -0.2612666 "
              "-0.5378793 0.5285743 0.1847292 0.3004031 -0.3001148 0.162736 0.2393139",
              "float[2,1,3,8] -0.7735796 -0.3503504 0.4688631 -0.3076845 0.2381833 "
              "-0.2403708 0.007170766 -0.03140179 0.1071824 0.4043298 0.9413841 0.753773 "
              "-0.4924587 0.5130713 0.8093385 0.7087169 -0.505679 0.5340496 -0.1157982 "
              "0.5776034 -0.5387597 -0.1188158 0.8178048 -0.02771012 -0.6156741 -0.08328376 "
              "-0.1675795 -0.4092131 0.4856793 -0.07979371 -0.4677017 0.6287075 0.2846715 "
              "-0.4326938 -0.4590222 -0.4172665 -0.9722995 -0.07913969 -0.9246272 0.3277222 "
              "0.02788055 0.6487139 0.08352846 0.6519517 0.4373469 -0.1758381 0.9533495 "
              "0.3594454");
}

static void test_contrib_group__rotary(void **state)
{
    (void)state;
    OP_EXPECT(2e-6,
              OP("com.microsoft::GroupQueryAttention", 1, "num_heads=2 kv_num_heads=1 do_rotary=1",
                 {"float[1,2,32] random 1", "float[1,2,16] random 2", "float[1,2,16] random 3",
                  "float[1,1,4,16] random 4", "float[1,1,4,16] random 5", "int32[1] 3", "int32[] 4",
                  "float[5,8] random 6", "float[5,8] random 7"}),
              "float[1,2,32] -0.0902079 -0.1556574 0.2719789 -0.3284009 0.04249822 "
              "-0.04958858 -0.1867655 0.3187191 0.08062935 -0.4523053 -0.2950514 -0.1296195 "
              "0.1522094 -0.5004682 0.06512603 0.8970361 -0.2938804 -0.03576928 0.1976925 "
              "-0.3148572 0.09091213 0.03980221 -0.1968639 0.18386 0.209587 -0.3690759 "
              "-0.14749 0.02486834 0.04447969 -0.4144387 0.0943813 0.8809158 -0.4823537 "
              "0.1804906 0.07153702 -0.108061 -0.01484638 0.07273415 0.01750262 0.04210968 "
              "0.1218375 -0.2548451 -0.05797642 0.03220141 0.07028778 -0.2892053 -0.0169835 "
              "0.8155826 -0.5764664 0.3077924 -0.02092063 -0.1379985 0.03336878 0.2012772 "
              "-0.06904533 -0.03276396 0.2878455 -0.3146237 -0.09636465 0.07430789 0.0390401 "
              "-0.3725618 -0.07623965 0.8395877",
              "float[1,1,4,16] -0.08357856 0.465067 0.5549352 -0.3443901 -0.9381728 "
              "-0.3610675 0.9568208 -0.612522 0.8210475 -0.09194539 -0.8336897 -0.9050981 "
              "0.9776284 0.9525575 -0.5295736 -0.1868465 -0.6830548 -0.2710699 0.7036701 "
              "0.1631769 -0.1740217 0.3421547 0.1769545 0.8368266 -0.8107051 0.5867949 "
              "0.6589378 0.8312603 0.2637624 0.4923977 -0.484768 -0.1972171 0.9922746 "
              "0.7172167 0.7314848 -0.199206 -0.3596616 0.1082997 -0.8814738 0.08569837 "
              "-0.1627547 -0.465747 -0.07528667 -0.5239601 -0.5179324 -0.02124907 -0.1070482 "
              "-0.5370372 -0.00823732 0.4980528 -1.148202 -0.8759226 0.4471399 0.3468363 "
              "0.03937855 -0.5027884 -0.5345532 -0.3395049 0.4956112 0.3073324 0.2357778 "
              "0.1156547 0.5239779 0.5199446",
              "float[1,1,4,16] 0.6064225 -0.7195157 0.6410074 -0.3810957 -0.1145289 "
              "-0.4817642 -0.09352919 0.8063578 -0.4650874 -0.5882205 -0.6087635 -0.5639693 "
              "0.4477156 -0.6079562 0.1315143 0.9175901 -0.8604307 0.9238105 -0.4768615 "
              "-0.2512497 0.1907164 0.8031251 -0.4638958 -0.2986366 0.9942639 -0.7431265 "
              "-0.514545 0.07173366 0.04184539 -0.9354109 -0.5018343 0.9768581 -0.7735796 "
              "-0.3503504 0.4688631 -0.3076845 0.2381833 -0.2403708 0.007170766 -0.03140179 "
              "0.1071824 0.4043298 0.9413841 0.753773 -0.4924587 0.5130713 0.8093385 "
              "0.7087169 -0.505679 0.5340496 -0.1157982 0.5776034 -0.5387597 -0.1188158 "
              "0.8178048 -0.02771012 -0.6156741 -0.08328376 -0.1675795 -0.4092131 0.4856793 "
              "-0.07979371 -0.4677017 0.6287075");
}

static void test_contrib_group__cache(void **state)
{
    (void)state;
    OP_EXPECT(
        2e-6,
        OP("com.microsoft::GroupQueryAttention", 1, "num_heads=2 kv_num_heads=1",
           {"float[2,1,16] random 1", "float[2,1,8] random 2", "float[2,1,8] random 3",
            "float[2,1,3,8] random 4", "float[2,1,3,8] random 5", "int32[2] 2 1", "int32[] 3"}),
        "float[2,1,16] -0.1470264 -0.5785416 0.1117601 -0.4345611 0.190506 -0.472276 "
        "0.01872099 0.6460146 -0.3621936 -0.5220636 0.07714951 -0.4247849 0.2475078 "
        "-0.4368218 0.03544432 0.5206957 0.5723134 -0.1973257 0.1779845 0.3961535 "
        "-0.2123025 -0.2464237 0.1218401 0.8493136 0.5779415 -0.2046058 0.1687472 "
        "0.3918263 -0.2089126 -0.2556137 0.1135213 0.8510149",
        "float[2,1,3,8] -0.08357856 0.465067 0.5549352 -0.3443901 -0.9381728 "
        "-0.3610675 0.9568208 -0.612522 0.8210475 -0.09194539 -0.8336897 -0.9050981 "
        "0.9776284 0.9525575 -0.5295736 -0.1868465 0.5364194 0.8342323 0.3827909 "
        "-0.2709788 -0.5854606 -0.1196741 -0.9424793 0.5497184 -0.8107051 0.5867949 "
        "0.6589378 0.8312603 0.2637624 0.4923977 -0.484768 -0.1972171 -0.6066827 "
        "0.9006049 0.716458 0.4126442 0.03745412 0.07358503 0.1482506 -0.3957198 0 0 0 "
        "0 0 0 0 0",
        "float[2,1,3,8] 0.6064225 -0.7195157 0.6410074 -0.3810957 -0.1145289 "
        "-0.4817642 -0.09352919 0.8063578 -0.4650874 -0.5882205 -0.6087635 -0.5639693 "
        "0.4477156 -0.6079562 0.1315143 0.9175901 -0.7735796 -0.3503504 0.4688631 "
        "-0.3076845 0.2381833 -0.2403708 0.007170766 -0.03140179 0.9942639 -0.7431265 "
        "-0.514545 0.07173366 0.04184539 -0.9354109 -0.5018343 0.9768581 0.1071824 "
        "0.4043298 0.9413841 0.753773 -0.4924587 0.5130713 0.8093385 0.7087169 0 0 0 0 "
        "0 0 0 0");
}

/* Caches that are longer than needed, of entries of different lengths, and prompts with padding. */
static void test_contrib_group__lengths(void **state)
{
    (void)state;
    const char *attrs = "num_heads=1 kv_num_heads=1";
    OP_EXPECT(1e-6,
              OP(MS("GroupQueryAttention"), 1, attrs,
                 {"float[2,1,2] 0 0 0 0", "float[2,1,2] 1 2 3 4", "float[2,1,2] 9 9 6 3",
                  "float[2,1,4,2] 1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8",
                  "float[2,1,4,2] 1 2 3 4 5 6 7 8 0 9 2 2 3 3 4 4", "int32[2] 2 1", "int32[] 3"}),
              "float[2,1,2] 4.3333335 5 3 6", "float[2,1,4,2] 1 1 2 2 1 2 0 0 5 5 3 4 0 0 0 0",
              "float[2,1,4,2] 1 2 3 4 9 9 0 0 0 9 6 3 0 0 0 0");
    OP_EXPECT(1e-6,
              OP(MS("GroupQueryAttention"), 1, attrs,
                 {"float[2,2,2] 0 0 0 0 0 0 0 0", "float[2,2,2] 1 2 3 4 5 6 7 8",
                  "float[2,2,2] 1 2 3 4 5 6 7 8", "-", "-", "int32[2] 1 0", "int32[] 2"}),
              "float[2,2,2] 1 2 2 3 5 6 5 6", "float[2,1,2,2] 1 2 3 4 5 6 7 8",
              "float[2,1,2,2] 1 2 3 4 5 6 7 8");
}

static void test_contrib_group__packed_and_shared(void **state)
{
    (void)state;
    OP_EXPECT_SAME(3,
                   OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1",
                      {"float[1,2,8] 1 2 3 4 5 6 7 8 -1 1 0 2 3 0 1 2", "-", "-", "-", "-",
                       "int32[1] 1", "int32[] 2"}),
                   OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1",
                      {"float[1,2,4] 1 2 3 4 -1 1 0 2", "float[1,2,2] 5 6 3 0",
                       "float[1,2,2] 7 8 1 2", "-", "-", "int32[1] 1", "int32[] 2"}));
}

static void test_contrib_group__sink(void **state)
{
    (void)state;
    /* One key with score 0: half of the weight, or a quarter against a sink of ln 3. */
    OP_EXPECT(1e-6,
              OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1",
                 {"float[1,1,4] 0 0 0 0", "float[1,1,2] 1 2", "float[1,1,2] 8 4", "-", "-",
                  "int32[1] 0", "int32[] 1", "-", "-", "-", "-", "float[2] 0 1.0986123"}),
              "float[1,1,4] 4 2 2 1", "float[1,1,1,2] 1 2", "float[1,1,1,2] 8 4");
}

static void test_contrib_group__positions(void **state)
{
    (void)state;
    /* Of a prompt's positions the first counts. */
    OP_EXPECT_SAME(3,
                   OP(MS("GroupQueryAttention"), 1, "num_heads=1 kv_num_heads=1 do_rotary=1",
                      {"float[1,2,2] 1 2 3 4", "float[1,2,2] 5 6 3 0", "float[1,2,2] 7 8 1 2", "-",
                       "-", "int32[1] 1", "int32[] 2", "float[4,1] random 1", "float[4,1] random 2",
                       "int64[1,2] 2 0"}),
                   OP(MS("GroupQueryAttention"), 1, "num_heads=1 kv_num_heads=1 do_rotary=1",
                      {"float[1,2,2] 1 2 3 4", "float[1,2,2] 5 6 3 0", "float[1,2,2] 7 8 1 2", "-",
                       "-", "int32[1] 1", "int32[] 2", "float[4,1] random 1", "float[4,1] random 2",
                       "int64[1,2] 2 3"}));
}

/* Blocks of two; the second head's third row of blocks leaves the first out. */
static void test_contrib_group__sparse(void **state)
{
    (void)state;
    const char *q = "float[1,5,4] random 1", *key = "float[1,5,2] random 2";
    const char *value = "float[1,5,2] random 3", *cache = "float[1,1,6,2] random 4";
    const struct op_call sparse =
        OP(MS("SparseAttention"), 1, "num_heads=2 kv_num_heads=1 sparse_block_size=2",
           {q, key, value, cache, cache, "int32[2,4] 0 1 3 6 0 1 3 5",
            "int32[2,6] 0 0 1 0 1 2 0 0 1 1 2 -1", "int32[] 5", "int32[1] 5"});
    const struct op_call dense =
        OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1",
           {q, key, value, "-", "-", "int32[1] 4", "int32[] 5", "-", "-", "-",
            "float[1,2,5,5] 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
            "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -inf -inf 0 0 0"});
    struct odb_tensor *a[3], *b[3];
    assert_int_equal(op_run_text(&sparse, 3, a, NULL), ODB_OK);
    assert_int_equal(op_run_text(&dense, 3, b, NULL), ODB_OK);
    op_assert_close(a[0], b[0], 1e-6, "output");
    assert_int_equal(a[1]->dims[2], 6);
    for (size_t i = 0; i < 10; i++)
        assert_float_equal(odb_tensor_f64(a[1], i), odb_tensor_f64(b[1], i), 0);
    struct odb_tensor *kept = op_tensor(cache); /* behind the last key nothing changes */
    for (size_t i = 10; i < 12; i++)
        assert_float_equal(odb_tensor_f64(a[2], i), odb_tensor_f64(kept, i), 0);
    odb_tensor_unref(kept);
    for (int i = 0; i < 3; i++) {
        odb_tensor_unref(a[i]);
        odb_tensor_unref(b[i]);
    }
}

static void test_contrib_group__modes(void **state)
{
    (void)state;
    const struct op_call c =
        OP(MS("GroupQueryAttention"), 1,
           "num_heads=4 kv_num_heads=2 do_rotary=1 softcap=2f local_window_size=5",
           {"float[2,19,32] random 1", "float[2,19,16] random 2", "float[2,19,16] random 3", "-",
            "-", "int32[2] 18 11", "int32[] 19", "float[20,4] random 4", "float[20,4] random 5"});
    op_expect_modes(&c, 1e-5);
    op_expect_any_threads(&c);
}

static void test_contrib_group__refuses(void **state)
{
    (void)state;
    const char *q = "float[1,1,4] 1 2 3 4", *key = "float[1,1,2] 1 2";
    const char *past = "float[1,1,2,2] 1 2 3 4";
    const struct {
        enum odb_status status;
        struct op_call call;
    } rows[] = {
        {ODB_E_OPERATOR, OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1", {q})},
        {ODB_E_OPERATOR, OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=3",
                            {q, key, key, "-", "-", "int32[1] 0", "int32[] 1"})},
        {ODB_E_OPERATOR, OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1",
                            {q, key, "-", "-", "-", "int32[1] 0", "int32[] 1"})},
        {ODB_E_OPERATOR, OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1",
                            {q, key, key, past, past, "int32[1] 5", "int32[] 3"})},
        {ODB_E_OPERATOR, OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1",
                            {q, key, key, past, past, "int32[1] -2", "int32[] 3"})},
        {ODB_E_OPERATOR, OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1 do_rotary=1",
                            {q, key, key, past, past, "int32[1] 2", "int32[] 3"})},
        {ODB_E_OPERATOR, OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1 do_rotary=1",
                            {q, key, key, past, past, "int32[1] 2", "int32[] 3", "float[2,1] 1 2",
                             "float[2,1] 1 2"})},
        {ODB_UNSUPPORTED, OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1 causal=0",
                             {q, key, key, "-", "-", "int32[1] 0", "int32[] 1"})},
        {ODB_UNSUPPORTED,
         OP(MS("GroupQueryAttention"), 1, "num_heads=2 kv_num_heads=1 local_window_size=0",
            {q, key, key, "-", "-", "int32[1] 0", "int32[] 1"})},
        {ODB_E_OPERATOR,
         OP(MS("SparseAttention"), 1, "num_heads=2 kv_num_heads=1 sparse_block_size=2",
            {q, key, key, past, past, "int32[1,2] 1 1", "int32[1,1] 0", "int32[] 2",
             "int32[1] 2"})},
        {ODB_E_OPERATOR,
         OP(MS("SparseAttention"), 1, "num_heads=2 kv_num_heads=1 sparse_block_size=1",
            {q, key, key, past, past, "int32[1,2] 0 1", "int32[1,1] 0", "int32[] 2",
             "int32[1] 2"})},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        op_expect_error(&rows[i].call, rows[i].status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contrib_group__prompt),
        cmocka_unit_test(test_contrib_group__rotary),
        cmocka_unit_test(test_contrib_group__cache),
        cmocka_unit_test(test_contrib_group__lengths),
        cmocka_unit_test(test_contrib_group__packed_and_shared),
        cmocka_unit_test(test_contrib_group__sink),
        cmocka_unit_test(test_contrib_group__positions),
        cmocka_unit_test(test_contrib_group__sparse),
        cmocka_unit_test(test_contrib_group__modes),
        cmocka_unit_test(test_contrib_group__refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
