/** An Idempotency-Key of one caller. The same key of another caller is independent. */
export interface CallerKey {
  organizationId: string;
  credentialId: string;
  /** SHA-256 of the key, in hexadecimal. */
  keyHash: string;
}

/** What a repetition of a completed request gets. */
export interface KeptResponse {
  /** Of the method, the URL and the body. */
  requestHash: string;
  /** JSON without secrets; undefined if it was too large to be kept. */
  result: string | undefined;
  headers: Record<string, string>;
}
