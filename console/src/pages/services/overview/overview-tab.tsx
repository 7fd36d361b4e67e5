import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useSession } from '../../../app/context.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { Connect } from '../access/connect.tsx';
import { useService } from '../service-context.tsx';
import { ServiceStatus } from '../service-status.tsx';
import classes from '../services.module.css';
import { ServiceDetails } from './service-details.tsx';
import { ServiceIdling } from './service-idling.tsx';

/** The state of the service and how to connect to it. */
export function OverviewTab() {
  const service = useService();
  const { can } = useSession();
  return (
    <div className={classes.panels}>
      <ServiceStatus service={service} />
      <Panel
        title="Connect"
        aside={
          can('instancePasswordUpdate') && (
            <Anchor
              size="sm"
              renderRoot={(props) => <Link to="/services/$id/access" params={{ id: service.id }} {...props} />}
            >
              Password and access
            </Anchor>
          )
        }
      >
        <Connect service={service} />
      </Panel>
      {can('instanceIdleGet') && <ServiceIdling service={service} />}
      <ServiceDetails service={service} />
    </div>
  );
}
