import { Stack } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Operations } from '../api/generated.ts';
import { Note } from '../parts/layout/note.tsx';
import { useApi, useSession } from './context.tsx';

const REFRESH_MS = 60_000;

const usageWarningsQuery = (api: Operations, organizationId: string) =>
  queryOptions({
    queryKey: [organizationId, 'usageWarnings'],
    queryFn: ({ signal }) => api.usageWarningGetList({ organizationId }, { signal }),
    refetchInterval: REFRESH_MS,
  });

/** On every page, for admins: days that are not rated or not locked, and the remedy. */
export function UsageWarnings() {
  const { organizationId } = useSession();
  const { data: warnings = [] } = useQuery(usageWarningsQuery(useApi(), organizationId));
  if (warnings.length === 0) return null;
  return (
    <Stack gap="sm" mb="lg">
      {warnings.map(({ code, message, remedy }) => (
        <Note key={`${code} ${message}`} tone="warn" title={toSentence(message)}>
          <p>{toSentence(remedy)}</p>
        </Note>
      ))}
    </Stack>
  );
}

const toSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
