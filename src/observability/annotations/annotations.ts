import { AppError, rejectViolations } from '../../kernel/errors.ts';
import { newHexId } from '../../kernel/ids.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Range } from '../charts/queries/time-buckets.ts';
import { parseMoment } from '../charts/time-range.ts';
import type { Dashboards } from '../dashboards/dashboards.ts';
import { isResourceId } from '../sources/resource-id.ts';
import { type Annotation, type AnnotationKind, MAX_ANNOTATIONS, type ReadAnnotations } from './annotation.ts';
import type { AnnotationBody } from './schema.ts';
import {
  deleteAnnotation,
  deleteOldestAnnotations,
  findAnnotation,
  insertAnnotation,
  listStoredAnnotations,
} from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  dashboards: Pick<Dashboards, 'get'>;
  /** A new kind of annotation is a name in `ANNOTATION_KINDS` and a reader here. */
  readers: Record<Exclude<AnnotationKind, 'deploy'>, ReadAnnotations>;
}

interface Listing {
  dashboardId?: string | undefined;
  limit: number;
  /** Kinds that the client may not read. */
  without?: readonly AnnotationKind[] | undefined;
}

export type Annotations = ReturnType<typeof createAnnotations>;

export function createAnnotations({ state, clock, audit, organizations, dashboards, readers }: Options) {
  return {
    /** All kinds in the range, newest first. */
    async list(organizationId: string, range: Range, { dashboardId, limit, without = [] }: Listing) {
      const kinds = Object.entries(readers).filter(([kind]) => !without.includes(kind as AnnotationKind));
      const lists = await Promise.all([
        listStoredAnnotations(state.db, organizationId, range, { dashboardId, limit }),
        ...kinds.map(([, read]) => read(organizationId, range, limit)),
      ]);
      return lists
        .flat()
        .filter((one) => dashboardId === undefined || (one.dashboardId ?? dashboardId) === dashboardId)
        .sort((one, other) => other.time - one.time)
        .slice(0, limit);
    },

    async create(
      actor: Actor,
      organizationId: string,
      body: AnnotationBody,
      inTransaction?: InTransaction<Annotation>,
    ): Promise<Annotation> {
      const annotation = toAnnotation(body, clock.now(), actor.details);
      const { dashboardId } = annotation;
      if (dashboardId !== undefined) await dashboards.get(organizationId, dashboardId);
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await insertAnnotation(tx, organizationId, annotation);
        await deleteOldestAnnotations(tx, organizationId, MAX_ANNOTATIONS);
        await audit.record(tx, actor, {
          organizationId,
          type: 'annotation_create',
          resource: { type: 'annotation', id: annotation.id },
          after: toAuditFields(annotation),
        });
        await inTransaction?.(tx, annotation);
      });
      return annotation;
    },

    async remove(actor: Actor, organizationId: string, id: string): Promise<void> {
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const annotation = isResourceId(id) ? await findAnnotation(tx, organizationId, id) : undefined;
        if (!annotation) throw new AppError('not_found', 'Annotation not found');
        await deleteAnnotation(tx, organizationId, id);
        await audit.record(tx, actor, {
          organizationId,
          type: 'annotation_delete',
          resource: { type: 'annotation', id },
          before: toAuditFields(annotation),
        });
      });
    },
  };
}

function toAnnotation(body: AnnotationBody, now: number, createdBy: string): Annotation {
  const { title, text = '', tags = [], dashboardId, link } = body;
  const time = body.time === undefined ? now : parseMoment('time', body.time);
  const endTime = body.endTime === undefined ? time : parseMoment('endTime', body.endTime);
  rejectViolations([
    ...(title.trim() === '' ? [{ path: 'title', rule: 'The value must not be blank', value: title }] : []),
    ...(endTime < time ? [{ path: 'endTime', rule: 'The end must not be before the time', value: body.endTime }] : []),
    ...(link !== undefined && !isWebAddress(link)
      ? [{ path: 'link', rule: 'The value must be an http or https URL', value: link }]
      : []),
  ]);
  return {
    id: newHexId(),
    kind: 'deploy',
    time,
    endTime: endTime === time ? undefined : endTime,
    title: title.trim(),
    text,
    tags: [...new Set(tags)],
    dashboardId,
    link,
    createdBy,
  };
}

/** Pages make a link of it, so it must not be a script. */
const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** The audit log names a resource by its name. */
const toAuditFields = ({ title, time, dashboardId, tags }: Annotation) => ({
  name: title,
  time: new Date(time).toISOString(),
  tags,
  ...(dashboardId === undefined ? {} : { dashboardId }),
});
