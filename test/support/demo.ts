import { spawn } from 'node:child_process';
import { PROGRAM } from './server.ts';

export interface Demo {
  welcome: string;
  /** Resolves with the message about its telemetry: loaded, or the reason why not. */
  telemetry: Promise<string>;
  /** The same for its metered usage. */
  usage: Promise<string>;
  /** Everything on standard error so far. */
  messages(): string;
  stop(): Promise<number | null>;
}

/** Free ports: other servers may use those for OpenTelemetry data. */
const OTLP_PORTS = ['--otlp-port', '0', '--otlp-grpc-port', '0'];

/** Starts the demo and waits for the end of its welcome message. */
export async function startDemo(data: string, program = PROGRAM, args = OTLP_PORTS): Promise<Demo> {
  const child = spawn(process.execPath, [program, 'demo', '--port', '0', '--data', data, ...args], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let errors = '';
  child.stderr.setEncoding('utf8');
  const waitForMessage = (line: RegExp) =>
    new Promise<string>((resolve) => {
      child.stderr.on('data', () => {
        const [found] = line.exec(errors) ?? [];
        if (found) resolve(found);
      });
      void ended.then((code) => resolve(`the demo exited with ${code}: ${errors}`));
    });
  child.stderr.on('data', (text: string) => {
    errors += text;
  });
  const telemetry = waitForMessage(/^.*demo telemetry.*$/im);
  const usage = waitForMessage(/^demo usage.*$/m);
  const welcome = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (text.includes('Ctrl+C')) resolve(text);
    });
    void ended.then((code) => reject(new Error(`the demo exited with ${code}: ${errors}`)));
  });
  return {
    welcome,
    telemetry,
    usage,
    messages: () => errors,
    stop() {
      if (child.exitCode === null) child.kill('SIGTERM');
      return ended;
    },
  };
}
