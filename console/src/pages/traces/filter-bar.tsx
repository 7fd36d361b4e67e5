import { ActionIcon, Button, TextInput, Tooltip } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ReloadIcon } from '../dashboards/icons.tsx';
import type { TimeWindow } from '../dashboards/queries.ts';
import { RangePicker } from '../dashboards/time-window/range-picker.tsx';
import { LanguageControl } from '../dashboards/where/language-control.tsx';
import { formatNs, parseDuration } from './durations.ts';
import type { TracesSearch } from './search.ts';
import { SourceSelect } from './source-select.tsx';
import classes from './traces.module.css';

interface Props {
  search: TracesSearch;
  window: TimeWindow;
  onChange: (search: TracesSearch) => void;
  onReload: () => void;
}

/** Source, time range and refresh. */
export function RangeActions({ search, window, onChange, onReload }: Props) {
  const { last: _last, from: _from, to: _to, partStart: _partStart, partEnd: _partEnd, ...others } = search;
  const { source: _source, ...withoutSource } = search;
  return (
    <>
      <SourceSelect
        value={search.source}
        onChange={(source) => onChange(source ? { ...withoutSource, source } : withoutSource)}
      />
      <RangePicker
        search={search}
        range={window}
        zone={window.zone}
        onChange={(part) => onChange({ ...others, ...part })}
      />
      <Tooltip label="Refresh" withArrow>
        <ActionIcon variant="default" size={36} aria-label="Refresh" onClick={onReload}>
          <ReloadIcon />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

/** The condition on spans. It applies when it is submitted, so that half of a condition is no error. */
export function ConditionForm({
  search,
  onChange,
  children,
}: Pick<Props, 'search' | 'onChange'> & { children?: ReactNode }) {
  const [where, setWhere] = useState(search.where ?? '');
  const [lang, setLang] = useState<'lucene' | 'sql'>(search.lang ?? 'lucene');
  const isSql = lang === 'sql';
  return (
    <form
      className={classes.form}
      aria-label="Condition"
      onSubmit={(event) => {
        event.preventDefault();
        const { where: _where, lang: _lang, with: _with, ...rest } = search;
        onChange({ ...rest, ...(where.trim() ? { where: where.trim(), ...(isSql ? { lang: 'sql' } : {}) } : {}) });
      }}
    >
      <TextInput
        className={classes.condition}
        aria-label="Condition on spans"
        placeholder={isSql ? "ServiceName = 'checkout' AND Duration > 1e8" : 'ServiceName:"checkout" StatusCode:Error'}
        value={where}
        spellCheck={false}
        onChange={(event) => setWhere(event.currentTarget.value)}
      />
      <LanguageControl label="Language of the condition" value={lang} onChange={setLang} />
      {children}
      <Button type="submit" variant="default">
        Search
      </Button>
    </form>
  );
}

/** A duration with a unit; empty for none. */
export function DurationField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: number | undefined;
  onChange: (ns: number | undefined) => void;
}) {
  const shown = value === undefined ? '' : formatNs(value);
  const [text, setText] = useState(shown);
  const [isWrong, setIsWrong] = useState(false);
  const commit = () => {
    // The text is rounded: leaving the field must not change the value.
    if (text === shown) return;
    const ns = parseDuration(text);
    setIsWrong(text.trim() !== '' && ns === undefined);
    if (text.trim() === '' || ns !== undefined) onChange(ns);
  };
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      w={130}
      value={text}
      error={isWrong ? 'Such as 250 ms' : undefined}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === 'Enter' && commit()}
    />
  );
}
