import { type ChildProcess, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runProgram } from '../clients/install.ts';

const root = join(import.meta.dirname, '../..');

/** Writes the npm package of the last build to a directory. */
export function packPackage(directory: string) {
  const output = runProgram('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', directory], {
    cwd: root,
  });
  const [packed] = JSON.parse(output);
  return { packed, tarball: join(directory, packed.filename) };
}

/** Waits for the end of the demo's welcome message. */
export function readWelcome(child: ChildProcess, ended: Promise<number | null>): Promise<string> {
  return new Promise((resolve, reject) => {
    let [text, errors] = ['', ''];
    child.stderr?.setEncoding('utf8').on('data', (more: string) => {
      errors += more;
    });
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (text.includes('Ctrl+C')) resolve(text);
    });
    void ended.then((code) => reject(new Error(`the demo exited with ${code}: ${errors}`)));
  });
}

/** Runs the query of the welcome message. */
export function queryService(welcome: string): void {
  const [, call = ''] = /\n {2}Query a service\n {4}(curl .*)\n/.exec(welcome) ?? [];
  const answer = execFileSync('sh', ['-c', `${call} -sS --fail-with-body`], { encoding: 'utf8' });
  expect(answer.trim(), call).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
}
