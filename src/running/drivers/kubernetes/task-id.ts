import type { DesiredResource } from './change.ts';

/** What the `taskID` of a ClickHouseInstallation says about the change that set it. */
export interface Task {
  generation: number;
  state: DesiredResource['state'];
  /** 1 for the first, more after the operator has aborted. */
  attempt: number;
  /** Older tasks have none. */
  controlPlaneId?: string | undefined;
}

const TASK_ID =
  /^pilothouse-(\d+)-(running|idle|stopped)-(\d+)-[^-]*(?:-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}))?$/;

/** The resource version makes the id unique, so that an older task with the same content is not taken for this one. */
export const formatTaskId = ({ generation, state, attempt, controlPlaneId }: Task, resourceVersion: string): string =>
  [`pilothouse-${generation}-${state}-${attempt}-${resourceVersion}`, controlPlaneId]
    .filter((part) => part !== undefined)
    .join('-');

/** Undefined for a task that another program has set. */
export function parseTaskId(text: string | undefined): Task | undefined {
  const [, generation, state, attempt, controlPlaneId] = TASK_ID.exec(text ?? '') ?? [];
  return state === undefined
    ? undefined
    : { generation: Number(generation), state: state as Task['state'], attempt: Number(attempt), controlPlaneId };
}
