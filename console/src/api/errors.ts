/** An error the server reports about one field of the request. */
export interface FieldError {
  /** In the server's notation: `minTotalMemoryGb`, `ipAccessList[0].source`. */
  path: string;
  message: string;
}

/** A failed request to either API. The status is 0 if there was no response. */
export class ApiError extends Error {
  readonly status: number;
  readonly fields: FieldError[];
  readonly requestId: string | undefined;

  constructor(message: string, details: { status: number; fields?: FieldError[]; requestId?: string | undefined }) {
    super(message);
    this.name = 'ApiError';
    this.status = details.status;
    this.fields = details.fields ?? [];
    this.requestId = details.requestId;
  }
}

const STATUS_MESSAGES: Record<number, string> = {
  0: 'Cannot reach the server. Nothing you entered is lost. Try again in a moment.',
  413: 'The request is too large.',
  502: 'The server is not responding.',
  503: 'The server is not ready. Try again in a moment.',
  504: 'The server took too long to respond.',
};

/** `body` is the parsed JSON of the response, if any. */
export function toApiError(status: number, body: unknown, requestId?: string): ApiError {
  const { error, message, errors } = (body ?? {}) as { error?: unknown; message?: unknown; errors?: unknown };
  const about = { status, requestId };
  if (typeof error === 'string') {
    const text = error.replace(/^[A-Z_]+: /, '');
    const fields = parseFieldErrors(text);
    return new ApiError(fields.length > 0 ? fields.map(formatFieldError).join(' ') : endSentence(text), {
      ...about,
      fields,
    });
  }
  if (typeof message === 'string') {
    const fields = (Array.isArray(errors) ? errors.filter(isFieldError) : []).map(({ path, message: rule }) => ({
      path,
      message: endSentence(removeValue(rule.replace(`${path}: `, ''))),
    }));
    return new ApiError(endSentence(message), { ...about, fields });
  }
  return new ApiError(
    STATUS_MESSAGES[status] ?? `The server returned status ${status} without an error message.`,
    about,
  );
}

export const createUnreachableError = (): ApiError => toApiError(0, undefined);

/** `request body.<path>: <rule> <type:value>`, several joined by `; `. */
function parseFieldErrors(text: string): FieldError[] {
  if (!/^(request body|query|path)[.:]/.test(text)) return [];
  return text.split(/; (?=(?:request body|query|path)[.:])/).flatMap((part) => {
    const [, path = '', rule = ''] = /^(?:request body|query|path)(?:\.([^:\s]*))?: ([\s\S]*)$/.exec(part) ?? [];
    return rule === '' ? [] : [{ path, message: endSentence(removeValue(rule)) }];
  });
}

/** The field already shows the value. */
const removeValue = (rule: string): string => rule.replace(/ <[a-z]+(:[\s\S]*)?>$/, '');

const formatFieldError = ({ path, message }: FieldError): string => (path === '' ? message : `${path}: ${message}`);
const endSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
const isFieldError = (value: unknown): value is FieldError =>
  typeof (value as FieldError)?.path === 'string' && typeof (value as FieldError)?.message === 'string';

/** The message to show for any thrown value. */
export const formatError = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something went wrong.';

/** Whether the error is about the field or one of its members: `roles`, `roles[1]`, `hashData.keyIdHash`. */
const isWithin = (field: FieldError, path: string): boolean =>
  field.path === path || field.path.startsWith(`${path}.`) || field.path.startsWith(`${path}[`);

/** The errors of a field and its members. */
export function findFieldError(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const found = error.fields.filter((field) => isWithin(field, path));
  return found.length === 0 ? undefined : found.map(({ message }) => message).join(' ');
}

/** The errors that belong to none of these fields. */
export function findOtherErrors(error: unknown, paths: readonly string[]): string | undefined {
  if (error === null || error === undefined) return undefined;
  if (!(error instanceof ApiError) || error.fields.length === 0) return formatError(error);
  const others = error.fields.filter((field) => !paths.some((path) => isWithin(field, path)));
  return others.length === 0 ? undefined : others.map(formatFieldError).join(' ');
}
