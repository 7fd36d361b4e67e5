import Type from 'typebox';

/** The defaults of the public service, which are the only values here. */
export const PUBLIC_DEFAULTS = { releaseChannel: 'default', profile: 'v1-default', enableCoreDumps: false } as const;

/**
 * A member that the public interface has and we do not support: a value that requests nothing is accepted, any other is
 * rejected with the sentence (decision B4).
 */
export const Unsupported = (sentence: string, asksForNothing: (value: unknown) => boolean = isNothing) =>
  Type.Optional(
    Type.Refine(Type.Unknown({ description: `Not supported. ${sentence}` }), asksForNothing, () => sentence),
  );

/** `false`, empty text, and lists and objects of nothing. `null` is removed before. */
function isNothing(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isNothing);
  return value === undefined || value === null || value === '' || value === false;
}

/** As `Unsupported`, but one value is the only one that we have. */
export const UnsupportedUnless = (accepted: string, sentence: string) =>
  Unsupported(sentence, (value) => value === accepted || isNothing(value));
