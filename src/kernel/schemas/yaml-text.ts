import { Composer, type CST, Document, isScalar, Lexer, LineCounter, Parser, visit, YAMLParseError } from 'yaml';
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
  const lines = new LineCounter();
  lines.addNewLine(0);
  try {
    // Pretty errors and the library's search for equal keys take quadratic time.
    const composer = new Composer({ prettyErrors: false, uniqueKeys: false, logLevel: 'error' });
    return [...composer.compose(readTokens(bare, lines), false, bare.length)].map((document) => {
      for (const error of document.errors) throw error;
      rejectEqualKeys(document);
      return document.toJS();
    });
  } catch (cause) {
    throw new AppError('bad_request', `${subject} cannot be read: ${formatReason(cause as Error, lines)}`);
  }
}

/** More than any file needs. */
const MAX_DEPTH = 100;

/** Stops at the first error, and limits the depth: values are composed recursively, and the end of the stack ends the process. */
function* readTokens(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error') throw createError(token.offset, token.message);
      yield token;
    }
    if (parser.stack.length > MAX_DEPTH)
      throw createError(parser.offset, `It is nested more than ${MAX_DEPTH} levels deep`);
  }
  yield* parser.end();
}

function rejectEqualKeys(document: Document.Parsed): void {
  visit(document, {
    Map(_, { items }) {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) throw createError(key.range?.[0] ?? 0, 'Map keys must be unique');
        keys.add(key.value);
      }
    },
  });
}

const createError = (at: number, message: string): YAMLParseError =>
  new YAMLParseError([at, at], 'UNEXPECTED_TOKEN', message);

/** Reasons that the library gives with the text. */
const REASONS: Partial<Record<YAMLParseError['code'], string>> = {
  TAG_RESOLVE_FAILED: 'A tag cannot be resolved',
  BAD_DQ_ESCAPE: 'Invalid escape sequence',
  BAD_DIRECTIVE: 'Invalid directive',
};

/** The position and the reason, without the text at that position: it may be a secret. */
function formatReason(error: Error, lines: LineCounter): string {
  const text = error.message.split(/:| at line /, 1)[0] ?? '';
  if (!(error instanceof YAMLParseError)) return text;
  const reason = REASONS[error.code] ?? text;
  const { line, col } = lines.linePos(error.pos[0]);
  return `line ${line}, column ${col}: ${reason}`;
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
