import { Compile } from 'typebox/compile';
import { parse } from 'yaml';
import { AppError, refuse } from '../kernel/errors.ts';
import { dropNulls } from '../kernel/nulls.ts';
import { violationsOf } from '../kernel/violations.ts';
import { FleetFile } from './schema.ts';

const validator = Compile(FleetFile);

/** YAML or JSON text → a file whose every member is of the right shape; throws all mistakes with their paths. */
export function parseFleetFile(text: string): FleetFile {
  const file = parseText(text) ?? { organizations: [] };
  dropNulls(FleetFile, file);
  if (!validator.Check(file)) refuse(violationsOf(validator.Errors(file), file, '').map(withoutSecrets));
  return file as FleetFile;
}

function parseText(text: string): unknown {
  try {
    return text.trimStart().startsWith('{') ? JSON.parse(text) : parse(text);
  } catch (cause) {
    throw new AppError('bad_request', `The fleet file cannot be read: ${(cause as Error).message}`, { cause });
  }
}

const withoutSecrets = <V extends { path: string }>(violation: V): V => (/(keySecret|token|keyId)$/.test(violation.path) ? { ...violation, secret: true } : violation);
