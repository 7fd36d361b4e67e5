// npm run check: the checks run at the same time; the output of each is printed when it ends.
import { spawn } from 'node:child_process';
import { writeConsoleClient } from './console-client.mjs';

const CHECKS = [
  ['biome', 'check', '.'],
  // The types of unchanged files are not checked again: both keep what they know in node_modules/.cache.
  ['tsc', '--noEmit', '-p', 'tsconfig.check.json'],
  ['tsc', '--noEmit', '-p', 'console/tsconfig.json'],
  ['node', 'tools/unused-exports.mjs'],
  ['node', 'tools/house-rules.mjs'],
];

writeConsoleClient();
const codes = await Promise.all(CHECKS.map(run));
process.exit(codes.every((code) => code === 0) ? 0 : 1);

/** Resolves with the exit code. npm puts the programs of the packages on the path. */
function run([program, ...args]) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(bytes));
    child.once('error', reject);
    child.once('close', (code) => {
      process.stdout.write(Buffer.concat(output));
      resolve(code);
    });
  });
}
