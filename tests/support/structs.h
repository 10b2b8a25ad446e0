/* Public structs by their fields. */
#ifndef SUPPORT_STRUCTS_H
#define SUPPORT_STRUCTS_H

#define STRUCT(type, ...) ((type){.struct_size = sizeof(type), __VA_ARGS__})
#define MODEL(...) STRUCT(certreg_model, __VA_ARGS__)
#define PLAN(...) STRUCT(certreg_plan, __VA_ARGS__)
#define QUESTION(...) STRUCT(certreg_question, __VA_ARGS__)
#define BOUNDS(...) STRUCT(certreg_bounds, __VA_ARGS__)

#endif
