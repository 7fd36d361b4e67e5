import { Button, Group } from '@mantine/core';
import { formatBillDate } from '../../parts/format.ts';
import { formatMetric, toMetric } from './metrics.ts';
import type { CostFilters } from './search.ts';

interface Props {
  filters: CostFilters;
  /** The name of the entity or warehouse, as far as it is known. */
  formatName: (id: string) => string;
  onRemove: (filter: keyof CostFilters) => void;
}

/** The active filters; a click removes one. */
export function FilterChips({ filters, formatName, onRemove }: Props) {
  const { day, entity, warehouse, metric } = filters;
  const chips: [keyof CostFilters, string | undefined][] = [
    ['day', day && `Day: ${formatBillDate(day)}`],
    ['warehouse', warehouse && `Warehouse: ${formatName(warehouse)}`],
    ['entity', entity && `Service: ${formatName(entity)}`],
    ['metric', metric && `Meter: ${formatMetric(toMetric(metric))}`],
  ];
  return (
    <Group gap="xs" role="group" aria-label="Filters">
      {chips.map(
        ([filter, label]) =>
          label && (
            <Button
              key={filter}
              size="compact-sm"
              variant="light"
              rightSection="✕"
              aria-label={`Remove filter ${label}`}
              onClick={() => onRemove(filter)}
            >
              {label}
            </Button>
          ),
      )}
    </Group>
  );
}
