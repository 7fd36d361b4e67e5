// Builds console/ into dist/console. Files that compress well also get a gzip and a Brotli version, so the server compresses nothing at run time.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { writeConsoleClient } from './console-client.mjs';

const COMPRESSIBLE = /\.(js|css|html|svg|json|txt|webmanifest)$/;
/** Smaller files save less than the extra headers cost. */
const MIN_BYTES = 512;

/** Resolves with the paths of the modules in the output. */
export async function buildConsole(folder) {
  writeConsoleClient();
  const { output } = await build({ configFile: 'console/vite.config.ts', logLevel: 'warn' });
  for (const name of readdirSync(folder, { recursive: true })) {
    // The server inserts values into index.html for each request.
    if (!COMPRESSIBLE.test(name) || name === 'index.html') continue;
    const file = join(folder, name);
    const bytes = readFileSync(file);
    if (bytes.length < MIN_BYTES) continue;
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }));
  }
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
}
