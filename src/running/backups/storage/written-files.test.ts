import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rejectIncomplete } from './written-files.ts';

const file = (name: string, bytes: number, more = '') =>
  `<file><name>${name}</name><size>${bytes}</size><checksum>00</checksum>${more}</file>`;

/** As ClickHouse 26.7 writes it for an incremental backup. */
const LIST = `<config><version>1</version><contents>${[
  file('data/default/t/all_2_2_0/data.bin', 10),
  file('data/default/t/all_2_2_0/a&amp;b.bin', 3),
  file('data/default/t/all_2_2_0/same.bin', 10, '<data_file>data/default/t/all_2_2_0/data.bin</data_file>'),
  file('data/default/t/all_2_2_0/empty.bin', 0),
  file('data/default/t/all_1_1_0/data.bin', 99, '<use_base>true</use_base>'),
  file(
    'data/default/log/n.bin',
    8,
    '<use_base>true</use_base><base_size>3</base_size><base_checksum>00</base_checksum>',
  ),
].join('')}</contents></config>`;

describe('the files that ClickHouse has written for a backup', () => {
  let folder: string;
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pilothouse-written-'));
    write('.backup', LIST);
    write('data/default/t/all_2_2_0/data.bin', '0123456789');
    write('data/default/t/all_2_2_0/a&b.bin', '012');
    write('data/default/log/n.bin', '34567');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are accepted if they have the sizes of its list, without what is in the backup before', async () => {
    await rejectIncomplete(folder);
  });

  it('are rejected if one is cut off or missing', async () => {
    write('data/default/log/n.bin', '3456');
    await expect(rejectIncomplete(folder)).rejects.toThrow('data/default/log/n.bin has 4 bytes instead of 5');
    rmSync(join(folder, 'data/default/log/n.bin'));
    await expect(rejectIncomplete(folder)).rejects.toThrow('data/default/log/n.bin is missing');
  });

  it('are rejected if the list is cut off or missing', async () => {
    for (const length of [0, 100, LIST.length - 1]) {
      write('.backup', LIST.slice(0, length));
      await expect(rejectIncomplete(folder)).rejects.toThrow('its list of files was cut off');
    }
    rmSync(join(folder, '.backup'));
    await expect(rejectIncomplete(folder)).rejects.toThrow('its list of files was cut off');
  });

  it('are not looked for elsewhere', async () => {
    write('.backup', LIST.replaceAll('data/default/log/n.bin', '../../etc/hostname'));
    await expect(rejectIncomplete(folder)).rejects.toThrow('is missing');
    symlinkSync('/etc/hostname', join(folder, 'link'));
    await expect(rejectIncomplete(folder)).rejects.toThrow('link is neither a file nor a folder');
  });
});
