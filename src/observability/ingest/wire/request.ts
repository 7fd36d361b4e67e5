import { findPair, writeValue } from './any-value.ts';
import { writeAttributes } from './attributes.ts';
import type { Batch } from './batch.ts';
import type { AttributeKeys } from './distinct.ts';
import { LIMITS, RejectedRecord, reject } from './limits.ts';
import { BYTES, field, type ProtoReader, VARINT } from './proto-reader.ts';
import { eachField, Range, Ranges } from './ranges.ts';
import type { RowBuffer } from './row-buffer.ts';

/** The same in the requests of all signals: resources with scopes with records. */
const RESOURCES = field(1, BYTES);
const OWNER = field(1, BYTES);
const ITEMS = field(2, BYTES);
const SCHEMA_URL = field(3, BYTES);

const ATTRIBUTES_OF_RESOURCE = field(1, BYTES);
const SCOPE_NAME = field(1, BYTES);
const SCOPE_VERSION = field(2, BYTES);
const ATTRIBUTES_OF_SCOPE = field(3, BYTES);
const DROPPED_OF_SCOPE = field(4, VARINT);

const SERVICE_NAME = Buffer.from('service.name');

/** What the records of a scope have in common, encoded once. */
export interface Origin {
  serviceName: string;
  organization: Buffer;
  /** `ServiceName`, `ResourceAttributes`. */
  resource: Buffer;
  resourceSchemaUrl: Buffer;
  /** `ScopeName`, `ScopeVersion`. */
  scope: Buffer;
  scopeAttributes: Buffer;
  scopeSchemaUrl: Buffer;
  scopeDropped: number;
  /** Why no record of this resource or scope can be stored. */
  rejection: string | undefined;
}

/** The first columns of logs and data points. */
export const ORIGIN_COLUMNS = [
  'OrganizationId',
  'ServiceName',
  'ResourceAttributes',
  'ResourceSchemaUrl',
  'ScopeName',
  'ScopeVersion',
  'ScopeAttributes',
  'ScopeSchemaUrl',
] as const;

export const encodeOrigin = (origin: Origin): Buffer =>
  Buffer.concat([
    origin.organization,
    origin.resource,
    origin.resourceSchemaUrl,
    origin.scope,
    origin.scopeAttributes,
    origin.scopeSchemaUrl,
  ]);

type Visit = (origin: Origin, records: Ranges) => void;

/** Calls `visit` for each scope of a request that has records. The records are valid until it returns. */
export function eachScope(reader: ProtoReader, batch: Batch, visit: Visit): void {
  const { scratch } = batch;
  const organization = encode(scratch, (out) => out.text(batch.options.organizationId));
  const [resource, scope] = [new Envelope(), new Envelope()];
  eachField(reader, 0, reader.bytes.length, RESOURCES, (start, end) => {
    resource.read(reader, start, end);
    batch.addParts(1 + resource.items.count);
    let shared: ReturnType<typeof readResource> | undefined;
    for (let index = 0; index < resource.items.count; index++) {
      scope.read(reader, resource.items.start(index), resource.items.end(index));
      if (scope.items.count === 0) continue;
      batch.addParts(scope.items.count);
      shared ??= readResource(reader, resource, batch);
      const ofScope = readScope(reader, scope, batch);
      const rejection = shared.rejection ?? ofScope.rejection;
      visit({ organization, ...shared, ...ofScope, rejection }, scope.items);
    }
  });
}

/** ResourceLogs, ScopeLogs and their equals: an owner, items, and a schema URL. Reused for all of them. */
class Envelope {
  readonly owner = new Range();
  readonly schemaUrl = new Range();
  readonly items = new Ranges();
  /** Of the owner. */
  readonly attributes = new Ranges();

  read(reader: ProtoReader, start: number, end: number): void {
    for (const part of [this.owner, this.schemaUrl, this.items, this.attributes]) part.clear();
    reader.pos = start;
    while (reader.pos < end) {
      const tag = reader.tag(end);
      if (tag === ITEMS) this.items.add(reader, end);
      else if (tag === OWNER) this.owner.set(reader, end);
      else if (tag === SCHEMA_URL) this.schemaUrl.set(reader, end);
      else reader.skip(tag, end);
    }
  }
}

