import { TextInput } from '@mantine/core';
import classes from '../sql.module.css';
import type { Parameter } from '../statements.ts';

interface Props {
  parameters: readonly Parameter[];
  values: Readonly<Record<string, string>>;
  onChange: (values: Record<string, string>) => void;
  onRun: () => void;
}

/** A field for each `{name:Type}` of the text. */
export function ParameterFields({ parameters, values, onChange, onRun }: Props) {
  return (
    <form
      className={classes.parameters}
      aria-label="Parameters"
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
    >
      {parameters.map(({ name, type }) => (
        <TextInput
          key={name}
          size="xs"
          label={
            <>
              {name} <span className={classes.type}>{type}</span>
            </>
          }
          autoComplete="off"
          spellCheck={false}
          value={values[name] ?? ''}
          onChange={(event) => onChange({ ...values, [name]: event.currentTarget.value })}
        />
      ))}
      {/* Enter in a field runs. */}
      <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
    </form>
  );
}
