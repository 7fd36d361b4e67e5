import { describe, expect, it } from 'vitest';
import { type Config, loadConfig } from './config.ts';
import { SETTINGS, type Setting, type SettingName } from './settings.ts';

const ORGANIZATION = '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';

const files: Record<string, string> = {
  '/run/secrets/url': 'postgres://a:b@db/pilothouse\n',
  '/run/secrets/wrong': 'mysql://db\n',
};

const load = (flags: Partial<Record<SettingName, string>> = {}, environment: Record<string, string> = {}) =>
  loadConfig({
    flags,
    environment,
    readFile(path) {
      if (files[path] === undefined) throw new Error(`no such file: ${path}`);
      return files[path];
    },
  });

function configOf(...sources: Parameters<typeof load>): Config {
  const loaded = load(...sources);
  if ('mistakes' in loaded) throw new Error(loaded.mistakes.join('\n'));
  return loaded.config;
}

function mistakesOf(...sources: Parameters<typeof load>): string[] {
  const loaded = load(...sources);
  return 'mistakes' in loaded ? loaded.mistakes : [];
}

describe('settings', () => {
  it('have a default each, or none', () => {
    expect(configOf()).toEqual({
      port: 8080,
      host: '127.0.0.1',
      dashboardPort: undefined,
      basePath: '',
      dataDirectory: '.pilothouse',
      databaseUrl: undefined,
      clickhouseUrl: undefined,
      engineMemoryBytes: undefined,
      fleetFile: undefined,
      dashboardsDirectory: undefined,
      openTables: [],
      rateLimit: { requests: 1000, windowSeconds: 10 },
      maxKeys: 100,
      lockAfterDays: 14,
      trustedProxies: [],
      telemetry: true,
      telemetryOrganization: undefined,
      webhookAllowPrivate: false,
      logLevel: 'info',
    });
  });

  const given: [SettingName, string, unknown, string][] = [
    ['port', '0', 0, '9090'],
    ['host', '::1', '::1', '0.0.0.0'],
    ['dashboardPort', '65535', 65535, '9091'],
    ['basePath', '/tools/pilot.house/', '/tools/pilot.house', '/x'],
    ['dataDirectory', '/var/lib/p', '/var/lib/p', '/tmp/p'],
    ['databaseUrl', 'postgresql://db/p', 'postgresql://db/p', 'postgres://other/p'],
    ['clickhouseUrl', 'https://u:p@ch:8443/db', 'https://u:p@ch:8443/db', 'http://other:8123'],
    ['engineMemoryBytes', '2GiB', 2 ** 31, '768MiB'],
    ['fleetFile', 'fleet.yaml', 'fleet.yaml', 'other.yaml'],
    ['dashboardsDirectory', 'boards', 'boards', 'others'],
    ['openTables', 'app.logs, other.t', ['app.logs', 'other.t'], 'a.b'],
    ['rateLimit', '10/10s', { requests: 10, windowSeconds: 10 }, 'off'],
    ['maxKeys', '1', 1, '5'],
    ['lockAfterDays', '0', 0, '30'],
    ['trustedProxies', '10.0.0.0/8, ::1', [expect.anything(), expect.anything()], '127.0.0.1'],
    ['telemetry', 'off', false, 'on'],
    ['telemetryOrganization', ORGANIZATION.toUpperCase(), ORGANIZATION, ORGANIZATION.replace('7', '8')],
    ['webhookAllowPrivate', 'yes', true, 'no'],
    ['logLevel', 'silent', 'silent', 'debug'],
  ];

  it.each(given)('%s may be a flag or a variable, and the flag wins', (name, text, value, other) => {
    const { variable }: Setting = SETTINGS[name];
    expect(configOf({}, { [variable]: text })[name]).toEqual(value);
    expect(configOf({ [name]: text }, { [variable]: other })[name]).toEqual(value);
    expect(configOf({ [name]: other }, { [variable]: text })[name]).not.toEqual(value);
  });

  it('are all in that table', () => {
    expect(given.map(([name]) => name).sort()).toEqual(Object.keys(SETTINGS).sort());
  });

  it.each<[SettingName, string[]]>([
    ['port', ['-1', '65536', '80a', '8080.0', '1e3', '']],
    ['host', ['']],
    ['dashboardPort', ['65536', 'x']],
    ['basePath', ['x', '/x//y', '/..', '/a/../b', '/ä', '/a b', '/a?b', '/"x']],
    ['dataDirectory', ['']],
    ['databaseUrl', ['', 'mysql://db', 'db.example:5432', 'postgres:db']],
    ['openTables', ['logs', 'system.tables', 'a.b.c', "a.b'c"]],
    ['clickhouseUrl', ['', 'tcp://ch:9000', 'ch:8123', 'http://']],
    ['engineMemoryBytes', ['', '0', '1', '1GB', '767MiB', '0GiB', '1.5GiB', '-1GiB', '99999999GiB']],
    ['rateLimit', ['10', '0/10s', '10/0s', '10/10', '10/10m', '-1/1s', 'none']],
    ['maxKeys', ['0', '-1', '1.5', 'many']],
    ['lockAfterDays', ['-1', '1.5', '3651', 'never']],
    ['trustedProxies', ['10.0.0.0/33', 'localhost', '127.1', '10.0.0.1;10.0.0.2']],
    ['telemetry', ['', 'yes', 'ON', 'true']],
    ['telemetryOrganization', ['', 'acme', '7c0e4a34']],
    ['logLevel', ['', 'verbose', 'INFO']],
  ])('%s refuses what is not valid and names the flag', (name, texts) => {
    const { flag, rule }: Setting = SETTINGS[name];
    for (const text of texts) {
      const [mistake, ...rest] = mistakesOf({ [name]: text });
      expect(mistake, JSON.stringify(text)).toContain(`${flag} ${rule}`);
      expect(rest).toEqual([]);
    }
  });

  it('refuse one port for two listeners, but not two free ones', () => {
    const [mistake] = mistakesOf({ port: '9000', dashboardPort: '9000' });
    expect(mistake).toContain('--dashboard-port must differ from --port');
    expect(mistakesOf({ port: '0', dashboardPort: '0' })).toEqual([]);
  });

  it('report all mistakes at once, each by the name under which it was given', () => {
    const mistakes = mistakesOf(
      { port: 'x', maxKeys: '0' },
      { PILOTHOUSE_LOG_LEVEL: 'loud', PILOTHOUSE_DATABASE_URL_FILE: '/nowhere', PILOTHOUSE_PROT: '80' },
    );
    expect(mistakes).toEqual([
      '--port must be a port, 0 to 65535, not "x"',
      'PILOTHOUSE_DATABASE_URL_FILE cannot be read: no such file: /nowhere',
      '--max-keys must be a whole number of at least 1, not "0"',
      expect.stringContaining('PILOTHOUSE_LOG_LEVEL must be one of trace'),
      'PILOTHOUSE_PROT is not a setting of this version',
    ]);
  });

  it('count an empty variable as not given, and leave other programs’ variables alone', () => {
    expect(configOf({}, { PILOTHOUSE_PORT: '', PORT: 'x', PGHOST: 'db' }).port).toBe(8080);
  });
});

