import { Tooltip } from '@mantine/core';
import { formatAnnotationTime, KIND_LABELS } from '../../annotations/annotation-text.ts';
import { useAnnotations } from '../../annotations/annotations.tsx';
import type { Annotation } from '../../queries.ts';
import classes from './annotation-marks.module.css';

interface Props {
  /** Of the plot without its axes, in pixels. */
  area: { left: number; width: number };
  /** Epoch milliseconds. */
  start: number;
  end: number;
  zone: string;
}

/** Marks that are closer are one. */
const MIN_DISTANCE_PX = 14;
const MAX_LISTED = 5;

interface Mark {
  left: number;
  annotations: Annotation[];
}

/** Vertical lines at the times of annotations. Each has a button with a tooltip, which opens the table of all. */
export function AnnotationMarks({ area, start, end, zone }: Props) {
  const shown = useAnnotations();
  if (!shown) return null;
  const toLeft = (time: number) => area.left + ((time - start) / (end - start)) * area.width;
  const inRange = shown.annotations.filter(({ time, endTime = time }) => endTime >= start && time < end);
  return (
    <>
      {inRange.map(
        ({ id, time, endTime }) =>
          endTime !== undefined && (
            <div
              key={id}
              className={classes.span}
              style={{
                left: toLeft(Math.max(time, start)),
                width: toLeft(Math.min(endTime, end)) - toLeft(Math.max(time, start)),
              }}
            />
          ),
      )}
      {groupMarks(inRange, (time) => toLeft(Math.max(time, start))).map(({ left, annotations }) => (
        <Tooltip
          key={annotations[0]?.id}
          multiline
          maw={320}
          withArrow
          events={{ hover: true, focus: true, touch: true }}
          label={<MarkText annotations={annotations} zone={zone} />}
        >
          <button
            type="button"
            className={classes.mark}
            style={{ left }}
            data-testid="annotation"
            aria-label={annotations.map((one) => formatMark(one, zone)).join('; ')}
            onClick={shown.onOpen}
          />
        </Tooltip>
      ))}
    </>
  );
}

function groupMarks(annotations: readonly Annotation[], toLeft: (time: number) => number): Mark[] {
  const marks: Mark[] = [];
  for (const annotation of annotations.toSorted((one, other) => one.time - other.time)) {
    const left = toLeft(annotation.time);
    const last = marks.at(-1);
    if (last && left - last.left < MIN_DISTANCE_PX) last.annotations.push(annotation);
    else marks.push({ left, annotations: [annotation] });
  }
  return marks;
}

const formatMark = (annotation: Annotation, zone: string): string =>
  `${KIND_LABELS[annotation.kind]}: ${annotation.title}, ${formatAnnotationTime(annotation, zone)}, by ${annotation.createdBy}`;

const MarkText = ({ annotations, zone }: { annotations: readonly Annotation[]; zone: string }) => (
  <>
    {annotations.slice(0, MAX_LISTED).map((one) => (
      <div key={one.id} className={classes.entry}>
        <b>{one.title}</b>
        {one.text !== '' && <div className={classes.text}>{one.text}</div>}
        <div>
          {KIND_LABELS[one.kind]}, {formatAnnotationTime(one, zone)}, by {one.createdBy}
        </div>
      </div>
    ))}
    {annotations.length > MAX_LISTED && <div>and {annotations.length - MAX_LISTED} more</div>}
  </>
);
