import type { MalformedMessage } from './proto-reader.ts';

/** More than SDKs send at a time. A request with more of them is refused as a whole, so that it costs little. */
const MAX_INVALID = 1000;
const MAX_REASON_CHARACTERS = 200;
const MAX_SAMPLE_CHARACTERS = 200;

interface InvalidRecord {
  reason: string;
  /** As JSON. */
  bytes: number;
  sample: string;
}

/** The records of an OTLP/JSON request that could not be encoded, by their positions in the encoded request. */
export class InvalidRecords {
  private readonly records = new Map<number, InvalidRecord>();

  isFull(): boolean {
    return this.records.size >= MAX_INVALID;
  }

  find(position: number): InvalidRecord | undefined {
    return this.records.get(position);
  }

  add(position: number, { message }: MalformedMessage, record: unknown): void {
    const text = JSON.stringify(record);
    this.records.set(position, {
      reason: toReason(message),
      bytes: Buffer.byteLength(text),
      sample: `the record ${text.slice(0, MAX_SAMPLE_CHARACTERS)}`.toWellFormed(),
    });
  }
}

/** The same mistake has the same reason wherever it is in a list, so that records are counted together. */
function toReason(message: string): string {
  const text = message.startsWith(' ') ? `it${message}` : message.replaceAll(/\[\d+\]/g, '[]');
  return text.length <= MAX_REASON_CHARACTERS ? text : `…${text.slice(-MAX_REASON_CHARACTERS)}`;
}
