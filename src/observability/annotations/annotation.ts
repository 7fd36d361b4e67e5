import type { Range } from '../charts/queries/time-buckets.ts';

/** All kinds of annotations. `deploy` ones are stored; each other kind has a reader in `createAnnotations`. */
export const ANNOTATION_KINDS = ['deploy', 'scaling', 'alert'] as const;
export type AnnotationKind = (typeof ANNOTATION_KINDS)[number];

/** An event that charts show. Times are epoch milliseconds. */
export interface Annotation {
  id: string;
  kind: AnnotationKind;
  time: number;
  /** If the event has a length. */
  endTime?: number | undefined;
  title: string;
  text: string;
  tags: string[];
  /** Undefined: on every dashboard. */
  dashboardId?: string | undefined;
  /** A page about the event, http or https. */
  link?: string | undefined;
  /** The name of the actor. */
  createdBy: string;
}

/** Reads the annotations of a kind that are kept elsewhere: at most `limit` in the range, newest first. */
export type ReadAnnotations = (organizationId: string, range: Range, limit: number) => Promise<Annotation[]>;

/** Per organization; the oldest are removed. */
export const MAX_ANNOTATIONS = 10_000;
export const MAX_LISTED = 1000;
export const DEFAULT_LISTED = 200;
