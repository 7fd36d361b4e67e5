import { ApiError, type FieldError } from '../../../api/errors.ts';

/** `tiles[0].series[1].where` and `tiles.0.series.1.where` are the same place. */
const toDottedPath = (path: string): string => `${path.replaceAll(/\[(\d+)\]/g, '.$1')}.`;

/** What the server said about a place or anything in it, without the name of the place before it. */
export function findErrorWithin(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const found = error.fields.filter((field) => toDottedPath(field.path).startsWith(toDottedPath(path)));
  return found.length === 0 ? undefined : found.map(formatMessage).join(' ');
}

/** The value stands in the field already. */
const formatMessage = ({ path, message }: FieldError): string =>
  message.replace(`${path}: `, '').replace(/ <[a-z]+(:[\s\S]*)?>$/, '');
