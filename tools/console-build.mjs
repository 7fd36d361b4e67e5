// console/ → dist/console, with a gzip and a brotli twin beside every file that gains from it, so that the server compresses nothing.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { writeConsoleClient } from './console-client.mjs';

const COMPRESSIBLE = /\.(js|css|html|svg|json|txt|webmanifest)$/;
/** Below this a twin costs more in headers than it saves. */
const SMALLEST = 512;

export async function buildConsole(folder) {
  writeConsoleClient();
  await build({ configFile: 'console/vite.config.ts', logLevel: 'warn' });
  for (const name of readdirSync(folder, { recursive: true })) {
    // The server writes into the page itself; its few hundred bytes are compressed by nobody.
    if (!COMPRESSIBLE.test(name) || name === 'index.html') continue;
    const file = join(folder, name);
    const bytes = readFileSync(file);
    if (bytes.length < SMALLEST) continue;
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }));
  }
}
