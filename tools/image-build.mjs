// node tools/image-build.mjs [FOLDER]: runs the steps of the Dockerfile in an empty folder, with a folder for each stage, then
// starts the result as the image would: with its user, variables and command. It passes if the health check does and the
// server stops on the image's signal. As root it also shows that the user needs to write only to /data.
// Not the same as a container: the programs are those of this machine.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readStages, readVariables, readWords } from './dockerfile.mjs';

const HEALTH_ATTEMPTS = 60;
const isRoot = process.getuid?.() === 0;
const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'pilothouse-image-'));
const stages = readStages();

try {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  execFileSync('chmod', ['755', folder]);
  for (const stage of stages) runStage(stage);
  await checkServer(stages.at(-1));
} finally {
  if (process.argv[2] === undefined) rmSync(folder, { recursive: true, force: true });
}

function runStage({ name, instructions }) {
  const root = join(folder, name);
  let directory = root;
  for (const { keyword, text } of instructions) {
    if (['WORKDIR', 'COPY', 'RUN'].includes(keyword)) console.log(`${name}: ${keyword} ${text}`);
    if (keyword === 'WORKDIR') {
      directory = join(root, text);
      mkdirSync(directory, { recursive: true });
    }
    if (keyword === 'COPY') copy(text, directory);
    if (keyword === 'RUN') run(name === 'build' ? text : movePaths(text, root), directory);
  }
}

/** Absolute paths of the image → paths in the folder of its stage. */
function movePaths(text, root) {
  return text.replaceAll(/(?<=^|\s)\/(?=\w)/g, `${root}/`);
}

function copy(text, directory) {
  const [, stage] = /--from=(\S+)/.exec(text) ?? [];
  const paths = text.replace(/--from=\S+\s*/, '').split(/\s+/);
  const target = join(directory, paths.at(-1));
  const isFolder = paths.at(-1).endsWith('/') || paths.length > 2;
  for (const path of paths.slice(0, -1)) {
    if (stage) cpSync(join(folder, stage, path), isFolder ? join(target, basename(path)) : target, { recursive: true });
    else for (const file of listContext(path)) cpSync(file, join(directory, file));
  }
}

/** The files that the engine would send: those of git, without those in .dockerignore. */
function listContext(path) {
  const ignored = readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', path], {
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  return files
    .split('\n')
    .filter((file) => file !== '' && existsSync(file))
    .filter((file) => !ignored.some((pattern) => file === pattern || file.startsWith(`${pattern}/`)));
}

function run(command, directory) {
  const { status } = spawnSync('sh', ['-c', command], { cwd: directory, stdio: 'inherit' });
  if (status !== 0) throw new Error(`the step failed with ${status}: ${command}`);
}

async function checkServer(stage) {
  const root = join(folder, stage.name);
  const [uid, gid] = stage.instructions
    .find(({ keyword }) => keyword === 'USER')
    .text.split(':')
    .map(Number);
  const port = await findFreePort();
  const variables = Object.entries(readVariables(stage)).map(([name, value]) => [name, movePaths(value, root)]);
  const options = {
    cwd: join(root, 'app'),
    env: {
      PATH: process.env.PATH,
      ...Object.fromEntries(variables),
      PILOTHOUSE_HOST: '127.0.0.1',
      PILOTHOUSE_PORT: String(port),
    },
    stdio: 'inherit',
    ...(isRoot ? { uid, gid } : {}),
  };
  const [program, ...args] = [...readWords(stage, 'ENTRYPOINT'), ...readWords(stage, 'CMD')];
  const server = spawn(
    program,
    args.map((word) => movePaths(word, root)),
    options,
  );
  const ended = new Promise((resolve) => server.once('close', resolve));
  const [healthProgram, ...healthArgs] = readWords(stage, 'HEALTHCHECK');
  let isHealthy = false;
  for (let attempt = 0; attempt < HEALTH_ATTEMPTS && !isHealthy && server.exitCode === null; attempt++) {
    isHealthy = spawnSync(healthProgram, healthArgs, options).status === 0;
    if (!isHealthy) await delay(500);
  }
  server.kill(stage.instructions.find(({ keyword }) => keyword === 'STOPSIGNAL').text);
  const code = await ended;
  if (!isHealthy || code !== 0) throw new Error(`healthy: ${isHealthy}, exit code: ${code}`);
  const user = isRoot ? `user ${uid}` : 'this user';
  console.log(`The server ran as ${user} with Node.js ${nodeVersion(options)}, was healthy and stopped with 0.`);
  if (!existsSync(join(dirname(options.cwd), 'data/state.db'))) throw new Error('the state is not in /data');
}

function nodeVersion(options) {
  return execFileSync('node', ['--version'], { ...options, stdio: 'pipe', encoding: 'utf8' }).trim();
}

function findFreePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
