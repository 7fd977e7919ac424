/* SPDX-License-Identifier: MIT
 *
 * What of ONNX Runtime's C interface onnxdbg calls. The library exports one symbol,
 * OrtGetApiBase; everything else hangs in a table of function pointers to which releases only ever
 * append, so a function is known by its place in the table and no header is needed to build.
 */
#ifndef ODB_EXECUTOR_ORT_ORT_API_H
#define ODB_EXECUTOR_ORT_ORT_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORT_API_WANTED 22 /* newest table that we know */
#define ORT_API_NEEDED 16 /* oldest that was tried; what came later may be missing */

struct ort_status;
struct ort_env;
struct ort_session;
struct ort_session_options;
struct ort_run_options;
struct ort_value;
struct ort_memory_info;
struct ort_allocator;
struct ort_type_info;
struct ort_shape_info;

struct ort_base {
    const void *const *(*get_api)(uint32_t version);
    const char *(*get_version_string)(void);
};

typedef void (*ort_log_fn)(void *param, int severity, const char *category, const char *logid,
                           const char *location, const char *message);

/* ONNXType */
enum ort_kind { ORT_TENSOR = 1, ORT_SEQUENCE = 2, ORT_MAP = 3, ORT_SPARSE = 5, ORT_OPTIONAL = 6 };

/* ONNXTensorElementDataType is TensorProto.DataType but for the last three. */
enum ort_dtype { ORT_U2 = 24, ORT_I2 = 25, ORT_F8E8M0 = 26 };

/* OrtErrorCode */
enum ort_code { ORT_NOT_IMPLEMENTED = 9 };

/* GraphOptimizationLevel */
enum ort_opt { ORT_OPT_DISABLED = 0, ORT_OPT_LAYOUT = 3 };

enum ort_log_level { ORT_LOG_VERBOSE = 0, ORT_LOG_ERROR = 3 };

