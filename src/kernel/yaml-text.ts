import { parseAllDocuments, type YAMLParseError } from 'yaml';
import { AppError } from './errors.ts';

/** One document; `what` begins the sentence about a text that cannot be read. */
export function parseYamlOrJson(text: string, what: string): unknown {
  const documents = parseDocuments(text, what);
  if (documents.length > 1) throw new AppError('bad_request', `${what} cannot be read: it holds several documents`);
  return documents[0];
}

/** JSON is the fast way; what is not JSON is YAML, which also knows in which line a mistake stands. */
export function parseDocuments(text: string, what: string): unknown[] {
  const bare = text.replace(/^\uFEFF/, '');
  if (/^\s*[{[]/.test(bare)) {
    try {
      return [JSON.parse(bare)];
    } catch {
      // a YAML flow mapping, or a mistake that YAML explains better
    }
  }
  try {
    const documents = parseAllDocuments(bare, { logLevel: 'error' });
    // One without any document is `[]`, with a few members more.
    if ('empty' in documents) return [];
    return documents.map((document) => {
      for (const error of document.errors) throw error;
      return document.toJS();
    });
  } catch (cause) {
    throw new AppError('bad_request', `${what} cannot be read: ${formatReason(cause as YAMLParseError)}`);
  }
}

/** Where and why, without the text that stands there: it may be a secret. */
function formatReason({ message, linePos }: YAMLParseError): string {
  const reason = message.split(/:| at line /, 1)[0] ?? '';
  const at = linePos?.[0];
  return at ? `line ${at.line}, column ${at.col}: ${reason}` : reason;
}
