/* Reads single values out of the JSON object that mm writes on stdin. mm has already checked it: it is valid JSON in UTF-8,
 * one object, without duplicate keys. Still nothing here trusts that further than it must. */

#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

/* Copies the text under `key` of the object `json` into `value`, ended by a zero byte.
 * False if there is no such text, or it does not fit or holds a zero byte. */
bool read_text_argument(const char *json, const char *key, char *value, size_t room);

/* Copies the number under `key` into `*value`; whole numbers are exact up to 2^53. False if there is none. */
bool read_number_argument(const char *json, const char *key, double *value);

/* Copies the boolean under `key` into `*value`. False if there is none. */
bool read_boolean_argument(const char *json, const char *key, bool *value);

#endif
