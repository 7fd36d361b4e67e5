/** A failed check says what to do. */
export type CheckResult =
  | { check: string; isFine: true; text: string }
  | { check: string; isFine: false; text: string; remedy: string };

export const pass = (check: string, text: string): CheckResult => ({ check, isFine: true, text });
export const fail = (check: string, text: string, remedy: string): CheckResult => ({
  check,
  isFine: false,
  text,
  remedy,
});
