/** An error with ClickHouse's code, type and message. */
export class EngineException extends Error {
  readonly code: number;
  readonly type: string;
  constructor(code: number, type: string, message: string) {
    super(message);
    this.code = code;
    this.type = type;
  }
}

const STATUSES: [number, number[]][] = [
  [401, [194]],
  [403, [192, 193, 497, 512, 516]],
  [
    400,
    [
      6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 456, 457, 675,
      676,
    ],
  ],
  [404, [46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511]],
  [408, [159]],
  [411, [381]],
  [413, [229]],
  [415, [779]],
  [501, [48]],
  [503, [76, 209, 439]],
];

const STATUS_BY_CODE = new Map(STATUSES.flatMap(([status, codes]) => codes.map((code) => [code, status] as const)));

/** The HTTP status that a ClickHouse server uses for an exception. */
export const toHttpStatus = (code: number): number => STATUS_BY_CODE.get(code) ?? 500;

const EXCEPTION_TEXT = /^Code: (\d+)\. DB::Exception: ([\s\S]*?)\s*\(([A-Z0-9_]+)\)\s*$/;

/** Parses an error of the engine. Any other error becomes UNKNOWN_EXCEPTION. */
export function toEngineException(error: unknown): EngineException {
  if (error instanceof EngineException) return error;
  const text = error instanceof Error ? error.message : String(error);
  const [, code, message = text, type = ''] = EXCEPTION_TEXT.exec(text) ?? [];
  return code === undefined
    ? new EngineException(1002, 'UNKNOWN_EXCEPTION', text)
    : new EngineException(Number(code), type, message);
}

/** The response body, in the format that ClickHouse clients parse. */
export const formatException = ({ code, message, type }: EngineException): string =>
  `Code: ${code}. DB::Exception: ${message} (${type})\n`;
