import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { SETTINGS, type Setting } from '../../src/server/settings/settings.ts';
import { readStages, readVariables, readWords } from '../../tools/dockerfile.mjs';
import type { Json } from '../support/client.ts';

const root = join(import.meta.dirname, '../..');
const readText = (path: string) => readFileSync(join(root, path), 'utf8');
const CHART = 'deploy/helm/pilothouse';
const templates = readdirSync(join(root, CHART, 'templates')).map((name) => `${CHART}/templates/${name}`);

const VARIABLES = Object.values(SETTINGS).flatMap(({ variable, isSecret }: Setting) =>
  isSecret ? [variable, `${variable}_FILE`] : [variable],
);

describe('the settings in deployment files', () => {
  const files = [
    'Dockerfile',
    'compose.yaml',
    'deploy/systemd/pilothouse.service',
    `${CHART}/values.yaml`,
    `${CHART}/values.schema.json`,
    ...templates,
  ];

  it.each(files)('%s names only variables that exist', (file) => {
    const named = [...readText(file).matchAll(/\bPILOTHOUSE_[A-Z_]*[A-Z]\b/g)].map(([name]) => name);
    expect(named.filter((name) => !VARIABLES.includes(name))).toEqual([]);
  });

  it('are named in some of them', () => {
    expect(files.filter((file) => readText(file).includes('PILOTHOUSE_')).length).toBeGreaterThanOrEqual(5);
  });
});

describe('Dockerfile', () => {
  const stages = readStages(join(root, 'Dockerfile'));
  const final = stages.at(-1);
  if (!final) throw new Error('the Dockerfile has no stage');
  const find = (keyword: string) => final.instructions.find((found) => found.keyword === keyword)?.text;

  it('builds in one stage and runs in another, on the same base', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', 'final']);
    expect(new Set(stages.map(({ base }) => base)).size).toBe(1);
    expect(final.base).toMatch(/^node:\d+-[a-z]+-slim$/);
  });

  it('runs as a user without a name or rights, and writes to /data only', () => {
    expect(find('USER')).toBe('1000:1000');
    expect(find('VOLUME')).toBe('/data');
    expect(readVariables(final)).toMatchObject({ PILOTHOUSE_DATA: '/data', PILOTHOUSE_HOST: '0.0.0.0' });
  });

  it('starts the server without a shell, which would not pass on the signal', () => {
    expect([...readWords(final, 'ENTRYPOINT'), ...readWords(final, 'CMD')]).toEqual([
      'node',
      '/app/dist/main.js',
      'serve',
    ]);
    expect(find('STOPSIGNAL')).toBe('SIGTERM');
    expect(readWords(final, 'HEALTHCHECK').join(' ')).toContain('/healthz');
  });

  it('copies everything that the package has', () => {
    const { files } = JSON.parse(readText('package.json'));
    const copied = final.instructions.filter(({ keyword }) => keyword === 'COPY').map(({ text }) => text);
    for (const name of files.filter((path: string) => !/^!|\.md$/.test(path)))
      expect(
        copied.some((text) => text.includes(`/build/${name}`)),
        name,
      ).toBe(true);
  });
});

