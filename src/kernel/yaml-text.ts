import { parse, type YAMLParseError } from 'yaml';
import { AppError } from './errors.ts';

/** JSON is the fast way; what is not JSON is YAML, which also knows in which line a mistake stands. */
export function parseYamlOrJson(text: string, what: string): unknown {
  const bare = text.replace(/^\uFEFF/, '');
  if (/^\s*[{[]/.test(bare)) {
    try {
      return JSON.parse(bare);
    } catch {
      // a YAML flow mapping, or a mistake that YAML explains better
    }
  }
  try {
    return parse(bare, { logLevel: 'error' });
  } catch (cause) {
    throw new AppError('bad_request', `${what} cannot be read: ${reasonOf(cause as YAMLParseError)}`);
  }
}

/** Where and why, without the text that stands there: it may be a secret. */
function reasonOf({ message, linePos }: YAMLParseError): string {
  const reason = message.split(/:| at line /, 1)[0] ?? '';
  const at = linePos?.[0];
  return at ? `line ${at.line}, column ${at.col}: ${reason}` : reason;
}
