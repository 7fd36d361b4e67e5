import { Pill } from '@mantine/core';
import { dropValue, parseChoice, shortenText, showLiteral } from '../conditions.ts';
import classes from '../search.module.css';
import type { SearchState } from '../use-search-state.ts';

/** The filters in addition to the query; each can be removed. */
export function FilterChips({ state: { filters, change } }: { state: SearchState }) {
  if (filters.length === 0) return null;
  const set = (next: string[]) => change({ filters: next.length === 0 ? undefined : next });
  const chips = filters.flatMap((condition) => {
    const choice = parseChoice(condition);
    if (!choice) return [{ label: condition, rest: filters.filter((one) => one !== condition) }];
    return choice.literals.map((literal) => ({
      label: `${choice.expression} ${choice.isExcluded ? '≠' : '='} ${showLiteral(literal)}`,
      rest: dropValue(filters, choice.expression, literal),
    }));
  });
  return (
    <ul className={classes.chips} aria-label="Filters">
      {chips.map(({ label, rest }) => (
        <li key={label}>
          <Pill
            withRemoveButton
            size="md"
            className={classes.chip}
            title={label}
            removeButtonProps={{
              'aria-label': `Remove filter ${shortenText(label)}`,
              'aria-hidden': false,
              tabIndex: 0,
            }}
            onRemove={() => set(rest)}
          >
            {label}
          </Pill>
        </li>
      ))}
    </ul>
  );
}