/* X(slot, first table version with it, result, name, arguments) */
#define ORT_FUNCTIONS(X)                                                                           \
    X(1, 1, int, get_error_code, (const struct ort_status *))                                      \
    X(2, 1, const char *, get_error_message, (const struct ort_status *))                          \
    X(4, 1, struct ort_status *, create_env,                                                       \
      (ort_log_fn, void *, int, const char *, struct ort_env **))                                  \
    X(6, 1, struct ort_status *, disable_telemetry, (const struct ort_env *))                      \
    X(7, 1, struct ort_status *, open_session,                                                     \
      (const struct ort_env *, const char *, const struct ort_session_options *,                   \
       struct ort_session **))                                                                     \
    X(8, 1, struct ort_status *, create_session,                                                   \
      (const struct ort_env *, const void *, size_t, const struct ort_session_options *,           \
       struct ort_session **))                                                                     \
    X(9, 1, struct ort_status *, run,                                                              \
      (struct ort_session *, const struct ort_run_options *, const char *const *,                  \
       const struct ort_value *const *, size_t, const char *const *, size_t, struct ort_value **)) \
    X(10, 1, struct ort_status *, create_options, (struct ort_session_options **))                 \
    X(11, 1, struct ort_status *, write_optimized, (struct ort_session_options *, const char *))   \
    X(13, 1, struct ort_status *, set_execution_mode, (struct ort_session_options *, int))         \
    X(14, 1, struct ort_status *, enable_profiling, (struct ort_session_options *, const char *))  \
    X(17, 1, struct ort_status *, disable_mem_pattern, (struct ort_session_options *))             \
    X(19, 1, struct ort_status *, disable_arena, (struct ort_session_options *))                   \
    X(22, 1, struct ort_status *, set_log_level, (struct ort_session_options *, int))              \
    X(23, 1, struct ort_status *, set_optimization, (struct ort_session_options *, int))           \
    X(24, 1, struct ort_status *, set_intra_threads, (struct ort_session_options *, int))          \
    X(25, 1, struct ort_status *, set_inter_threads, (struct ort_session_options *, int))          \
    X(30, 1, struct ort_status *, input_count, (const struct ort_session *, size_t *))             \
    X(31, 1, struct ort_status *, output_count, (const struct ort_session *, size_t *))            \
    X(33, 1, struct ort_status *, input_type,                                                      \
      (const struct ort_session *, size_t, struct ort_type_info **))                               \
    X(34, 1, struct ort_status *, output_type,                                                     \
      (const struct ort_session *, size_t, struct ort_type_info **))                               \
    X(36, 1, struct ort_status *, input_name,                                                      \
      (const struct ort_session *, size_t, struct ort_allocator *, char **))                       \
    X(37, 1, struct ort_status *, output_name,                                                     \
      (const struct ort_session *, size_t, struct ort_allocator *, char **))                       \
    X(39, 1, struct ort_status *, create_run_options, (struct ort_run_options **))                 \
    X(41, 1, struct ort_status *, set_run_log_level, (struct ort_run_options *, int))              \
    X(46, 1, struct ort_status *, terminate, (struct ort_run_options *))                           \
    X(48, 1, struct ort_status *, create_tensor,                                                   \
      (struct ort_allocator *, const int64_t *, size_t, int, struct ort_value **))                 \
    X(49, 1, struct ort_status *, create_tensor_with_data,                                         \
      (const struct ort_memory_info *, void *, size_t, const int64_t *, size_t, int,               \
       struct ort_value **))                                                                       \
    X(51, 1, struct ort_status *, tensor_data, (struct ort_value *, void **))                      \
    X(52, 1, struct ort_status *, fill_strings, (struct ort_value *, const char *const *, size_t)) \
    X(53, 1, struct ort_status *, strings_size, (const struct ort_value *, size_t *))              \
    X(54, 1, struct ort_status *, strings,                                                         \
      (const struct ort_value *, void *, size_t, size_t *, size_t))                                \
    X(56, 1, struct ort_status *, type_kind, (const struct ort_type_info *, int *))                \
    X(60, 1, struct ort_status *, shape_dtype, (const struct ort_shape_info *, int *))             \
    X(61, 1, struct ort_status *, shape_rank, (const struct ort_shape_info *, size_t *))           \
    X(62, 1, struct ort_status *, shape_dims, (const struct ort_shape_info *, int64_t *, size_t))  \
    X(65, 1, struct ort_status *, tensor_shape,                                                    \
      (const struct ort_value *, struct ort_shape_info **))                                        \
    X(67, 1, struct ort_status *, value_kind, (const struct ort_value *, int *))                   \
    X(69, 1, struct ort_status *, cpu_memory, (int, int, struct ort_memory_info **))               \
    X(76, 1, struct ort_status *, allocator_free, (struct ort_allocator *, void *))                \
    X(78, 1, struct ort_status *, default_allocator, (struct ort_allocator **))                    \
    X(80, 1, struct ort_status *, part,                                                            \
      (const struct ort_value *, int, struct ort_allocator *, struct ort_value **))                \
    X(81, 1, struct ort_status *, part_count, (const struct ort_value *, size_t *))                \
    X(82, 1, struct ort_status *, create_container,                                                \
      (const struct ort_value *const *, size_t, int, struct ort_value **))                         \
    X(92, 1, void, release_env, (struct ort_env *))                                                \
    X(93, 1, void, release_status, (struct ort_status *))                                          \
    X(94, 1, void, release_memory, (struct ort_memory_info *))                                     \
    X(95, 1, void, release_session, (struct ort_session *))                                        \
    X(96, 1, void, release_value, (struct ort_value *))                                            \
    X(97, 1, void, release_run_options, (struct ort_run_options *))                                \
    X(98, 1, void, release_type, (struct ort_type_info *))                                         \
    X(99, 1, void, release_shape, (struct ort_shape_info *))                                       \
    X(100, 1, void, release_options, (struct ort_session_options *))                               \
    X(110, 2, struct ort_status *, end_profiling,                                                  \
      (struct ort_session *, struct ort_allocator *, char **))                                     \
    X(125, 4, struct ort_status *, providers, (char ***, int *))                                   \
    X(126, 4, struct ort_status *, release_providers, (char **, int))                              \
    X(130, 5, struct ort_status *, set_config,                                                     \
      (struct ort_session_options *, const char *, const char *))                                  \
    X(192, 10, struct ort_status *, has_value, (const struct ort_value *, int *))                  \
    X(210, 12, struct ort_status *, add_weights,                                                   \
      (struct ort_session_options *, const char *const *, const struct ort_value *const *,         \
       size_t))                                                                                    \
    X(216, 12, struct ort_status *, append_provider,                                               \
      (struct ort_session_options *, const char *, const char *const *, const char *const *,       \
       size_t))                                                                                    \
    X(228, 14, struct ort_status *, custom_ops, (struct ort_session_options *, const char *))      \
    X(273, 17, struct ort_status *, set_deterministic, (struct ort_session_options *, bool))       \
    X(275, 17, struct ort_status *, append_openvino,                                               \
      (struct ort_session_options *, const char *const *, const char *const *, size_t))            \
    X(293, 22, struct ort_status *, cancel_load, (struct ort_session_options *, bool))

/* Providers with options of a type of their own, which are made and filled before they are
 * appended. X(name, slots of append, create, update, release) */
#define ORT_PROVIDERS(X)                                                                           \
    X("tensorrt", 170, 171, 172, 174)                                                              \
    X("cuda", 204, 205, 206, 208)                                                                  \
    X("cann", 220, 221, 222, 224)                                                                  \
    X("dnnl", 239, 240, 241, 243)                                                                  \
    X("rocm", 153, 255, 256, 258)

struct ort_provider_options;

struct ort_provider_api {
    struct ort_status *(*append)(struct ort_session_options *, const struct ort_provider_options *);
    struct ort_status *(*create)(struct ort_provider_options **);
    struct ort_status *(*update)(struct ort_provider_options *, const char *const *,
                                 const char *const *, size_t);
    void (*release)(struct ort_provider_options *);
};

struct ort_api {
#define ORT_MEMBER(slot, since, result, name, args) result(*name) args;
    ORT_FUNCTIONS(ORT_MEMBER)
#undef ORT_MEMBER
};

#endif
