/** Credentials made in the browser, and what the server is told of them (decision K7). */
export interface BrowserCredentials {
  keyId: string;
  keySecret: string;
  hashData: { keyIdHash: string; keyIdSuffix: string; keySecretHash: string };
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 20;
/** 43 characters of 62 are 256 bits. */
const SECRET_LENGTH = 43;

/** WebCrypto hashes only where the page came over https or from this machine. */
export const canHash = (): boolean => typeof crypto.subtle === 'object' && crypto.subtle !== null;

export async function createBrowserCredentials(): Promise<BrowserCredentials> {
  const keyId = randomText(ID_LENGTH);
  const keySecret = randomText(SECRET_LENGTH);
  const [keyIdHash, keySecretHash] = await Promise.all([sha256(keyId), sha256(keySecret)]);
  return { keyId, keySecret, hashData: { keyIdHash, keyIdSuffix: keyId.slice(-4), keySecretHash } };
}

/** Bytes past the last whole multiple of 62 are thrown away: every letter is as likely as any other. */
function randomText(length: number): string {
  const fair = 256 - (256 % LETTERS.length);
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length)))
      if (byte < fair && text.length < length) text += LETTERS[byte % LETTERS.length];
  }
  return text;
}

async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...bytes));
}
