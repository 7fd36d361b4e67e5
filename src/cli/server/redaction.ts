import type { SettingTexts } from '../../server/settings/config.ts';
import { SETTINGS, type Setting, type SettingName } from '../../server/settings/settings.ts';

const REMOVED = '(removed)';
/** Shorter values would also match ordinary text. */
const MIN_SECRET_CHARACTERS = 4;
/** Key secrets, dashboard tokens, webhook secrets and passwords of services. */
const OWN_SECRETS = /\bph[ilpstw]_[0-9A-Za-z]{20,}/g;

const parseUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

/** The settings without secrets, by flag. Of a URL, the scheme, host, port and path remain. */
export function redactSettings(texts: SettingTexts): Record<string, string> {
  return Object.fromEntries(
    (Object.entries(texts) as [SettingName, string][]).map(([name, text]) => {
      const { flag, isSecret }: Setting = SETTINGS[name];
      return [flag, isSecret ? redactSecret(text) : text];
    }),
  );
}

function redactSecret(text: string): string {
  const url = parseUrl(text);
  if (!url?.host) return REMOVED;
  const user = url.username === '' && url.password === '' ? '' : `${REMOVED}@`;
  return `${url.protocol}//${user}${url.host}${url.pathname}${url.search === '' ? '' : `?${REMOVED}`}`;
}

/** A second line of defense: no text in the value contains a secret of the settings, or anything that looks like one of ours. */
export function formatWithoutSecrets(value: unknown, texts: SettingTexts): string {
  const secrets = listSecrets(texts);
  const clean = (text: string): string =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, REMOVED), text.replaceAll(OWN_SECRETS, REMOVED));
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? clean(part) : part), 2);
}

/** As they were written, and as they may appear in messages. The longest first: one may contain another. */
function listSecrets(texts: SettingTexts): string[] {
  const values = (Object.entries(texts) as [SettingName, string][]).flatMap(([name, text]) => {
    const { isSecret }: Setting = SETTINGS[name];
    if (!isSecret) return [];
    const url = parseUrl(text);
    return url ? [text, url.href, url.password, ...url.searchParams.values()] : [text];
  });
  return [...new Set(values.flatMap((value) => [value, decode(value)]))]
    .filter(({ length }) => length >= MIN_SECRET_CHARACTERS)
    .sort((a, b) => b.length - a.length);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
