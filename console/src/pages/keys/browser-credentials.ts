/** Credentials generated in the browser, and the hashes sent to the server (decision K7). */
interface BrowserCredentials {
  keyId: string;
  keySecret: string;
  hashData: { keyIdHash: string; keyIdSuffix: string; keySecretHash: string };
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 20;
/** 43 characters from an alphabet of 62 are 256 bits. */
const SECRET_LENGTH = 43;

/** WebCrypto needs a secure context: HTTPS or localhost. */
export const canHash = (): boolean => typeof crypto.subtle === 'object' && crypto.subtle !== null;

export async function createBrowserCredentials(): Promise<BrowserCredentials> {
  const keyId = createRandomString(ID_LENGTH);
  const keySecret = createRandomString(SECRET_LENGTH);
  const [keyIdHash, keySecretHash] = await Promise.all([sha256(keyId), sha256(keySecret)]);
  return { keyId, keySecret, hashData: { keyIdHash, keyIdSuffix: keyId.slice(-4), keySecretHash } };
}

/** Discards bytes above the last multiple of 62, so that every character is equally likely. */
function createRandomString(length: number): string {
  const limit = 256 - (256 % ALPHABET.length);
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length)))
      if (byte < limit && text.length < length) text += ALPHABET[byte % ALPHABET.length];
  }
  return text;
}

async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...bytes));
}
