import type { Service } from '../../api/types.ts';
import { useSession } from '../../app/context.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { getState } from '../../parts/services/service-status.ts';
import { useService } from '../services/service-context.tsx';
import { SqlView } from './sql-view.tsx';

/** Runs statements in a service, as the role of the session allows. */
export function SqlTab() {
  const service = useService();
  const { can } = useSession();
  if (!can('sqlRead'))
    return (
      <Notice title="You may not run statements">
        Your roles do not have the permission sql:read. An administrator can give you a role that has it.
      </Notice>
    );
  if (service.driver !== 'embedded')
    return <Notice title="Statements do not run here">{REASONS[service.driver]}</Notice>;
  if (getState(service) === 'stopped')
    return <Notice title="The service is stopped">Start it to run statements.</Notice>;
  return <SqlView service={service} />;
}

const REASONS: Record<Exclude<Service['driver'], 'embedded'>, string> = {
  simulated: 'A simulated service has no process, so it runs no statements.',
  kubernetes: 'Statements by role run in embedded services only. Connect to this service with its password.',
  webhook: 'Statements by role run in embedded services only. Connect to this service with its password.',
};

function Notice({ title, children }: { title: string; children: string }) {
  return (
    <Panel>
      <EmptyState title={title}>{children}</EmptyState>
    </Panel>
  );
}
