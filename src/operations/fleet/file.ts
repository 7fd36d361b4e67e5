import { rejectViolations, type Violation } from '../../kernel/errors.ts';
import { createSchemaCheck } from '../../kernel/schemas/schema-check.ts';
import { parseYamlOrJson } from '../../kernel/schemas/yaml-text.ts';
import { FleetFile } from './schema.ts';

const findViolations = createSchemaCheck(FleetFile);

/** Parses YAML or JSON and checks it against the schema. Throws all violations with their paths. */
export function parseFleetFile(text: string): FleetFile {
  const file = parseYamlOrJson(text, 'The fleet file') ?? { organizations: [] };
  rejectViolations(findViolations(file, '').map(hideSecrets));
  return file as FleetFile;
}

const PUBLIC_FIELDS =
  'id|name|access|roles|customRoles|state|expireAt|createdAt|ipAccessList|service|description|body|to';
const CREDENTIAL_PATH = new RegExp(
  `^(organizations\\[\\d+\\]\\.)?(keys|dashboardTokens|channels)(\\[\\d+\\](\\.(?!(${PUBLIC_FIELDS})\\b).*)?)?$`,
);
const SECRET_NAME = /(key|token|secret|password)[^.]*$|\.url$/i;

/** Hides values that may be secrets, including those of misspelled fields such as `keysecret`. URLs often contain one. */
export const hideSecrets = (violation: Violation): Violation =>
  CREDENTIAL_PATH.test(violation.path) || SECRET_NAME.test(violation.path) ? { ...violation, secret: true } : violation;
