import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findInPackage } from '../../kernel/package-files.ts';

/** The listener is not documented, so only the version that it was tested with is used. */
const CHDB_VERSION = '3.4.0';

/** The packages with the native parts of chdb and ffi-rs. */
const NATIVE_PACKAGES: Readonly<Record<string, { library: string; caller: string }>> = {
  'linux-x64': { library: '@chdb/lib-linux-x64-gnu', caller: '@yuuang/ffi-rs-linux-x64-gnu' },
  'linux-arm64': { library: '@chdb/lib-linux-arm64-gnu', caller: '@yuuang/ffi-rs-linux-arm64-gnu' },
  'darwin-x64': { library: '@chdb/lib-darwin-x64', caller: '@yuuang/ffi-rs-darwin-x64' },
  'darwin-arm64': { library: '@chdb/lib-darwin-arm64', caller: '@yuuang/ffi-rs-darwin-arm64' },
};
const LIBRARY_FILES = ['libchdb.so', 'libchdb.dylib'];

/** The paths of the program and of libchdb, or why ClickHouse cannot run on this machine, in one sentence. */
type Installation = { program: string; library: string } | { obstacle: string };

/** Resolves the packages as `program` would, without loading the library: it is half a gigabyte in size. */
export function findInstallation(program = findInPackage('dist/listener.cjs')): Installation {
  if (program === undefined || !existsSync(program))
    return { obstacle: 'The program dist/listener.cjs is not built; run npm run build.' };
  const platform = `${process.platform}-${process.arch}`;
  const native = NATIVE_PACKAGES[platform];
  if (native === undefined) return unsupported(platform);
  const caller = findPackage(program, 'ffi-rs');
  if (caller === undefined) return missing('ffi-rs');
  if (findPackage(caller, native.caller) === undefined) return missing(native.caller);
  const chdb = findPackage(program, 'chdb');
  if (chdb === undefined) return missing('chdb');
  const { version } = JSON.parse(readFileSync(chdb, 'utf8'));
  if (version !== CHDB_VERSION)
    return { obstacle: `Version ${CHDB_VERSION} of the package chdb is needed, not ${version}.` };
  const manifest = findPackage(chdb, native.library);
  if (manifest === undefined) return missing(native.library);
  const library = LIBRARY_FILES.map((name) => join(dirname(manifest), name)).find((path) => existsSync(path));
  return library ? { program, library } : { obstacle: `The package ${native.library} lacks the file libchdb.so.` };
}

/** The path of the package.json of an installed package, as the module at `from` finds it. */
function findPackage(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(`${name}/package.json`);
  } catch {
    return undefined;
  }
}

const unsupported = (platform: string): Installation => ({
  obstacle: `The package chdb needs Linux with glibc or macOS, on x64 or arm64, and this is ${platform}.`,
});

function missing(name: string): Installation {
  // Alpine and others: npm skips packages for glibc there. The report takes 15 ms, so it is made only for this message.
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  if (process.platform === 'linux' && header.glibcVersionRuntime === undefined)
    return unsupported(`linux-${process.arch} without glibc`);
  return { obstacle: `The package ${name} is not installed; run npm install without --omit=optional.` };
}

/** Why ClickHouse cannot run on this machine, in one sentence; undefined if it can. */
export function findObstacle(): string | undefined {
  const installation = findInstallation();
  return 'obstacle' in installation ? installation.obstacle : undefined;
}
