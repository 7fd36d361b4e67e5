import { SegmentedControl } from '@mantine/core';
import { ScrollRegion } from '../tables/scroll-region.tsx';
import { CopyIconButton } from './copy-button.tsx';
import classes from './snippets.module.css';

interface Props<T extends string> {
  /** What the choices are: "Client". */
  label: string;
  choices: readonly T[];
  value: T;
  onChange(value: T): void;
  text: string;
  /** What the text is: "Settings for Python". */
  textLabel: string;
  copyLabel: string;
  testId: string;
  /** Long lines are wrapped; otherwise they scroll. */
  wraps?: boolean;
}

/** A text to copy, in a variant of choice. */
export function Snippets<T extends string>(props: Props<T>) {
  const { label, choices, value, onChange, text, textLabel, copyLabel, testId, wraps = false } = props;
  return (
    <>
      <div className={classes.choices}>
        <SegmentedControl
          size="xs"
          aria-label={label}
          data={[...choices]}
          value={value}
          onChange={(chosen) => onChange(chosen as T)}
        />
      </div>
      <div className={classes.command}>
        <ScrollRegion aria-label={textLabel} className={classes.snippet}>
          <pre data-testid={testId} data-wraps={wraps || undefined}>
            {text}
          </pre>
        </ScrollRegion>
        <CopyIconButton value={text} label={copyLabel} />
      </div>
    </>
  );
}