describe('the database URL, a secret', () => {
  const variable = 'PILOTHOUSE_DATABASE_URL';

  it('may stand in a file, whose last line break does not count; flag and variable win over it', () => {
    const file = { [`${variable}_FILE`]: '/run/secrets/url' };
    expect(configOf({}, file).databaseUrl).toBe('postgres://a:b@db/pilothouse');
    expect(configOf({}, { ...file, [variable]: 'postgres://c' }).databaseUrl).toBe('postgres://c');
    expect(configOf({ databaseUrl: 'postgres://d' }, { ...file, [variable]: 'postgres://c' }).databaseUrl).toBe(
      'postgres://d',
    );
  });

  it('is never shown in a mistake', () => {
    for (const mistakes of [
      mistakesOf({ databaseUrl: 'mysql://u:hunter2@db' }),
      mistakesOf({}, { [variable]: 'hunter2' }),
      mistakesOf({}, { [`${variable}_FILE`]: '/run/secrets/wrong' }),
    ]) {
      expect(mistakes).toHaveLength(1);
      expect(mistakes[0]).toMatch(/must look like postgres:\/\/user:password@host:5432\/database$/);
    }
  });

  it('is the only setting with a file: a file of another one would silently do nothing', () => {
    expect(mistakesOf({}, { PILOTHOUSE_PORT_FILE: '/run/port' })).toEqual([
      'PILOTHOUSE_PORT_FILE is not a setting of this version',
    ]);
  });
});
