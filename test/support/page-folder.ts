import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

export const script = `export const text = '${'a script of some length '.repeat(40)}';`;

const html = `<!doctype html>
<html lang="en">
  <head>
    <title>Pilothouse</title>
    <script type="module" src="/assets/main-1a2b3c4d.js"></script>
    <link rel="stylesheet" href="./assets/main-5e6f7a8b.css" />
    <link rel="icon" href="/mark.svg" />
    <a href="https://elsewhere.example/">not ours</a>
    <a href="//elsewhere.example/">not ours either</a>
  </head>
  <body><div id="root"></div></body>
</html>
`;

/** A folder like the build output of the console, with a few known files. */
export function createPageFolder(): { directory: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-pages-'));
  mkdirSync(join(directory, 'assets'));
  const write = (name: string, text: string | Buffer) => writeFileSync(join(directory, name), text);
  write('index.html', html);
  write('mark.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  write('assets/main-1a2b3c4d.js', script);
  write('assets/main-1a2b3c4d.js.gz', gzipSync(script));
  write('assets/main-1a2b3c4d.js.br', brotliCompressSync(script));
  write('assets/main-5e6f7a8b.css', 'body { margin: 0 }');
  write('assets/unknown.bin', 'not of a kind that a page needs');
  write('assets/a file (1).js', 'of a name that is no address');
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
