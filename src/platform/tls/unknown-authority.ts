/** Codes of OpenSSL. */
const UNKNOWN_AUTHORITY = /^(UNABLE_TO_|SELF_SIGNED_CERT_|DEPTH_ZERO_SELF_SIGNED_)/;

/** What to add to the text of a failure with this code: empty, unless the certificate is of an unknown authority. */
export const renderAuthorityAdvice = (code: string): string =>
  UNKNOWN_AUTHORITY.test(code) ? '; set NODE_EXTRA_CA_CERTS to the file of its authority' : '';
