import { Document, parseAllDocuments, visit, type YAMLParseError } from 'yaml';
import { AppError } from '../errors.ts';
import { hasControls } from '../text.ts';

/** Parses one document; `subject` is the start of an error message, such as `The fleet file`. */
export function parseYamlOrJson(text: string, subject: string): unknown {
  const documents = parseDocuments(text, subject);
  if (documents.length > 1)
    throw new AppError('bad_request', `${subject} cannot be read: it contains several documents`);
  return documents[0];
}

/** Tries JSON first because it is faster. YAML reports the line of an error. */
export function parseDocuments(text: string, subject: string): unknown[] {
  const bare = text.replace(/^\uFEFF/, '');
  if (/^\s*[{[]/.test(bare)) {
    try {
      return [JSON.parse(bare)];
    } catch {
      // A YAML flow mapping, or an error that the YAML parser explains better.
    }
  }
  try {
    const documents = parseAllDocuments(bare, { logLevel: 'error' });
    // Without any document, the result is an empty array with additional members.
    if ('empty' in documents) return [];
    return documents.map((document) => {
      for (const error of document.errors) throw error;
      return document.toJS();
    });
  } catch (cause) {
    throw new AppError('bad_request', `${subject} cannot be read: ${formatReason(cause as YAMLParseError)}`);
  }
}

/** The position and the reason, without the text at that position: it may be a secret. */
function formatReason({ message, linePos }: YAMLParseError): string {
  const reason = message.split(/:| at line /, 1)[0] ?? '';
  const at = linePos?.[0];
  return at ? `line ${at.line}, column ${at.col}: ${reason}` : reason;
}

/**
 * Without line breaks inside values, so that two files can be compared line by line. Values with control characters are in
 * double quotes, where the escapes of `escapeControls` keep their meaning.
 */
export function formatYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && hasControls(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0 });
}