describe('the ports for OpenTelemetry data', () => {
  const { otlpPort, otlpGrpcPort } = SETTINGS;
  const ports = [
    { variable: otlpPort.variable, port: '4318', name: 'http' },
    { variable: otlpGrpcPort.variable, port: '4317', name: 'grpc' },
  ];

  it.each(ports)('$port: the image exposes it', ({ port, variable }) => {
    expect(readText('Dockerfile')).toMatch(new RegExp(`^EXPOSE .*\\b${port}\\b`, 'm'));
    expect(readText('Dockerfile')).toContain(variable);
  });

  it.each(ports)('$port: comments of the compose file and of the unit open it', ({ port, variable }) => {
    const lines = readText('compose.yaml').split('\n');
    const opened = lines.map((line) => (/PILOTHOUSE_OTLP|:431[78]"/.test(line) ? line.replace('#', '') : line));
    const { pilothouse }: Json = parse(opened.join('\n')).services;
    expect(String(pilothouse.environment[variable])).toBe(port);
    expect(pilothouse.ports).toContain(`127.0.0.1:${port}:${port}`);
    expect(readText('deploy/systemd/pilothouse.service')).toMatch(
      new RegExp(`^#Environment=.*${variable}=${port}\\b`, 'm'),
    );
  });

  it.each(ports)('$port: the chart opens it in the pod, the Service and the NetworkPolicy if it is enabled', (one) => {
    const { port, variable, name } = one;
    const inBranch = (template: string) => {
      const [, text = ''] = readText(`${CHART}/templates/${template}.yaml`).split(/\n[ -]*ports:\n/, 2);
      return text.match(new RegExp(`if .Values.otlp.${name}.enabled }}([^]*?)end }}`))?.[1] ?? '';
    };
    expect(inBranch('deployment')).toContain(`containerPort: ${port}`);
    expect(inBranch('service')).toContain(`port: {{ .Values.otlp.${name}.port }}`);
    expect(inBranch('networkpolicy')).toContain(`port: otlp-${name}`);
    expect(readText(`${CHART}/templates/deployment.yaml`)).toMatch(
      new RegExp(`if .Values.otlp.${name}.enabled }}\\s+- name: ${variable}\\s+value: "${port}"`),
    );
    expect(parse(readText(`${CHART}/values.yaml`)).otlp[name]).toEqual({ enabled: false, port: Number(port) });
  });
});

describe('compose.yaml', () => {
  const { services, volumes, configs }: Json = parse(readText('compose.yaml'));

  it('runs Pilothouse with a read-only root, without rights, next to PostgreSQL and ClickHouse', () => {
    expect(Object.keys(services)).toEqual(['pilothouse', 'postgres', 'clickhouse']);
    expect(services.pilothouse).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ports: ['127.0.0.1:8080:8080'],
    });
    for (const name of Object.keys(services.pilothouse.depends_on)) expect(services[name].healthcheck).toBeDefined();
  });

  it('contains no password, and declares every volume and file that it uses', () => {
    expect(readText('compose.yaml')).not.toMatch(/PASSWORD: (?!\$\{\w+:\?)/);
    const used = Object.values<Json>(services).flatMap((service) => service.volumes ?? []);
    for (const volume of used) expect(Object.keys(volumes)).toContain(volume.split(':')[0]);
    expect(services.pilothouse.configs.map(({ source }: Json) => source)).toEqual(Object.keys(configs));
  });
});

describe('the Helm chart', () => {
  const values: Json = parse(readText(`${CHART}/values.yaml`));
  const schema = JSON.parse(readText(`${CHART}/values.schema.json`));
  const validate = new Ajv({ strict: false }).compile(schema);

  it('has the version of the package', () => {
    const { version } = JSON.parse(readText('package.json'));
    expect(parse(readText(`${CHART}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
  });

  it('has defaults that match its schema, and a schema for every default', () => {
    expect(validate(values), JSON.stringify(validate.errors)).toBe(true);
    expect(Object.keys(values).sort()).toEqual(
      Object.keys(schema.properties)
        .filter((name) => name !== 'global')
        .sort(),
    );
  });

  it.each([
    ['an unknown value', { databaseUrl: 'postgres://…' }],
    ['a secret as a setting', { settings: { PILOTHOUSE_DATABASE_URL: 'postgres://user:password@host/db' } }],
    ['a port that the chart sets', { settings: { PILOTHOUSE_OTLP_PORT: 4318 } }],
    ['a setting without its prefix', { settings: { LOG_LEVEL: 'info' } }],
    ['a name of a Secret that Kubernetes rejects', { database: { existingSecret: 'My Secret', key: 'url' } }],
    ['no disruption at all, which would block the drain of a node', { podDisruptionBudget: { maxUnavailable: 0 } }],
  ])('rejects %s', (_, changed) => {
    expect(validate({ ...values, ...changed })).toBe(false);
  });

  it('uses only values that exist', () => {
    for (const template of templates)
      for (const [, path = ''] of readText(template).matchAll(/\.Values\.([A-Za-z.]+)/g)) {
        const found = path.split('.').reduce<Json>((value, name) => value?.[name], values);
        expect(found, `${template}: .Values.${path}`).toBeDefined();
      }
  });

  it('has a template of each kind', () => {
    const kinds = templates.flatMap((path) => [...readText(path).matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind));
    expect(kinds.sort()).toEqual([
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'NetworkPolicy',
      'PersistentVolumeClaim',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
    ]);
  });
});

describe('the systemd unit', () => {
  const unit = readText('deploy/systemd/pilothouse.service');

  it('runs the command of the package as a user of its own, with its state in one directory', () => {
    expect(Object.keys(JSON.parse(readText('package.json')).bin)).toEqual(['pilothouse']);
    expect(unit).toMatch(/^ExecStart=pilothouse serve$/m);
    expect(unit).toMatch(/^DynamicUser=yes$/m);
    expect(unit).toMatch(/^ProtectSystem=strict$/m);
    expect(unit).toMatch(/^Environment=.*PILOTHOUSE_DATA=\/var\/lib\/pilothouse$/m);
    expect(unit).toMatch(/^StateDirectory=pilothouse$/m);
  });
});

describe('deploy/kubernetes/rbac.yaml', () => {
  it('is valid YAML with a role that can delete nothing', () => {
    const documents = parseAllDocuments(readText('deploy/kubernetes/rbac.yaml')).map((found) => found.toJS());
    const verbs = documents.flatMap(({ rules = [] }) => rules.flatMap(({ verbs: list }: Json) => list));
    expect(new Set(verbs)).toEqual(new Set(['get', 'list', 'patch']));
  });
});
