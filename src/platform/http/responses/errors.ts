import type { FastifyError } from 'fastify';
import { AppError, type ErrorCode } from '../../../kernel/errors.ts';
import { formatBytes } from '../../../kernel/numbers/bytes.ts';

const FRAMEWORK_ERRORS: Record<string, [ErrorCode, string]> = {
  FST_ERR_BAD_URL: ['bad_request', 'The URL is not valid: check its percent-encoding'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'The request body must be sent as application/json'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['bad_request', 'The length of the request body does not match Content-Length'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['bad_request', 'The request body is empty'],
};

/** Converts any error into one that may be sent. `maxBodyBytes` is the limit of the route. Errors that the client did not cause become `internal`. */
export function toAppError(error: unknown, maxBodyBytes: number): AppError {
  if (error instanceof AppError) return error;
  const { code, statusCode } = (error ?? {}) as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE' || statusCode === 413)
    return new AppError('payload_too_large', `The request body is larger than ${formatBytes(maxBodyBytes)}`);
  const frameworkError = FRAMEWORK_ERRORS[code ?? ''];
  if (frameworkError) return new AppError(frameworkError[0], frameworkError[1], { cause: error });
  if (code === 'ECONNRESET') return new AppError('bad_request', 'The request body ended too early', { cause: error });
  if (statusCode === 415)
    return new AppError('unsupported_media_type', 'The request body must be sent as application/json', {
      cause: error,
    });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new AppError('bad_request', 'The request is not valid', { cause: error });
  return new AppError('internal', 'Internal server error', { cause: error });
}
