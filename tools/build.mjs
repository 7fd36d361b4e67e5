// src/main.ts → dist/main.js and the engine beside it, from scratch. The packages that come as hundreds of small modules are built in: loading
// them one by one took half of the start and a fifth of the memory. Everything else stays a package.
import { chmodSync, rmSync } from 'node:fs';
import { rolldown } from 'rolldown';
import { buildConsole } from './console-build.mjs';

const BUILT_IN = /^(typebox|kysely)(\/|$)/;
const isOurs = (id) => id.startsWith('.') || id.startsWith('/') || /^[A-Za-z]:/.test(id);

rmSync('dist', { recursive: true, force: true });
await build('src/main.ts', 'main.js');
// The embedded engine's process: a program of its own, which shares nothing with the server but the folder.
await build('src/engine/embedded/main.ts', 'engine.js');
// What makes the demo's telemetry, likewise.
await build('src/demo/telemetry/main.ts', 'demo-telemetry.js');
chmodSync('dist/main.js', 0o755);
await buildConsole('dist/console');

async function build(input, output) {
  const bundle = await rolldown({ input, platform: 'node', external: (id) => !isOurs(id) && !BUILT_IN.test(id) });
  await bundle.write({
    dir: 'dist',
    format: 'esm',
    entryFileNames: output,
    chunkFileNames: '[name].js',
    sourcemap: true,
  });
  await bundle.close();
}
