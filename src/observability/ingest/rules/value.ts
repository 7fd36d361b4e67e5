/** Strings are bytes, a character each: they are compared as the engine compares them, also if they are not valid UTF-8. */
export type MapEntries = readonly (readonly [key: string, value: string])[];

/** NULL is null. */
export type Value = string | number | bigint | boolean | null | MapEntries | readonly string[];

/** `item` is the current element of an array. */
export type Evaluate = (item: Value) => Value;
