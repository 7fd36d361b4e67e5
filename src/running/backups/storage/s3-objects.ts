import { AppError } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { createS3Requests, isMissing, type S3Address } from './s3-requests.ts';

/** What the storage says about an object. */
interface FoundObject {
  bytes: number;
  /** As we have sent it. */
  sha256?: string | undefined;
  /** As the storage has computed it; undefined if it does not compute one. Of parts, with their number. */
  checksum?: string | undefined;
}

interface Part {
  number: number;
  content: Buffer;
  /** SHA-256, in Base64. */
  checksum: string;
}

/** A backup has about a million files at most. */
const MAX_LISTED = 2_000_000;
/** Pages in a row without anything new: a list without end. */
const MAX_EMPTY_PAGES = 10;

/** Called with what a list has so far, after each page. */
function createProgressCheck(message: string) {
  let before = 0;
  let emptyPages = 0;
  return (listed: number): void => {
    emptyPages = listed === before ? emptyPages + 1 : 0;
    before = listed;
    if (emptyPages > MAX_EMPTY_PAGES || listed > MAX_LISTED) throw new AppError('unavailable', message);
  };
}

/** Metadata of an object: what is needed to know its contents again. */
const toMetadata = (sha256: string) => ({ sha256 });

/** The operations on objects of one bucket, by their full keys. */
export function createS3Objects(address: S3Address, clock: Clock) {
  const { bucket: Bucket } = address;
  const { send, location } = createS3Requests(address, clock);

  return {
    location,

    /** Keys and sizes. With `maxKeys`, the first ones only. */
    async list(prefix: string, signal: AbortSignal, maxKeys?: number): Promise<Map<string, number>> {
      const found = new Map<string, number>();
      const checkProgress = createProgressCheck(`${location} does not end its list of objects`);
      for (let token: string | undefined, isFirst = true; isFirst || token !== undefined; isFirst = false) {
        const page = await send(signal, ({ sdk, client, signal: abortSignal }) =>
          client.send(
            new sdk.ListObjectsV2Command({
              Bucket,
              Prefix: prefix,
              ...(token !== undefined && { ContinuationToken: token }),
              ...(maxKeys !== undefined && { MaxKeys: maxKeys }),
            }),
            { abortSignal },
          ),
        );
        for (const { Key, Size = 0 } of page.Contents ?? []) if (Key !== undefined) found.set(Key, Size);
        token = maxKeys === undefined ? page.NextContinuationToken : undefined;
        checkProgress(found.size);
      }
      return found;
    },

    async find(Key: string, signal: AbortSignal): Promise<FoundObject | undefined> {
      try {
        const found = await send(signal, ({ sdk, client, signal: abortSignal }) =>
          client.send(new sdk.HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }), { abortSignal }),
        );
        const { ContentLength: bytes = 0, Metadata, ChecksumSHA256: checksum } = found;
        return { bytes, sha256: Metadata?.sha256, checksum };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    /** The storage rejects the object if it does not have the checksum (SHA-256 in Base64). */
    async put(
      Key: string,
      content: Buffer,
      { sha256, checksum }: { sha256: string; checksum: string },
      signal: AbortSignal,
    ) {
      await send(signal, ({ sdk, client, signal: abortSignal }) =>
        client.send(
          new sdk.PutObjectCommand({
            Bucket,
            Key,
            Body: content,
            ContentLength: content.length,
            ChecksumSHA256: checksum,
            Metadata: toMetadata(sha256),
          }),
          { abortSignal },
        ),
      );
    },

    /** Parts that were sent without a completed upload are removed with `abortUploads`. */
    async putParts(Key: string, sha256: string, parts: AsyncIterable<Part>, signal: AbortSignal): Promise<void> {
      const { UploadId } = await send(signal, ({ sdk, client, signal: abortSignal }) =>
        client.send(
          new sdk.CreateMultipartUploadCommand({
            Bucket,
            Key,
            ChecksumAlgorithm: 'SHA256',
            Metadata: toMetadata(sha256),
          }),
          { abortSignal },
        ),
      );
      const sent: { PartNumber: number; ETag?: string; ChecksumSHA256?: string }[] = [];
      for await (const { number: PartNumber, content, checksum } of parts) {
        const { ETag, ChecksumSHA256 } = await send(signal, ({ sdk, client, signal: abortSignal }) =>
          client.send(
            new sdk.UploadPartCommand({
              Bucket,
              Key,
              UploadId,
              PartNumber,
              Body: content,
              ContentLength: content.length,
              ChecksumSHA256: checksum,
            }),
            { abortSignal },
          ),
        );
        sent.push({ PartNumber, ...(ETag && { ETag }), ...(ChecksumSHA256 && { ChecksumSHA256 }) });
      }
      await send(signal, ({ sdk, client, signal: abortSignal }) =>
        client.send(
          new sdk.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts: sent } }),
          { abortSignal },
        ),
      );
    },

    /** Ends the uploads of parts that were not completed, which would be charged and are not listed. */
    async abortUploads(prefix: string, signal: AbortSignal): Promise<void> {
      const ended = new Set<string>();
      const checkProgress = createProgressCheck(`${location} does not end its list of uploads`);
      for (let isTruncated = true; isTruncated; ) {
        const page = await send(signal, ({ sdk, client, signal: abortSignal }) =>
          client
            .send(new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: prefix }), { abortSignal })
            .catch((error: Error) => {
              // Some storage has no such list.
              if (error.name === 'NotImplemented') return { Uploads: [], IsTruncated: false };
              throw error;
            }),
        );
        const uploads = (page.Uploads ?? []).filter(({ UploadId = '' }) => !ended.has(UploadId));
        for (const { Key, UploadId = '' } of uploads) {
          await send(signal, ({ sdk, client, signal: abortSignal }) =>
            client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal }),
          ).catch((error) => {
            if (!isMissing(error)) throw error;
          });
          ended.add(UploadId);
        }
        checkProgress(ended.size);
        // Each page starts with those that are left.
        isTruncated = page.IsTruncated === true && uploads.length > 0;
      }
    },

    /** Bytes from `start` up to `end`, and the size of the object. Undefined if there is no such object. */
    async read(
      Key: string,
      { start, end }: { start: number; end: number },
      signal: AbortSignal,
    ): Promise<{ content: Uint8Array; bytes: number } | undefined> {
      try {
        return await send(signal, async ({ sdk, client, signal: abortSignal }) => {
          const Range = `bytes=${start}-${end - 1}`;
          const {
            Body,
            ContentRange,
            ContentLength = 0,
          } = await client.send(new sdk.GetObjectCommand({ Bucket, Key, Range }), { abortSignal });
          if (!Body) throw new AppError('unavailable', `${location} responded without contents`);
          const content = await Body.transformToByteArray();
          const bytes = Number(ContentRange?.split('/')[1] ?? ContentLength);
          // Storage may ignore the range; the whole object is what was asked for only if it is short.
          if (content.length !== Math.min(end, bytes) - start)
            throw new AppError('unavailable', `${location} sent ${content.length} bytes instead of the range ${Range}`);
          return { content, bytes };
        });
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    async remove(Key: string, signal: AbortSignal): Promise<void> {
      await send(signal, ({ sdk, client, signal: abortSignal }) =>
        client.send(new sdk.DeleteObjectCommand({ Bucket, Key }), { abortSignal }),
      );
    },
  };
}
