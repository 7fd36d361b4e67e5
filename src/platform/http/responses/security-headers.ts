/** On every response that is not a page: a browser must neither run nor show nor reinterpret it. */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** Over TLS: a browser then uses plain HTTP for no port of the host. Not for a loopback name, which other programs share. */
export const HSTS_HEADER = { 'strict-transport-security': 'max-age=31536000' };
