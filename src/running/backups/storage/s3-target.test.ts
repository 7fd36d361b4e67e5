import { describe, expect, it } from 'vitest';
import { replaceBase } from './file-list.ts';
import { formatTarget, formatUrl } from './s3-target.ts';

const ADDRESS = { bucket: 'backups', prefix: '', region: 'eu-central-1', timeoutMs: 1 };

describe('the address of a backup in a statement', () => {
  it.each([
    [{ endpoint: 'https://minio.example.com:9000/' }, 'https://minio.example.com:9000/backups/a/b'],
    [{}, 'https://backups.s3.eu-central-1.amazonaws.com/a/b'],
    [{ region: 'cn-north-1' }, 'https://backups.s3.cn-north-1.amazonaws.com.cn/a/b'],
    [{ bucket: 'my.backups' }, 'https://s3.eu-central-1.amazonaws.com/my.backups/a/b'],
  ])('is a URL (%j)', (changes, expected) => {
    expect(formatUrl({ ...ADDRESS, ...changes }, 'a/b')).toBe(expected);
  });

  it('has special characters encoded, and quoted', () => {
    const url = formatUrl(ADDRESS, "o'clock/(1)/ü");
    expect(url).toBe("https://backups.s3.eu-central-1.amazonaws.com/o'clock/(1)/%C3%BC");
    const { sql, secret } = formatTarget('s3://backups/', url, { accessKeyId: 'AK', secretAccessKey: "s'\\" });
    expect(sql).toBe("S3('https://backups.s3.eu-central-1.amazonaws.com/o\\'clock/(1)/%C3%BC', 'AK', 's\\'\\\\')");
    expect(secret).toBe("s'\\");
  });

  it('has no temporary credentials', () => {
    const credentials = { accessKeyId: 'AK', secretAccessKey: 'secret', sessionToken: 'token' };
    expect(() => formatTarget('s3://backups/', 'https://x', credentials)).toThrow(
      'The credentials for s3://backups/ are temporary, which ClickHouse does not accept',
    );
  });
});

it('the list of a copied backup names the copy of its base', () => {
  const list =
    "<config><base_backup>S3('http://x/y')</base_backup><base_backup_uuid>1</base_backup_uuid><base_backup_copy_s3_credentials_from_backup>true</base_backup_copy_s3_credentials_from_backup></config>";
  expect(replaceBase(list, "File('$&')")).toBe(
    "<config><base_backup>File('$&')</base_backup><base_backup_uuid>1</base_backup_uuid></config>",
  );
});
