import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeClient, installFromNpm, runProgram } from '../install.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/openapi.json');

describeClient(
  'Redocly CLI 2.73.0',
  () => installFromNpm('@redocly/cli@2.73.0'),
  (directory) => {
    it('finds neither errors nor warnings with its recommended rules', () => {
      const program = join(directory, 'node_modules/.bin/redocly');
      const report = runProgram(program, ['lint', DOCUMENT, '--extends=recommended', '--format=json'], {
        cwd: directory,
        env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      });
      expect(JSON.parse(report.slice(report.indexOf('{'))).problems).toEqual([]);
    });
  },
);

describeClient(
  'Spectral 6.16.3',
  () => installFromNpm('@stoplight/spectral-cli@6.16.3'),
  (directory) => {
    it('finds nothing with its OpenAPI rules', () => {
      const rules = join(mkdtempSync(join(tmpdir(), 'pilothouse-test-')), 'rules.yaml');
      writeFileSync(rules, 'extends: ["spectral:oas"]\n');
      const program = join(directory, 'node_modules/.bin/spectral');
      const report = runProgram(program, ['lint', '--quiet', '--format=json', '-r', rules, DOCUMENT]);
      expect(JSON.parse(report)).toEqual([]);
    });
  },
);
