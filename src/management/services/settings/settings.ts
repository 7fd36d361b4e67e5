import { AppError, rejectViolations, type Violation } from '../../../kernel/errors.ts';
import { newUuid } from '../../../kernel/ids.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Actor } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Caller } from '../../hand-outs/caller.ts';
import { assertMayHandOut } from '../../hand-outs/hand-out.ts';
import { toServiceRights } from '../../hand-outs/rights.ts';
import type { Keys } from '../../keys/keys.ts';
import { scheduleViolations } from '../scaling/schedule.ts';
import type { Service } from '../service.ts';
import {
  type AutoscalerMode,
  type BackupConfiguration,
  DEFAULT_AUTOSCALER_MODE,
  DEFAULT_BACKUP,
  type QueryEndpoint,
  type ScheduleEntry,
  type ServiceSettings,
} from '../service-settings.ts';
import { createServiceWriter } from '../service-writer.ts';

export type ServiceSettingsOperations = ReturnType<typeof createServiceSettings>;

/** An entry of the schedule as a client sends it. `numReplicas` sets the minimum and the maximum. */
type NewScheduleEntry = { [Name in keyof Omit<ScheduleEntry, 'id'>]: ScheduleEntry[Name] | undefined } & Pick<
  ScheduleEntry,
  'name' | 'weekdays' | 'startHourUtc' | 'endHourUtc'
> & { numReplicas?: number | undefined };

interface Options {
  state: State;
  audit: Audit;
  keys: Keys;
}

/** The settings of a service that are not in its record: backups, the query endpoint, the scaling schedule and autoscaling. */
export function createServiceSettings({ state, audit, keys }: Options) {
  const writer = createServiceWriter({ state, audit });

  return {
    updateBackup: (actor: Actor, organizationId: string, id: string, change: Partial<Loose<BackupConfiguration>>) =>
      writer.change(actor, organizationId, id, ({ service }) => {
        const before = service.settings?.backupConfiguration ?? DEFAULT_BACKUP;
        const after = mergeBackup(before, change);
        rejectViolations(backupViolations(after, change));
        if (JSON.stringify(after) === JSON.stringify(before)) return undefined;
        const activity = { type: 'service_update_backup_configuration', before, after } as const;
        return { after: withSettings(service, { backupConfiguration: after }), activities: [activity] };
      }),

    /** Creates the endpoint, or replaces its settings. */
    async putQueryEndpoint(
      actor: Actor,
      organizationId: string,
      id: string,
      wanted: Omit<QueryEndpoint, 'id'>,
      caller: Caller,
    ): Promise<Readonly<Service>> {
      const known = new Set((await keys.list(organizationId)).map((key) => key.id));
      return writer.change(actor, organizationId, id, ({ service }) => {
        rejectViolations(
          wanted.openApiKeys.flatMap((keyId, index): Violation[] =>
            known.has(keyId)
              ? []
              : [{ path: `openApiKeys[${index}]`, rule: 'The organization has no such key', value: keyId }],
          ),
        );
        assertMayHandOut(caller, toEndpointRights(id, wanted), 'The query endpoint');
        const before = service.settings?.serviceQueryEndpoint;
        // In the order of the fleet file, so that applying an export changes nothing.
        const { openApiKeys, roles, allowedOrigins } = wanted;
        const after = { id: before?.id ?? newUuid(), openApiKeys, roles, allowedOrigins };
        if (JSON.stringify(after) === JSON.stringify(before)) return undefined;
        const activity = { type: 'service_update_query_endpoints', ...(before && { before }), after } as const;
        return { after: withSettings(service, { serviceQueryEndpoint: after }), activities: [activity] };
      });
    },

    removeQueryEndpoint: (actor: Actor, organizationId: string, id: string) =>
      writer.change(actor, organizationId, id, ({ service }) => {
        const before = getQueryEndpoint(service);
        const activity = { type: 'service_update_query_endpoints', before } as const;
        return { after: withSettings(service, { serviceQueryEndpoint: undefined }), activities: [activity] };
      }),

    setAutoscalerMode: (actor: Actor, organizationId: string, id: string, mode: AutoscalerMode) =>
      writer.change(actor, organizationId, id, ({ service }) => {
        const before = { mode: getAutoscalerMode(service) };
        if (before.mode === mode) return undefined;
        const activity = { type: 'service_update_autoscaling_mode', before, after: { mode } } as const;
        return { after: withSettings(service, { autoscaling: { mode } }), activities: [activity] };
      }),

    /** Replaces all entries. */
    putSchedule: (actor: Actor, organizationId: string, id: string, wanted: readonly NewScheduleEntry[]) =>
      writer.change(actor, organizationId, id, ({ service, organization }) => {
        const before = service.settings?.scalingSchedule ?? [];
        const after = wanted.map((entry) => toScheduleEntry(entry, before));
        const violations = scheduleViolations(after, service.scaling, { organization, service });
        rejectViolations(violations.map((violation) => ({ ...violation, path: `entries${violation.path}` })));
        return changeSchedule(service, before, after);
      }),

    removeSchedule: (actor: Actor, organizationId: string, id: string) =>
      writer.change(actor, organizationId, id, ({ service }) =>
        changeSchedule(service, service.settings?.scalingSchedule ?? [], []),
      ),
  };
}

