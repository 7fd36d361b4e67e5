import { Switch } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useApi, useSession } from '../../app/context.tsx';
import { notifyError } from '../../parts/messages/notifications.ts';

/** Whether the activities of statements have their literals. Only for those who may change it. */
export function LiteralsSwitch() {
  const { can } = useSession();
  return can('organizationUpdate') && can('organizationGet') ? <OrganizationSwitch /> : null;
}

function OrganizationSwitch() {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: [organizationId, 'organization'],
    queryFn: ({ signal }) => api.organizationGet({ organizationId }, { signal }),
  });
  const change = useMutation({
    mutationFn: (keepSqlLiterals: boolean) => api.organizationUpdate({ organizationId, body: { keepSqlLiterals } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [organizationId] }),
    onError: (error) => notifyError('Could not change whether literals are kept', error),
  });
  return (
    <Switch
      label="Keep literals of SQL statements"
      description="Applies to new statements. Literals can be secrets or personal data."
      checked={change.isPending ? change.variables : (data?.keepSqlLiterals ?? false)}
      disabled={data === undefined || change.isPending}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
    />
  );
}
