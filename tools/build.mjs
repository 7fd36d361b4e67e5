// Builds the server, the embedded engine, embedded services, the demo's telemetry writer and the console into dist/. Packages of hundreds of small
// modules are bundled: loading them one by one took half of the startup time and a fifth of the memory. Only packages without other dependencies:
// those would have to be found from dist/.
import { chmodSync, rmSync } from 'node:fs';
import { rolldown } from 'rolldown';
import { buildConsole } from './console-build.mjs';
import { writeLicenses } from './licenses.mjs';

const BUNDLED =
  /^(typebox|kysely|yaml|commander|ipaddr\.js|lru-cache|@handlebars\/parser|@clickhouse\/client(-common)?)(\/|$)/;
const isLocal = (id) => id.startsWith('.') || id.startsWith('/') || /^[A-Za-z]:/.test(id);

rmSync('dist', { recursive: true, force: true });
const moduleIds = await build('src/main.ts', 'main.js');
// The embedded engine and each embedded service run in a process of their own. CommonJS, because the loader of modules starts a thread that the program must start itself.
moduleIds.push(...(await build('src/platform/listener/program/main.ts', 'listener.cjs', 'cjs')));
// OpenTelemetry data is converted in a thread of its own.
moduleIds.push(...(await build('src/observability/ingest/transcoder-thread.ts', 'otlp-transcoder.js')));
// The program that generates the telemetry of the demo runs in a process of its own as well.
moduleIds.push(...(await build('src/operations/demo/telemetry/main.ts', 'demo-telemetry.js')));
chmodSync('dist/main.js', 0o755);
moduleIds.push(...(await buildConsole('dist/console')));
writeLicenses(moduleIds);

/** Resolves with the paths of the modules in the output. */
async function build(input, output, format = 'esm') {
  const bundle = await rolldown({ input, platform: 'node', external: (id) => !isLocal(id) && !BUNDLED.test(id) });
  const { output: chunks } = await bundle.write({
    dir: 'dist',
    format,
    entryFileNames: output,
    chunkFileNames: '[name].js',
    sourcemap: true,
  });
  await bundle.close();
  return chunks.flatMap(({ moduleIds = [] }) => moduleIds);
}
