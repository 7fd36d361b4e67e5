import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findInPackage } from '../kernel/package-files.ts';

/** The listener is not documented, so only the version that it was tested with is used. */
const CHDB_VERSION = '3.4.0';

const LIBRARY_PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': '@chdb/lib-linux-x64-gnu',
  'linux-arm64': '@chdb/lib-linux-arm64-gnu',
  'darwin-x64': '@chdb/lib-darwin-x64',
  'darwin-arm64': '@chdb/lib-darwin-arm64',
};

/** The paths of the program and of libchdb, or why ClickHouse cannot run on this machine, in one sentence. */
type Installation = { program: string; library: string } | { obstacle: string };

/** Resolves the packages as `program` would, without loading the library: it is half a gigabyte in size. */
export function findInstallation(program = findInPackage('dist/listener.cjs')): Installation {
  if (program === undefined || !existsSync(program))
    return { obstacle: 'The program dist/listener.cjs is not built; run npm run build.' };
  const name = LIBRARY_PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) return { obstacle: 'The package chdb needs Linux with glibc or macOS, on x64 or arm64.' };
  const require = createRequire(program);
  try {
    require.resolve('ffi-rs');
  } catch {
    return { obstacle: 'The package ffi-rs is not installed; run npm install without --omit=optional.' };
  }
  let library: string;
  try {
    const manifest = require.resolve('chdb/package.json');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
    if (version !== CHDB_VERSION)
      return { obstacle: `Version ${CHDB_VERSION} of the package chdb is needed, not ${version}.` };
    library = join(dirname(createRequire(manifest).resolve(`${name}/package.json`)), 'libchdb.so');
  } catch {
    return { obstacle: 'The package chdb is not installed; run npm install without --omit=optional.' };
  }
  return existsSync(library) ? { program, library } : { obstacle: `The package ${name} lacks the file libchdb.so.` };
}

/** Why ClickHouse cannot run on this machine, in one sentence; undefined if it can. */
export function findObstacle(): string | undefined {
  const installation = findInstallation();
  return 'obstacle' in installation ? installation.obstacle : undefined;
}
