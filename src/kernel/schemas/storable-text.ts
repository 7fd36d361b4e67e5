import Type from 'typebox';
import { isStorable, STORABLE_RULE } from '../text.ts';

/** A string of limited length that every store can hold. */
export const StorableText = (options: { minLength?: number; maxLength: number; description?: string }) =>
  Type.Refine(Type.String(options), isStorable, () => STORABLE_RULE);
