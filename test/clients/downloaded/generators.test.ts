import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import {
  describeClient,
  getFolder,
  installFromGo,
  installFromMaven,
  installFromNpm,
  installFromPyPi,
  runProgram,
} from '../install.ts';

const ROOT = join(import.meta.dirname, '../../..');
const DOCUMENT = join(ROOT, 'docs/openapi.json');
/** Names of the public API, and of the dashboard API, that users of a generated client expect. */
const NAMES = [
  'Activity',
  'ApiKey',
  'ApiKeyHashData',
  'ApiKeyPatchRequest',
  'ApiKeyPostRequest',
  'ApiKeyPostResponse',
  'CurrentScaling',
  'Dashboard',
  'IpAccessListEntry',
  'Organization',
  'Service',
  'ServiceEndpoint',
  'ServiceReplicaScalingPatchRequest',
  'ServiceScalingPatchRequest',
  'Source',
  'Tile',
  'UsageCost',
  'UsageCostMetrics',
  'UsageCostRecord',
];

const output = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
afterAll(() => rmSync(output, { recursive: true, force: true }));

/** Fails with the compiler's messages. */
function expectCompiled(...files: string[]): void {
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--target', 'es2022', '--types', ''];
  const modules = ['--module', 'preserve', '--moduleResolution', 'bundler', '--lib', 'es2022,dom,dom.iterable'];
  runProgram(join(ROOT, 'node_modules/.bin/tsc'), [...flags, ...modules, ...files], { cwd: output });
}

const USE_TYPES = `import type { components } from './openapi-typescript';
${NAMES.map((name) => `export type My${name} = components['schemas']['${name}'];`).join('\n')}
`;

describeClient(
  'openapi-typescript 7.13.0',
  () => installFromNpm('openapi-typescript@7.13.0'),
  (directory) => {
    it('generates the types', () => {
      const program = join(directory, 'node_modules/.bin/openapi-typescript');
      runProgram(program, [DOCUMENT, '-o', join(output, 'openapi-typescript.d.ts')]);
      writeFileSync(join(output, 'use.ts'), USE_TYPES);
      expectCompiled(join(output, 'use.ts'));
    });
  },
);

describeClient(
  '@hey-api/openapi-ts 0.99.0',
  () => installFromNpm('@hey-api/openapi-ts@0.99.0', 'typescript@5.9.3'),
  (directory) => {
    it('generates a client that compiles', () => {
      const program = join(directory, 'node_modules/.bin/openapi-ts');
      runProgram(program, ['-i', DOCUMENT, '-o', join(output, 'hey'), '-c', '@hey-api/client-fetch'], {
        cwd: directory,
      });
      const types = readFileSync(join(output, 'hey/types.gen.ts'), 'utf8');
      for (const name of NAMES) expect(types).toMatch(new RegExp(`^export type ${name} = `, 'm'));
      expectCompiled(join(output, 'hey/index.ts'));
    });
  },
);

const DATAMODEL = 'datamodel-code-generator==0.89.0';
const PYTHON_CLIENT = 'openapi-python-client==0.29.1';

describeClient(
  `${DATAMODEL} and ${PYTHON_CLIENT}`,
  () => installFromPyPi(DATAMODEL, PYTHON_CLIENT, 'pydantic==2.12.5'),
  (programs) => {
    const python = (code: string) => runProgram(join(programs, 'python'), ['-c', code], { cwd: output });

    it('generate Pydantic models', () => {
      const kind = ['--input-file-type', 'openapi', '--output-model-type', 'pydantic_v2.BaseModel'];
      runProgram(join(programs, 'datamodel-codegen'), [
        '--input',
        DOCUMENT,
        ...kind,
        '--output',
        join(output, 'models.py'),
      ]);
      python(`import models\nfor name in ${JSON.stringify(NAMES)}: getattr(models, name).model_json_schema()`);
    });

    it('generate a client', () => {
      const program = join(programs, 'openapi-python-client');
      const target = join(output, 'python');
      runProgram(program, ['generate', '--path', DOCUMENT, '--output-path', target, '--meta', 'none', '--overwrite'], {
        env: { PATH: `${programs}:${process.env.PATH}` },
      });
      python(`import importlib, pkgutil, python, python.models as models
for module in pkgutil.walk_packages(python.__path__, 'python.'): importlib.import_module(module.name)
for name in ${JSON.stringify(NAMES)}: getattr(models, name).from_dict`);
    });
  },
);

const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';

describeClient(
  'oapi-codegen v2.8.2',
  () => installFromGo(OAPI_CODEGEN),
  (directory) => {
    it('generates a Go client that compiles', () => {
      const module = getFolder('go module');
      writeFileSync(join(module, 'go.mod'), 'module example.test/pilothouse\n\ngo 1.24\n');
      const flags = ['-package', 'pilothouse', '-generate', 'types,client', '-o', join(module, 'client.go')];
      runProgram(join(directory, 'oapi-codegen'), [...flags, DOCUMENT]);
      const code = readFileSync(join(module, 'client.go'), 'utf8');
      for (const name of NAMES) expect(code).toMatch(new RegExp(`^type ${name} (struct|=)`, 'm'));
      runProgram('go', ['mod', 'tidy'], { cwd: module });
      runProgram('go', ['vet', './...'], { cwd: module });
    });
  },
);

/** The first run compiles every dependency. */
const MAX_BUILD_MS = 30 * 60_000;
const GENERATOR = 'org.openapitools:openapi-generator-cli:7.14.0';

describeClient(
  'openapi-generator 7.14.0',
  () => installFromMaven(GENERATOR),
  (directory) => {
    it('generates a Rust client that compiles', { timeout: MAX_BUILD_MS }, () => {
      const jar = join(directory, 'openapi-generator-cli-7.14.0.jar');
      const target = getFolder('rust generated');
      const flags = ['-i', DOCUMENT, '-g', 'rust', '-o', target, '--additional-properties=packageName=pilothouse'];
      runProgram('java', ['-jar', jar, 'generate', ...flags]);
      const models = readFileSync(join(target, 'src/models/mod.rs'), 'utf8');
      for (const name of NAMES) expect(models).toContain(`::${name};`);
      runProgram('cargo', ['check', '--quiet'], { cwd: target, env: { CARGO_TARGET_DIR: getFolder('cargo target') } });
    });
  },
);
