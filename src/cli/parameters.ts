import { parseDate } from '../kernel/time/clock.ts';
import type { Day } from '../kernel/time/days.ts';
import { INVALID } from '../server/settings/settings.ts';

/** The valid values of an option or argument. `rule` completes the sentence "--option …" in error messages. */
export interface ValueRule<T> {
  rule: string;
  /** Error messages omit the value. */
  isSecret?: boolean;
  parse(text: string): T | typeof INVALID;
}

/** An option or argument of a command; `T` is the type of its parsed value. */
interface Parameter<T> {
  /** `<name>`, `<role...>`, `[ids...]`; empty for a switch. */
  syntax: string;
  help: string;
  isRequired?: boolean;
  fallback?: string;
  /** Adds an entry to `problems` for each invalid value. `label` is `--name` or `<name>`. */
  read(given: unknown, label: string, problems: string[]): T;
}

export type ParameterSet = Record<string, Parameter<unknown>>;
export type ParameterValues<P> = { [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never };

/** `dryRun` → `--dry-run`. */
export const formatFlag = (key: string): string => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const MAX_QUOTED_CHARACTERS = 80;

function readText<T>({ parse, rule, isSecret }: ValueRule<T>, text: string, label: string, problems: string[]): T {
  const value = parse(text);
  if (value === INVALID) problems.push(`${label} ${rule}${isSecret ? '' : `, not "${shorten(text)}"`}`);
  return value as T;
}

const shorten = (text: string): string =>
  text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}…` : text;

export const anyText: ValueRule<string> = { rule: '', parse: (text) => text };

/** The limits of a schema of text. */
export const textWithin = ({ minLength, maxLength }: { minLength: number; maxLength: number }): ValueRule<string> => ({
  rule: `must have ${minLength} to ${maxLength} characters`,
  parse: (text) => (text.length >= minLength && text.length <= maxLength ? text : INVALID),
});

export function oneOf<T extends string>(allowed: readonly T[]): ValueRule<T> {
  return {
    rule: `must be one of ${allowed.join(', ')}`,
    parse: (text) => allowed.find((value) => value === text) ?? INVALID,
  };
}

export const dayRule: ValueRule<Day> = {
  rule: 'must be a date (YYYY-MM-DD)',
  parse: (text) => (parseDate(text) === undefined ? INVALID : text),
};

/** Any number: the API checks its range and steps. */
export const numberRule: ValueRule<number> = {
  rule: 'must be a number',
  parse: (text) => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : INVALID),
};

export const countRule: ValueRule<number> = {
  rule: 'must be a whole number from 1 to 10000',
  parse: (text) => (/^[1-9]\d{0,3}$|^10000$/.test(text) ? Number(text) : INVALID),
};

/** A switch such as `--dry-run`. */
export const flag = (help: string): Parameter<boolean> => ({ syntax: '', help, read: (given) => given === true });

export function option(syntax: string, help: string): Parameter<string | undefined>;
export function option<T>(syntax: string, help: string, value: ValueRule<T>): Parameter<T | undefined>;
export function option(syntax: string, help: string, value: ValueRule<unknown> = anyText): Parameter<unknown> {
  return {
    syntax,
    help,
    read: (given, label, problems) =>
      given === undefined ? undefined : readText(value, String(given), label, problems),
  };
}

export function requiredOption<T>(syntax: string, help: string, value: ValueRule<T>): Parameter<T> {
  return {
    syntax,
    help,
    isRequired: true,
    read: (given, label, problems) => readText(value, String(given), label, problems),
  };
}

export function optionWithDefault<T>(
  syntax: string,
  help: string,
  fallback: string,
  value: ValueRule<T>,
): Parameter<T> {
  return { ...requiredOption(syntax, help, value), isRequired: false, fallback };
}

/** An option with one or more values: `<role...>`. */
export function listOption<T>(syntax: string, help: string, value: ValueRule<T>): Parameter<T[] | undefined> {
  return {
    syntax,
    help,
    read: (given, label, problems) =>
      (given as string[] | undefined)?.map((text) => readText(value, text, label, problems)),
  };
}

export function argument(syntax: string, help: string): Parameter<string>;
export function argument<T>(syntax: string, help: string, value: ValueRule<T>): Parameter<T>;
export function argument(syntax: string, help: string, value: ValueRule<unknown> = anyText): Parameter<unknown> {
  return requiredOption(syntax, help, value);
}

/** `<files...>`, or `[ids...]` for a list that may be empty. */
export const argumentList = (syntax: string, help: string): Parameter<string[]> => ({
  syntax,
  help,
  read: (given) => (given as string[] | undefined) ?? [],
});

export const jsonOption = flag('Print JSON');
export const organizationOption = option('<id or name>', 'Organization; required if there is more than one');
export const dryRunOption = flag('Print the changes without storing them');