function readResource(reader: ProtoReader, { owner, schemaUrl, attributes }: Envelope, { scratch, keys }: Batch) {
  reader.pos = owner.start;
  while (reader.pos < owner.end) {
    const tag = reader.tag(owner.end);
    if (tag === ATTRIBUTES_OF_RESOURCE) attributes.add(reader, owner.end);
    else reader.skip(tag, owner.end);
  }
  let serviceName = '';
  const parts = encodeOrReject('its resource', keys, () => {
    limitShared(attributes, schemaUrl);
    const service = findAttribute(reader, attributes, SERVICE_NAME);
    const resource = encode(scratch, (out) => {
      writeValue(reader, service.start, service.end, out);
      serviceName = readString(out);
      writeAttributes(reader, attributes, out, keys);
    });
    return { resource, resourceSchemaUrl: encodeString(reader, schemaUrl, scratch) };
  });
  return { resource: EMPTY, resourceSchemaUrl: EMPTY, ...parts, serviceName };
}

function readScope(reader: ProtoReader, { owner, schemaUrl, attributes }: Envelope, { scratch, keys }: Batch) {
  const [name, version] = [new Range(), new Range()];
  let scopeDropped = 0;
  reader.pos = owner.start;
  while (reader.pos < owner.end) {
    const tag = reader.tag(owner.end);
    if (tag === SCOPE_NAME) name.set(reader, owner.end);
    else if (tag === SCOPE_VERSION) version.set(reader, owner.end);
    else if (tag === ATTRIBUTES_OF_SCOPE) attributes.add(reader, owner.end);
    else if (tag === DROPPED_OF_SCOPE) scopeDropped = reader.varint32(owner.end);
    else reader.skip(tag, owner.end);
  }
  const parts = encodeOrReject('its scope', keys, () => {
    limitShared(attributes, name, version, schemaUrl);
    return {
      scope: encode(scratch, (out) => {
        out.string(reader.bytes, name.start, name.end);
        out.string(reader.bytes, version.start, version.end);
      }),
      scopeAttributes: encode(scratch, (out) => writeAttributes(reader, attributes, out, keys)),
      scopeSchemaUrl: encodeString(reader, schemaUrl, scratch),
    };
  });
  return { scope: EMPTY, scopeAttributes: EMPTY, scopeSchemaUrl: EMPTY, ...parts, scopeDropped };
}

const EMPTY = Buffer.alloc(0);

/** The reason instead of the parts if something in them cannot be stored. */
function encodeOrReject<T extends object>(
  owner: string,
  keys: AttributeKeys,
  encodeParts: () => T,
): Partial<T> & { rejection: string | undefined } {
  try {
    const parts = encodeParts();
    // Its records share them, so they count once, whatever becomes of the records.
    keys.commit();
    return { ...parts, rejection: undefined };
  } catch (error) {
    keys.discard();
    if (!(error instanceof RejectedRecord)) throw error;
    return { rejection: `${owner}: ${error.message}` } as Partial<T> & { rejection: string };
  }
}

/** They are stored with every record, so a small request could become a very large one. */
function limitShared(...parts: { readonly length: number }[]): void {
  if (parts.reduce((sum, { length }) => sum + length, 0) > LIMITS.sharedBytes)
    reject(`it is larger than ${LIMITS.sharedBytes / 1024} KiB`);
}

function findAttribute(reader: ProtoReader, attributes: Ranges, key: Buffer): { start: number; end: number } {
  for (let index = 0; index < attributes.count; index++) {
    const { keyStart, keyEnd, valueStart, valueEnd } = findPair(reader, attributes.start(index), attributes.end(index));
    if (key.compare(reader.bytes, keyStart, keyEnd) === 0) return { start: valueStart, end: valueEnd };
  }
  return { start: 0, end: 0 };
}

function encode(scratch: RowBuffer, write: (out: RowBuffer) => void): Buffer {
  scratch.length = 0;
  write(scratch);
  return scratch.take();
}

const encodeString = (reader: ProtoReader, { start, end }: Range, scratch: RowBuffer): Buffer =>
  encode(scratch, (out) => out.string(reader.bytes, start, end));

/** The text of the first String of a buffer. */
function readString(out: RowBuffer): string {
  let at = 0;
  while ((out.bytes[at] as number) > 0x7f) at++;
  return out.bytes.toString('utf8', at + 1, out.length);
}
