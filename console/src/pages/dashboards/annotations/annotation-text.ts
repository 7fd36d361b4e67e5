import { formatDateTime } from '../../../parts/format/times.ts';
import type { Annotation } from '../queries.ts';

export const KIND_LABELS: Record<Annotation['kind'], string> = {
  deploy: 'Deploy',
  scaling: 'Scaling',
  alert: 'Alert',
};

export const formatAnnotationTime = ({ time, endTime }: Annotation, zone: string): string =>
  endTime === undefined
    ? formatDateTime(time, zone)
    : `${formatDateTime(time, zone)} – ${formatDateTime(endTime, zone)}`;