/** What the keys of a query endpoint can do with it. */
const toEndpointRights = (serviceId: string, { roles }: Pick<QueryEndpoint, 'roles'>) =>
  toServiceRights(serviceId, roles.includes('sql_console_admin') ? ['sqlRead', 'sqlWrite'] : ['sqlRead']);

type Loose<T> = { [Name in keyof T]: T[Name] | undefined };

export const getAutoscalerMode = ({ settings }: Readonly<Service>): AutoscalerMode =>
  settings?.autoscaling?.mode ?? DEFAULT_AUTOSCALER_MODE;

/** Throws `not_found` if the service has none. */
export function getQueryEndpoint({ id, settings }: Readonly<Service>): QueryEndpoint {
  const endpoint = settings?.serviceQueryEndpoint;
  if (!endpoint) throw new AppError('not_found', `service ${id} has no query endpoint`);
  return endpoint;
}

function withSettings(service: Readonly<Service>, changed: Loose<Partial<ServiceSettings>>): Service {
  const settings = Object.entries({ ...service.settings, ...changed }).filter(([, value]) => value !== undefined);
  return { ...service, settings: Object.fromEntries(settings) };
}

function changeSchedule(service: Readonly<Service>, before: readonly ScheduleEntry[], after: ScheduleEntry[]) {
  if (JSON.stringify(after) === JSON.stringify(before)) return undefined;
  const activity = {
    type: 'service_update_autoscaling_schedule',
    before: { entries: before },
    after: { entries: after },
  } as const;
  const scalingSchedule = after.length > 0 ? after : undefined;
  return { after: withSettings(service, { scalingSchedule }), activities: [activity] };
}

/** An entry with the same content keeps its id. */
function toScheduleEntry(wanted: NewScheduleEntry, before: readonly ScheduleEntry[]): ScheduleEntry {
  const { numReplicas } = wanted;
  const settings = {
    autoscalingMode: wanted.autoscalingMode,
    minReplicaMemoryGb: wanted.minReplicaMemoryGb,
    maxReplicaMemoryGb: wanted.maxReplicaMemoryGb,
    minReplicas: wanted.minReplicas ?? numReplicas,
    maxReplicas: wanted.maxReplicas ?? numReplicas,
    idleScaling: wanted.idleScaling,
    idleTimeoutMinutes: wanted.idleTimeoutMinutes,
  };
  const entry = {
    name: wanted.name,
    weekdays: [...wanted.weekdays].sort(),
    startHourUtc: wanted.startHourUtc,
    endHourUtc: wanted.endHourUtc,
    ...(wanted.timeZone === undefined ? undefined : { timeZone: wanted.timeZone }),
    ...(Object.fromEntries(
      Object.entries(settings).filter(([, value]) => value !== undefined),
    ) as Partial<ScheduleEntry>),
  };
  const text = JSON.stringify(entry);
  const same = before.find(({ id: _, ...other }) => JSON.stringify(other) === text);
  return { id: same?.id ?? newUuid(), ...entry };
}

const HOURS_PER_DAY = 24;

/** A start time makes backups daily. A period other than a day removes it. */
function mergeBackup(before: BackupConfiguration, change: Partial<Loose<BackupConfiguration>>): BackupConfiguration {
  const { backupPeriodInHours: period, backupRetentionPeriodInHours: retention, backupStartTime: start } = change;
  const removesStart = start === undefined && period !== undefined && period !== HOURS_PER_DAY;
  const startTime = removesStart ? undefined : (start ?? before.backupStartTime);
  return {
    backupPeriodInHours: period ?? (start === undefined ? before.backupPeriodInHours : HOURS_PER_DAY),
    backupRetentionPeriodInHours: retention ?? before.backupRetentionPeriodInHours,
    ...(startTime === undefined ? undefined : { backupStartTime: startTime }),
  };
}

function backupViolations(after: BackupConfiguration, change: Partial<Loose<BackupConfiguration>>): Violation[] {
  const { backupPeriodInHours: period, backupRetentionPeriodInHours: retention, backupStartTime: start } = after;
  if (start !== undefined && period !== HOURS_PER_DAY)
    return [{ path: 'backupPeriodInHours', rule: 'The value must be 24 with a backupStartTime', value: period }];
  if (retention >= period) return [];
  const path =
    change.backupRetentionPeriodInHours === undefined ? 'backupPeriodInHours' : 'backupRetentionPeriodInHours';
  const rule = `The retention of ${retention} hours must be at least the period of ${period} hours`;
  return [{ path, rule, value: after[path] }];
}
