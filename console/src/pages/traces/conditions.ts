/** A literal of SQL. */
const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Conditions in SQL, because it compares the whole value, whatever characters it has. */
export const equals = (expression: string, value: string): string => `${expression} = ${quote(value)}`;

export const hasEntry = (map: string, key: string, value: string): string => `${map}[${quote(key)}] = ${quote(value)}`;

export const both = (...conditions: string[]): string => conditions.join(' AND ');

export const either = (...conditions: string[]): string => `(${conditions.join(' OR ')})`;
