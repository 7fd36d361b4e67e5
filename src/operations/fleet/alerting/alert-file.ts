import Type, { type Static } from 'typebox';
import { rejectViolations } from '../../../kernel/errors.ts';
import { createSchemaCheck } from '../../../kernel/schemas/schema-check.ts';
import { parseYamlOrJson } from '../../../kernel/schemas/yaml-text.ts';
import { ALERTING_MEMBERS } from '../alerting-schema.ts';
import { hideSecrets } from '../file.ts';

/** A file of the dashboards folder whose name ends in `.alerts.yaml`: a part of an organization in a fleet file. */
const AlertFile = Type.Object(
  {
    organization: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    ...ALERTING_MEMBERS,
  },
  { additionalProperties: false },
);
type AlertFile = Static<typeof AlertFile>;

const findViolations = createSchemaCheck(AlertFile);

/** Throws all violations with their paths. Rules that depend on other resources are checked when it is applied. */
export function parseAlertFile(text: string): AlertFile {
  const file = parseYamlOrJson(text, 'The file') ?? {};
  rejectViolations(findViolations(file, '').map(hideSecrets));
  return file as AlertFile;
}
