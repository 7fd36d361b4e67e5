// src/*.ts → dist/*.js, from scratch, so that a deleted file does not live on.
import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

rmSync('dist', { recursive: true, force: true });
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.json'], { stdio: 'inherit' });
if (status === 0) chmodSync('dist/main.js', 0o755);
process.exit(status ?? 1);
