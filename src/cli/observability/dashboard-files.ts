import { formatViolation } from '../../kernel/errors.ts';
import { type DashboardFile, parseDashboardFiles } from '../../observability/dashboards/files/dashboard-file.ts';
import { isAlertFile, listProblems } from '../../observability/dashboards/files/folder.ts';
import { parseAlertFile } from '../../operations/fleet/alerting/alert-file.ts';
import { type ProcessAccess, UsageError } from '../command.ts';

type Reader = Pick<ProcessAccess, 'readFile'>;

interface FileProblem {
  file: string;
  message: string;
}

/** An alert file has no dashboards. */
function parseFile({ readFile }: Reader, file: string): { dashboards: DashboardFile[]; problems: FileProblem[] } {
  try {
    if (!isAlertFile(file)) return { dashboards: parseDashboardFiles(readFile(file)), problems: [] };
    parseAlertFile(readFile(file));
    return { dashboards: [], problems: [] };
  } catch (error) {
    return { dashboards: [], problems: listProblems(error, formatViolation).map((message) => ({ file, message })) };
  }
}

export const listFileProblems = (reader: Reader, files: readonly string[]): FileProblem[] =>
  files.flatMap((file) => parseFile(reader, file).problems);

/** Throws a `UsageError` with the problems of all files. */
export function readDashboardFiles(reader: Reader, files: readonly string[]): DashboardFile[] {
  const alertFile = files.find(isAlertFile);
  if (alertFile !== undefined)
    throw new UsageError([`${alertFile}: Alerts are applied with the dashboards folder or a fleet file`]);
  const parsed = files.map((file) => parseFile(reader, file));
  const problems = parsed.flatMap((one) => one.problems);
  if (problems.length > 0) throw new UsageError(problems.map(({ file, message }) => `${file}: ${message}`));
  return parsed.flatMap(({ dashboards }) => dashboards);
}
