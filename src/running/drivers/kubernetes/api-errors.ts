import { AppError } from '../../../kernel/errors.ts';
import { type ApiRequest, formatResource } from './api-request.ts';

/** The members of a `Status` object that decide what an error means. */
interface Status {
  kind?: string;
  reason?: string;
  details?: { causes?: { field?: string; message?: string }[]; retryAfterSeconds?: number };
}

const MAX_TEXT_LENGTH = 300;

/** Empty if the text is not a JSON object. */
export function parseJsonObject(body: string): object {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/**
 * Whether the object changed after it was read. A failed `test` of a JSON Patch is a 422 without details; a value that the
 * schema of the resource rejects has causes.
 */
export function isConflict(status: number, { reason, details }: Status): boolean {
  if (status === 409) return reason === 'Conflict';
  return status === 422 && (details?.causes ?? []).length === 0;
}

export function toApiError(request: ApiRequest, status: number, body: string): AppError {
  const answer: Status = parseJsonObject(body);
  const subject = formatResource(request);
  switch (status) {
    case 401:
      return new AppError('unavailable', 'The Kubernetes API server rejects the credentials (401)');
    case 403:
      return new AppError(
        'unavailable',
        `The Kubernetes account is not allowed to ${request.verb} ${subject} (403); deploy/kubernetes/rbac.yaml has the rules it needs`,
      );
    case 404:
      return toNotFound(request, answer);
    case 422:
      return new AppError('conflict', `Kubernetes rejects the change of ${subject}: ${formatCauses(answer)}`);
    default: {
      const { retryAfterSeconds } = answer.details ?? {};
      return new AppError(
        'unavailable',
        `The Kubernetes API server responded with status ${status} to ${request.verb} ${subject}`,
        retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
      );
    }
  }
}

/** A resource that the server does not know is answered in plain text, without a `Status`. */
const toNotFound = (request: ApiRequest, answer: Status): AppError =>
  new AppError(
    'not_found',
    answer.kind === 'Status'
      ? `${formatResource(request)} does not exist`
      : `The Kubernetes cluster has no ${request.resource}.${request.group}/${request.version}; install the operator and its custom resource definitions`,
  );

const formatCauses = ({ details }: Status): string =>
  (details?.causes ?? [])
    .map(({ field, message }) => `${field}: ${message}`)
    .join('; ')
    .slice(0, MAX_TEXT_LENGTH) || 'the object changed each time, or the change does not fit it';
