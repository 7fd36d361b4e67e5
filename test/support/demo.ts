import { spawn } from 'node:child_process';
import { PROGRAM } from './server.ts';

export interface Demo {
  welcome: string;
  /** Resolves with the line that says how its telemetry was loaded, or why not. */
  telemetry: Promise<string>;
  stop(): Promise<number | null>;
}

/** Starts the demo and waits for the end of its welcome. */
export async function startDemo(data: string, program = PROGRAM): Promise<Demo> {
  const child = spawn(process.execPath, [program, 'demo', '--port', '0', '--data', data], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let errors = '';
  const telemetry = new Promise<string>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
      const [line] = /^(no )?demo telemetry.*$/m.exec(errors) ?? [];
      if (line) resolve(line);
    });
    ended.then((code) => resolve(`the demo ended with ${code}: ${errors}`));
  });
  const welcome = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (text.includes('Ctrl+C')) resolve(text);
    });
    ended.then((code) => reject(new Error(`the demo ended with ${code}: ${errors}`)));
  });
  return {
    welcome,
    telemetry,
    stop() {
      if (child.exitCode === null) child.kill('SIGTERM');
      return ended;
    },
  };
}
