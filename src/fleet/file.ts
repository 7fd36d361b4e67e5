import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { parse, type YAMLParseError } from 'yaml';
import { AppError, refuse, type Violation } from '../kernel/errors.ts';
import { dropNulls } from '../kernel/nulls.ts';
import { violationsOf } from '../kernel/violations.ts';
import { FleetFile } from './schema.ts';

const validator = Compile(FleetFile);

/** YAML or JSON text → a file whose every member is of the right shape; throws all mistakes with their paths. */
export function parseFleetFile(text: string): FleetFile {
  const file = parseText(text.replace(/^\uFEFF/, '')) ?? { organizations: [] };
  dropNulls(FleetFile, file);
  if (!validator.Check(file)) refuse(mistakesIn(file));
  return file as FleetFile;
}

const LISTED_MISTAKES = 10_000;

function mistakesIn(file: unknown): Violation[] {
  // Left alone, TypeBox stops after a handful; the bound is global and belongs to the HTTP edge, so it is put back.
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: LISTED_MISTAKES });
  try {
    return violationsOf(validator.Errors(file), file, '').map(withoutSecrets);
  } finally {
    Settings.Set({ maxErrors });
  }
}

/** JSON is the fast way; what is not JSON is YAML, which also knows in which line a mistake stands. */
function parseText(text: string): unknown {
  if (/^\s*\{/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // a YAML flow mapping, or a mistake that YAML explains better
    }
  }
  try {
    return parse(text, { logLevel: 'error' });
  } catch (cause) {
    throw new AppError('bad_request', `The fleet file cannot be read: ${reasonOf(cause as YAMLParseError)}`);
  }
}

/** Where and why, without the text that stands there: it may be a secret. */
function reasonOf({ message, linePos }: YAMLParseError): string {
  const reason = message.split(/:| at line /, 1)[0] ?? '';
  const at = linePos?.[0];
  return at ? `line ${at.line}, column ${at.col}: ${reason}` : reason;
}

const HARMLESS = 'id|name|roles|state|expireAt|createdAt|ipAccessList';
const IN_CREDENTIALS = new RegExp(`\\.(keys|dashboardTokens)(\\[\\d+\\](\\.(?!(${HARMLESS})\\b).*)?)?$`);
const LIKE_A_SECRET = /(key|token|secret|password)[^.]*$/i;

/** Also a misspelt `keysecret` holds a secret. */
const withoutSecrets = (violation: Violation): Violation =>
  IN_CREDENTIALS.test(violation.path) || LIKE_A_SECRET.test(violation.path)
    ? { ...violation, secret: true }
    : violation;
