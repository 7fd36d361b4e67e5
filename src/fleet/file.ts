import { rejectViolations, type Violation } from '../kernel/errors.ts';
import { createSchemaCheck } from '../kernel/schema-check.ts';
import { parseYamlOrJson } from '../kernel/yaml-text.ts';
import { FleetFile } from './schema.ts';

const mistakesIn = createSchemaCheck(FleetFile);

/** YAML or JSON text → a file whose every member is of the right shape; throws all mistakes with their paths. */
export function parseFleetFile(text: string): FleetFile {
  const file = parseYamlOrJson(text, 'The fleet file') ?? { organizations: [] };
  rejectViolations(mistakesIn(file, '').map(withoutSecrets));
  return file as FleetFile;
}

const HARMLESS = 'id|name|access|roles|state|expireAt|createdAt|ipAccessList';
const IN_CREDENTIALS = new RegExp(`\\.(keys|dashboardTokens)(\\[\\d+\\](\\.(?!(${HARMLESS})\\b).*)?)?$`);
const LIKE_A_SECRET = /(key|token|secret|password)[^.]*$/i;

/** Also a misspelt `keysecret` holds a secret. */
const withoutSecrets = (violation: Violation): Violation =>
  IN_CREDENTIALS.test(violation.path) || LIKE_A_SECRET.test(violation.path)
    ? { ...violation, secret: true }
    : violation;
