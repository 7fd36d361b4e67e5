import { describe, expect, it } from 'vitest';
import { type Config, loadConfig } from './config.ts';
import { SETTINGS, type Setting, type SettingName } from './settings.ts';

const ORGANIZATION = '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';

const files: Record<string, string> = {
  '/run/secrets/url': 'postgres://a:b@db/pilothouse\n',
  '/run/secrets/wrong': 'mysql://db\n',
};

const load = (
  flags: Partial<Record<SettingName, string>> = {},
  environment: Record<string, string> = {},
  values?: Record<string, unknown>,
) =>
  loadConfig({
    flags,
    environment,
    file: values && { path: 'pilothouse.yaml', values, problems: [] },
    readFile(path) {
      if (files[path] === undefined) throw new Error(`no such file: ${path}`);
      return files[path];
    },
  });

function getConfig(...sources: Parameters<typeof load>): Config {
  const loaded = load(...sources);
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  return loaded.config;
}

function listProblems(...sources: Parameters<typeof load>): string[] {
  const loaded = load(...sources);
  return 'problems' in loaded ? loaded.problems : [];
}

describe('settings', () => {
  it('have the documented defaults', () => {
    expect(getConfig()).toEqual({
      configFile: undefined,
      port: 8080,
      host: '127.0.0.1',
      dashboardPort: undefined,
      workers: 1,
      basePath: '',
      dataDirectory: '.pilothouse',
      databaseUrl: undefined,
      databaseConnections: 10,
      databasePreparedStatements: true,
      clickhouseUrl: undefined,
      clickhouseCluster: undefined,
      engineMemoryBytes: undefined,
      fleetFile: undefined,
      dashboardsDirectory: undefined,
      openTables: [],
      rateLimit: { requests: 1000, windowSeconds: 10 },
      maxKeys: 100,
      maxTokens: 100,
      maxDashboards: 1000,
      maxServices: 1000,
      maxSources: 100,
      simulatedTransitionMs: 2000,
      defaultDriver: 'simulated',
      endpointPorts: { first: 18123, last: 19122 },
      nativePorts: { first: 19123, last: 20122 },
      embeddedMibPerGb: 64,
      backupDirectory: undefined,
      backupStorage: undefined,
      backupS3Endpoint: undefined,
      backupS3Region: 'us-east-1',
      backupS3CredentialsFile: undefined,
      backupS3SqlCredentialsFile: undefined,
      backupS3TimeoutMs: 60_000,
      kubeconfig: undefined,
      drift: 'correct',
      ignoredStatements: ['SELECT 1'],
      ignoredAgents: [],
      lockAfterDays: 14,
      auditRetentionDays: undefined,
      versionRetentionDays: undefined,
      telemetryRetentionDays: 30,
      ingestAttributeKeys: 2000,
      ingestMetricStreams: 100_000,
      metricsToken: undefined,
      trustedProxies: [],
      telemetry: true,
      telemetryOrganization: undefined,
      otlpEndpoint: undefined,
      otlpHeaders: undefined,
      otlpServiceName: 'pilothouse',
      webhookAllowPrivate: false,
      oidcIssuer: undefined,
      oidcClientId: undefined,
      oidcClientSecret: undefined,
      oidcScopes: 'openid profile email',
      oidcRefreshMs: 300_000,
      consoleKeySignIn: true,
      smtpUrl: undefined,
      smtpFrom: undefined,
      logLevel: 'info',
    });
  });

  const valid: [SettingName, string, unknown, string][] = [
    ['configFile', '/etc/pilothouse.yaml', '/etc/pilothouse.yaml', 'other.yaml'],
    ['port', '0', 0, '9090'],
    ['host', '::1', '::1', '0.0.0.0'],
    ['dashboardPort', '65535', 65535, '9091'],
    ['publicUrl', 'https://ops.example.com/pilot/', 'https://ops.example.com/pilot', 'http://127.0.0.1:8080'],
    ['oidcIssuer', 'https://id.example/realms/a', 'https://id.example/realms/a', 'http://127.0.0.1:3000'],
    ['oidcClientId', 'pilothouse', 'pilothouse', 'other'],
    ['oidcClientSecret', 'secret', 'secret', 'other'],
    ['oidcScopes', 'openid groups', 'openid groups', 'openid'],
    ['oidcRefreshMs', '10s', 10_000, '1m'],
    ['consoleKeySignIn', 'off', false, 'on'],
    ['tlsCertFile', '/etc/tls/tls.crt', '/etc/tls/tls.crt', 'cert.pem'],
    ['tlsKeyFile', '/etc/tls/tls.key', '/etc/tls/tls.key', 'key.pem'],
    ['tlsRedirectPort', '8080', 8080, '0'],
    ['basePath', '/tools/pilot.house/', '/tools/pilot.house', '/x'],
    ['dataDirectory', '/var/lib/p', '/var/lib/p', '/tmp/p'],
    ['backupDirectory', '/mnt/backups', '/mnt/backups', 'backups'],
    ['backupStorage', 's3://my.bucket/a//b', { bucket: 'my.bucket', prefix: 'a/b/' }, 's3://other'],
    ['backupS3Endpoint', 'http://127.0.0.1:9000/', 'http://127.0.0.1:9000', 'https://s3.example.com'],
    ['backupS3Region', 'eu-central-1', 'eu-central-1', 'auto'],
    ['backupS3CredentialsFile', '/etc/s3', '/etc/s3', 'credentials'],
    ['backupS3SqlCredentialsFile', '/etc/s3-sql', '/etc/s3-sql', 'credentials'],
    ['backupS3TimeoutMs', '500ms', 500, '10s'],
    ['workers', '4', 4, '2'],
    ['databaseUrl', 'postgresql://db/p', 'postgresql://db/p', 'postgres://other/p'],
    ['secretsKeyFile', '/etc/secrets.key', '/etc/secrets.key', 'other.key'],
    ['databaseConnections', '20', 20, '30'],
    ['databasePreparedStatements', 'no', false, 'yes'],
    ['clickhouseUrl', 'https://u:p@ch:8443/db', 'https://u:p@ch:8443/db', 'http://other:8123'],
    ['clickhouseCluster', 'main-1.eu', 'main-1.eu', '_other'],
    ['engineMemoryBytes', '2GiB', 2 ** 31, '768MiB'],
    ['fleetFile', 'fleet.yaml', 'fleet.yaml', 'other.yaml'],
    ['dashboardsDirectory', 'boards', 'boards', 'others'],
    ['openTables', 'app.logs, other.t', ['app.logs', 'other.t'], 'a.b'],
    ['rateLimit', '10/10s', { requests: 10, windowSeconds: 10 }, 'off'],
    ['maxKeys', '1', 1, '5'],
    ['maxTokens', '1', 1, '5'],
    ['maxDashboards', '1', 1, '5'],
    ['maxSources', '1', 1, '5'],
    ['maxServices', '1', 1, '5'],
    ['simulatedTransitionMs', '500ms', 500, '10s'],
    ['defaultDriver', 'embedded', 'embedded', 'simulated'],
    ['endpointPorts', '20000-20010', { first: 20000, last: 20010 }, '0'],
    ['nativePorts', '20000-20010', { first: 20000, last: 20010 }, 'off'],
    ['embeddedMibPerGb', '1024', 1024, '16'],
    ['kubeconfig', '/etc/kube', '/etc/kube', '/other'],
    ['drift', 'adopt', 'adopt', 'correct'],
    ['ignoredStatements', 'SELECT 1; SELECT 2', ['SELECT 1', 'SELECT 2'], ''],
    ['ignoredAgents', 'probe/, kube-probe/', ['probe/', 'kube-probe/'], 'x'],
    ['lockAfterDays', '0', 0, '30'],
    ['auditRetentionDays', '365', 365, 'forever'],
    ['versionRetentionDays', '90', 90, 'forever'],
    ['telemetryRetentionDays', '7', 7, '30'],
    ['otlpPort', '4318', 4318, '0'],
    ['otlpGrpcPort', '4317', 4317, '0'],
    ['ingestRowsPerMinute', '1000', 1000, '1'],
    ['ingestBytesPerMinute', '500MiB', 500 * 2 ** 20, '2GiB'],
    ['ingestAttributeKeys', '500', 500, '7'],
    ['ingestMetricStreams', '500', 500, '7'],
    ['metricsToken', 'scrape-token-0001', 'scrape-token-0001', 'scrape-token-0002'],
    ['trustedProxies', '10.0.0.0/8, ::1', [expect.anything(), expect.anything()], '127.0.0.1'],
    ['telemetry', 'off', false, 'on'],
    ['telemetryOrganization', ORGANIZATION.toUpperCase(), ORGANIZATION, ORGANIZATION.replace('7', '8')],
    ['otlpEndpoint', 'http://collector:4318/', 'http://collector:4318', 'https://other/otlp'],
    ['otlpHeaders', 'Api-Key=a%20b, x=y=z', { 'api-key': 'a b', x: 'y=z' }, 'a=b'],
    ['otlpServiceName', 'control-plane', 'control-plane', 'other'],
    ['webhookAllowPrivate', 'yes', true, 'no'],
    ['smtpUrl', 'smtps://user:p%40ss@mail.example.com', 'smtps://user:p%40ss@mail.example.com', 'smtp://127.0.0.1:25'],
    ['smtpFrom', 'Pilothouse <alerts@example.com>', 'Pilothouse <alerts@example.com>', 'alerts@example.com'],
    ['logLevel', 'silent', 'silent', 'debug'],
    ['serverUrl', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080', 'https://other.example'],
    ['serverKey', 'id:secret', 'id:secret', 'id:other'],
    ['profile', 'production', 'production', 'staging'],
    ['ingestToken', 'pht_1', 'pht_1', 'pht_2'],
    ['readToken', 'pht_1', 'pht_1', 'pht_2'],
    ['servicePassword', 'secret', 'secret', 'other'],
  ];

  it('use the default of the command in place of the general one', () => {
    const defaults = { dataDirectory: '/tmp/demo' };
    const options = { defaults, environment: {}, readFile: () => '' };
    expect(loadConfig({ flags: {}, ...options })).toMatchObject({ config: { dataDirectory: '/tmp/demo' } });
    expect(loadConfig({ flags: { dataDirectory: '/x' }, ...options })).toMatchObject({
      config: { dataDirectory: '/x' },
    });
  });

  /** Variables of settings that are only valid together. */
  const NEEDED: Partial<Record<SettingName, Record<string, string>>> = {
    clickhouseCluster: { PILOTHOUSE_CLICKHOUSE_URL: 'http://ch:8123' },
    oidcIssuer: { PILOTHOUSE_OIDC_CLIENT_ID: 'p', PILOTHOUSE_PUBLIC_URL: 'https://p.example' },
    oidcClientId: { PILOTHOUSE_OIDC_ISSUER: 'https://id.example', PILOTHOUSE_PUBLIC_URL: 'https://p.example' },
    oidcClientSecret: {
      PILOTHOUSE_OIDC_ISSUER: 'https://id.example',
      PILOTHOUSE_OIDC_CLIENT_ID: 'p',
      PILOTHOUSE_PUBLIC_URL: 'https://p.example',
    },
    tlsCertFile: { PILOTHOUSE_TLS_KEY: 'key.pem' },
    tlsKeyFile: { PILOTHOUSE_TLS_CERT: 'cert.pem' },
    tlsRedirectPort: { PILOTHOUSE_PORT: '8443', PILOTHOUSE_TLS_CERT: 'cert.pem', PILOTHOUSE_TLS_KEY: 'key.pem' },
    smtpUrl: { PILOTHOUSE_SMTP_FROM: 'alerts@example.com' },
    smtpFrom: { PILOTHOUSE_SMTP_URL: 'smtp://127.0.0.1:25' },
  };

  it.each(valid)('%s can be a flag or a variable, and the flag takes precedence', (name, text, value, other) => {
    const { variable }: Setting = SETTINGS[name];
    const needed: Record<string, string> = NEEDED[name] ?? {};
    expect(getConfig({}, { ...needed, [variable]: text })[name]).toEqual(value);
    expect(getConfig({ [name]: text }, { ...needed, [variable]: other })[name]).toEqual(value);
    expect(getConfig({ [name]: other }, { ...needed, [variable]: text })[name]).not.toEqual(value);
  });

  it('are all covered by the table above', () => {
    expect(valid.map(([name]) => name).sort()).toEqual(Object.keys(SETTINGS).sort());
  });

  it.each<[SettingName, string[]]>([
    ['port', ['-1', '65536', '80a', '8080.0', '1e3', '']],
    ['configFile', ['']],
    ['serverUrl', ['', '127.0.0.1:8080', 'ftp://host', 'http://']],
    ['serverKey', ['', 'id', ':secret', 'id:']],
    ['profile', ['']],
    ['servicePassword', ['']],
    ['host', ['']],
    ['dashboardPort', ['65536', 'x']],
    ['tlsCertFile', ['']],
    ['tlsKeyFile', ['']],
    ['tlsRedirectPort', ['', '-1', '65536', 'http']],
    ['basePath', ['x', '/x//y', '/..', '/a/../b', '/ä', '/a b', '/a?b', '/"x']],
    ['dataDirectory', ['']],
    ['backupDirectory', ['']],
    [
      'backupStorage',
      ['', 'bucket', 's3://', 's3://B', 's3://a', 's3://bucket/../x', 's3://bucket/a?b', 'https://bucket'],
    ],
    ['backupS3Endpoint', ['', 's3.example.com', 'http://key:secret@s3.example.com', 'ftp://s3']],
    ['backupS3Region', ['', 'eu central', 'a/b']],
    ['backupS3CredentialsFile', ['']],
    ['backupS3SqlCredentialsFile', ['']],
    ['backupS3TimeoutMs', ['', '0s', '60', '1m', '3601s']],
    ['workers', ['', '0', '-1', '65', '1.5', 'auto']],
    ['databaseUrl', ['', 'mysql://db', 'db.example:5432', 'postgres:db']],
    ['secretsKeyFile', ['']],
    ['databaseConnections', ['', '0', '1', '1001', 'many', '2.5']],
    ['databasePreparedStatements', ['', 'true', 'off']],
    ['openTables', ['logs', 'system.tables', 'a.b.c', "a.b'c"]],
    ['clickhouseUrl', ['', 'tcp://ch:9000', 'ch:8123', 'http://']],
    ['clickhouseCluster', ['', '1a', "a'b", 'a b', '{cluster}', 'a'.repeat(65)]],
    ['engineMemoryBytes', ['', '0', '1', '1GB', '767MiB', '0GiB', '1.5GiB', '-1GiB', '99999999GiB']],
    ['rateLimit', ['10', '0/10s', '10/0s', '10/10', '10/10m', '-1/1s', 'none']],
    ['maxKeys', ['0', '-1', '1.5', 'many']],
    ['maxTokens', ['0', '-1', '1.5', 'many']],
    ['maxDashboards', ['0', '-1', '1.5', 'many']],
    ['maxSources', ['0', '-1', '1.5', 'many']],
    ['maxServices', ['0', '-1', '1.5', 'many']],
    ['simulatedTransitionMs', ['', '5', '1.5s', '-1s', '1m', '3601s', 'fast']],
    ['defaultDriver', ['', 'kubernetes', 'webhook', 'Embedded']],
    ['endpointPorts', ['', '8080', '2-1', '0-10', '1-65536', '1-', 'a-b']],
    ['nativePorts', ['', '9000', 'on', '2-1']],
    ['embeddedMibPerGb', ['0', '15', '1025', '1.5']],
    ['kubeconfig', ['']],
    ['drift', ['', 'ignore']],
    ['lockAfterDays', ['-1', '1.5', '3651', 'never']],
    ['auditRetentionDays', ['', '0', '-1', '1.5', '36501', 'never', '90d']],
    ['versionRetentionDays', ['', '0', '36501', 'off']],
    ['telemetryRetentionDays', ['', '0', '3651', 'forever']],
    ['smtpUrl', ['', 'mail.example.com', 'http://mail.example.com', 'smtp://']],
    ['smtpFrom', ['', 'alerts', 'a b@example.com', 'A <a@b', 'a@b, c@d', 'x\r\nBcc: y@z <a@b>']],
    ['otlpPort', ['', '-1', '65536', 'http']],
    ['otlpGrpcPort', ['', '-1', '65536', 'grpc']],
    ['ingestRowsPerMinute', ['', '0', '1.5', 'many']],
    ['ingestBytesPerMinute', ['', '0', '500', '1GB', '0MiB']],
    ['trustedProxies', ['10.0.0.0/33', 'localhost', '127.1', '10.0.0.1;10.0.0.2']],
    ['telemetry', ['', 'yes', 'ON', 'true']],
    ['telemetryOrganization', ['', 'acme', '7c0e4a34']],
    [
      'otlpEndpoint',
      ['', 'collector:4318', 'grpc://collector', 'http://u:p@collector', 'http://c/?x=1', 'http://c/#x'],
    ],
    ['otlpHeaders', ['', 'x', '=y', 'a b=c', 'a=', 'a=%zz', 'a=%0d%0ab', 'a=ü']],
    ['otlpServiceName', ['']],
    ['logLevel', ['', 'verbose', 'INFO']],
  ])('%s rejects invalid values and names the flag', (name, texts) => {
    const { flag, rule }: Setting = SETTINGS[name];
    for (const text of texts) {
      const [problem, ...rest] = listProblems({ [name]: text });
      expect(problem, JSON.stringify(text)).toContain(`${flag} ${rule}`);
      expect(rest).toEqual([]);
    }
  });

  it('reject the same port for both listeners, unless it is 0', () => {
    const [problem] = listProblems({ port: '9000', dashboardPort: '9000' });
    expect(problem).toContain('--dashboard-port must differ from --port');
    expect(listProblems({ otlpPort: '4318', otlpGrpcPort: '4318' })).toEqual([
      expect.stringContaining('--otlp-grpc-port must differ from --otlp-port'),
    ]);
    expect(listProblems({ port: '0', dashboardPort: '0' })).toEqual([]);
  });

  it('reject a cluster without the URL of a ClickHouse server', () => {
    expect(listProblems({ clickhouseCluster: 'main' })).toEqual([
      '--clickhouse-cluster needs --clickhouse-url: the embedded engine has no cluster',
    ]);
    expect(listProblems({ clickhouseCluster: 'main', clickhouseUrl: 'http://ch:8123' })).toEqual([]);
  });

  it('reject a mail server without a sender, and a sender without a mail server', () => {
    const problem = ['--smtp-url and --smtp-from must be set together'];
    expect(listProblems({ smtpUrl: 'smtp://mail.example.com' })).toEqual(problem);
    expect(listProblems({ smtpFrom: 'alerts@example.com' })).toEqual(problem);
    expect(listProblems({ smtpUrl: 'smtp://mail.example.com', smtpFrom: 'alerts@example.com' })).toEqual([]);
  });

  it('reject a certificate without its key, and a redirect without both', () => {
    const together = ['--tls-cert and --tls-key must be set together'];
    expect(listProblems({ tlsCertFile: 'cert.pem' })).toEqual(together);
    expect(listProblems({ tlsKeyFile: 'key.pem', tlsRedirectPort: '80' })).toEqual(together);
    expect(listProblems({ tlsRedirectPort: '80' })).toEqual(['--tls-redirect-port needs --tls-cert and --tls-key']);
    const files = { tlsCertFile: 'cert.pem', tlsKeyFile: 'key.pem' };
    expect(listProblems({ ...files, tlsRedirectPort: '80' })).toEqual([]);
    expect(listProblems({ ...files, publicUrl: 'http://a.example' })).toEqual([
      '--public-url must start with https:// if --tls-cert is set',
    ]);
  });

  it('report all problems at once, each with the flag or variable that was used', () => {
    const problems = listProblems(
      { port: 'x', maxKeys: '0' },
      { PILOTHOUSE_LOG_LEVEL: 'loud', PILOTHOUSE_DATABASE_URL_FILE: '/nowhere', PILOTHOUSE_PROT: '80' },
    );
    expect(problems).toEqual([
      '--port must be a port number from 0 to 65535, not "x"',
      'PILOTHOUSE_DATABASE_URL_FILE cannot be read: no such file: /nowhere',
      '--max-keys must be a whole number from 1 to 1000000, not "0"',
      expect.stringContaining('PILOTHOUSE_LOG_LEVEL must be one of trace'),
      'PILOTHOUSE_PROT is not a known setting; did you mean PILOTHOUSE_PORT?',
    ]);
  });

  it('ignore empty variables and variables of other programs', () => {
    expect(getConfig({}, { PILOTHOUSE_PORT: '', PORT: 'x', PGHOST: 'db' }).port).toBe(8080);
  });
});

describe('a secret setting', () => {
  const variable = 'PILOTHOUSE_DATABASE_URL';

  it('can be read from a file, without its final line break; flag and variable take precedence', () => {
    const file = { [`${variable}_FILE`]: '/run/secrets/url' };
    expect(getConfig({}, file).databaseUrl).toBe('postgres://a:b@db/pilothouse');
    expect(getConfig({}, { ...file, [variable]: 'postgres://c' }).databaseUrl).toBe('postgres://c');
    expect(getConfig({ databaseUrl: 'postgres://d' }, { ...file, [variable]: 'postgres://c' }).databaseUrl).toBe(
      'postgres://d',
    );
  });

  it('never appears in an error message', () => {
    for (const problems of [
      listProblems({ databaseUrl: 'mysql://u:hunter2@db' }),
      listProblems({}, { [variable]: 'hunter2' }),
      listProblems({}, { [`${variable}_FILE`]: '/run/secrets/wrong' }),
    ]) {
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(/must look like postgres:\/\/user:password@host:5432\/database$/);
    }
  });

  it('is the only kind of setting with a _FILE variable', () => {
    expect(listProblems({}, { PILOTHOUSE_PORT_FILE: '/run/port' })).toEqual([
      'PILOTHOUSE_PORT_FILE is not a known setting',
    ]);
  });
});

describe('a config file', () => {
  it('has the names of the flags; flags and variables take precedence', () => {
    const file = {
      'log-level': 'debug',
      port: 9000,
      'max-keys': '7',
      telemetry: 'off',
      'trust-proxy': '10.0.0.0/8,::1',
    };
    const config = getConfig({ port: '9001' }, { PILOTHOUSE_MAX_KEYS: '8' }, file);
    expect(config).toMatchObject({ logLevel: 'debug', port: 9001, maxKeys: 8, telemetry: false });
    expect(config.trustedProxies).toHaveLength(2);
    const secret = { PILOTHOUSE_DATABASE_URL_FILE: '/run/secrets/url' };
    expect(getConfig({}, secret, { 'database-url': 'postgres://file' }).databaseUrl).toContain('@db/');
    expect(getConfig({}, {}, { 'database-url': 'postgres://file' }).databaseUrl).toBe('postgres://file');
  });

  it('takes precedence over the default of a command', () => {
    const file = { path: 'x', values: { data: '/srv' }, problems: [] };
    const loaded = loadConfig({
      flags: {},
      defaults: { dataDirectory: '/demo' },
      environment: {},
      readFile: () => '',
      file,
    });
    expect(loaded).toMatchObject({ config: { dataDirectory: '/srv' } });
  });

  it('can contain every setting except its own name', () => {
    for (const [name, setting] of Object.entries(SETTINGS) as [SettingName, Setting][]) {
      const problems = listProblems({}, {}, { [setting.flag.slice(2)]: ['x'] });
      expect(problems, name).toEqual([
        name === 'configFile'
          ? expect.stringContaining('config is not a known setting')
          : `pilothouse.yaml: ${setting.flag.slice(2)} must be text or a number, not a list`,
      ]);
    }
  });

  it('reports all mistakes with the name of the file and the setting, and suggests names', () => {
    const values = {
      port: 'x',
      host: null,
      'max-keys': { a: 1 },
      log_level: 'debug',
      '--prot': 1,
      nonsense: 1,
      telemetry: true,
    };
    expect(listProblems({ maxTokens: '0' }, {}, values)).toEqual([
      'pilothouse.yaml: port must be a port number from 0 to 65535, not "x"',
      'pilothouse.yaml: host must be text or a number, not empty',
      'pilothouse.yaml: max-keys must be text or a number, not a mapping',
      '--max-tokens must be a whole number from 1 to 1000000, not "0"',
      'pilothouse.yaml: telemetry must be on or off, not "true"',
      'pilothouse.yaml: log_level is not a known setting; did you mean log-level?',
      'pilothouse.yaml: --prot is not a known setting; did you mean port?',
      'pilothouse.yaml: nonsense is not a known setting',
    ]);
  });

  it('shows no secret in a message', () => {
    const problems = listProblems({}, {}, { 'database-url': 'mysql://hunter2', 'metrics-token': 'short' });
    expect(problems).toHaveLength(2);
    expect(problems.join()).not.toMatch(/hunter2|short/);
  });
});
