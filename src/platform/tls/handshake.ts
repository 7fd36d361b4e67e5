/** Whether a connection failed before it was encrypted: no response can be sent on it. */
export const isHandshakeError = ({ code = '' }: NodeJS.ErrnoException): boolean => /^ERR_(SSL|TLS)_/.test(code);
