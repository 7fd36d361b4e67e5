import { Button, Group } from '@mantine/core';
import type { CostRecord } from '../../api/types.ts';
import { formatBillDate } from '../../parts/format/format.ts';
import { formatMetric, toMetric } from './metrics.ts';
import type { CostFilters } from './search.ts';

interface Props {
  filters: CostFilters;
  /** The cost record of an entity, if it has one in the span. */
  findRecord: (id: string) => CostRecord | undefined;
  onRemove: (filter: keyof CostFilters) => void;
}

const ENTITY_LABELS: Record<CostRecord['entityType'], string> = {
  service: 'Service',
  datawarehouse: 'Warehouse',
  clickpipe: 'ClickPipe',
};

/** The active filters; a click removes one. */
export function FilterChips({ filters, findRecord, onRemove }: Props) {
  const formatName = (id: string) => findRecord(id)?.entityName ?? `${id.slice(0, 8)}…`;
  const { day, entity, warehouse, metric } = filters;
  const chips: [keyof CostFilters, string | undefined][] = [
    ['day', day && `Day: ${formatBillDate(day)}`],
    ['warehouse', warehouse && `Warehouse with services: ${formatName(warehouse)}`],
    ['entity', entity && `${ENTITY_LABELS[findRecord(entity)?.entityType ?? 'service']}: ${formatName(entity)}`],
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
