import { ApiError, type FieldError } from '../../api/errors.ts';

/** `tiles[0].series[1].where` and `tiles.0.series.1.where` are equivalent. */
const toDottedPath = (path: string): string => `${path.replaceAll(/\[(\d+)\]/g, '.$1')}.`;

/** Errors of a field and its members, without the path prefix. */
export function findErrorWithin(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const found = error.fields.filter((field) => toDottedPath(field.path).startsWith(toDottedPath(path)));
  return found.length === 0 ? undefined : found.map(formatMessage).join(' ');
}

/** Omits the value: the field already shows it. */
const formatMessage = ({ path, message }: FieldError): string =>
  message.replace(`${path}: `, '').replace(/ <[a-z]+(:[\s\S]*)?>$/, '');
