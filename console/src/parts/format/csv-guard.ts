import { STARTS_FORMULA } from './csv.ts';

export type Separator = ',' | '\t';

/** What a spreadsheet takes for a number. Without quotes, as in TSV, a cell does not tell whether it is text. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf|nan)$/i;
const SPACE = /[\s\u00a0\ufeff]*/y;

/** A position in a piece. `end`: where the piece can be written up to. */
interface Step {
  end: number;
  /** Written after what is before `end`. */
  added?: string;
  next: Place;
}
type Place = 'start' | 'quoted' | 'plain';
/** Undefined if the piece ends before it is known what follows. */
type Read = (text: string, at: number, isLast: boolean) => Step | undefined;

const readPlain =
  (ends: RegExp): Read =>
  (text, at) => {
    ends.lastIndex = at;
    const found = ends.exec(text);
    return found ? { end: found.index + 1, next: 'start' } : { end: text.length, next: 'plain' };
  };

/** In CSV, every text is in quotes. */
const readCsvStart: Read = (text, at, isLast) => {
  if (text[at] !== '"') return { end: at, next: 'plain' };
  SPACE.lastIndex = at + 1;
  SPACE.test(text);
  if (SPACE.lastIndex >= text.length && !isLast) return undefined;
  const isFormula = STARTS_FORMULA.test(text.slice(at + 1, SPACE.lastIndex + 1));
  return { end: at + 1, next: 'quoted', ...(isFormula && { added: "'" }) };
};

const readTsvStart: Read = (text, at, isLast) => {
  TSV_END.lastIndex = at;
  const end = TSV_END.exec(text)?.index;
  if (end === undefined && !isLast) return undefined;
  const cell = text.slice(at, end);
  const isFormula = STARTS_FORMULA.test(cell) && !NUMBER.test(cell.trim());
  return { end: at, next: 'plain', ...(isFormula && { added: "'" }) };
};

const readQuoted: Read = (text, at, isLast) => {
  const quote = text.indexOf('"', at);
  if (quote < 0) return { end: text.length, next: 'quoted' };
  if (quote + 1 === text.length && !isLast) return at < quote ? { end: quote, next: 'quoted' } : undefined;
  return text[quote + 1] === '"' ? { end: quote + 2, next: 'quoted' } : { end: quote + 1, next: 'plain' };
};

const CSV_END = /[,\n]/g;
const TSV_END = /[\t\n]/g;
const READERS: Record<Separator, Record<Place, Read>> = {
  ',': { start: readCsvStart, quoted: readQuoted, plain: readPlain(CSV_END) },
  '\t': { start: readTsvStart, quoted: readQuoted, plain: readPlain(TSV_END) },
};

/**
 * Guards the results of ClickHouse, which are exact, for a spreadsheet: an apostrophe before text that would be evaluated
 * as a formula. Takes a file in pieces; the last call has `isLast`.
 */
export function createCsvGuard(separator: Separator) {
  let rest = '';
  let place: Place = 'start';
  return (piece: string, isLast: boolean): string => {
    const text = rest + piece;
    let out = '';
    let at = 0;
    while (at < text.length) {
      const step = READERS[separator][place](text, at, isLast);
      if (!step) break;
      out += text.slice(at, step.end) + (step.added ?? '');
      at = step.end;
      place = step.next;
    }
    rest = text.slice(at);
    return out;
  };
}

/** A downloaded file with the guard, one piece in memory at a time. */
export function guardFile(file: Blob, separator: Separator): Promise<Blob> {
  const guard = createCsvGuard(separator);
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const guarded = file.stream().pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, controller) =>
        controller.enqueue(encoder.encode(guard(decoder.decode(bytes, { stream: true }), false))),
      flush: (controller) => controller.enqueue(encoder.encode(guard(decoder.decode(), true))),
    }),
  );
  return new Response(guarded).blob();
}
