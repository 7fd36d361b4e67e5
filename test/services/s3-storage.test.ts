import { describe } from 'vitest';
import { testS3Storage } from '../support/s3-storage.ts';

describe('S3-compatible storage for backups', () => {
  testS3Storage();
});
