import type { ReactNode } from 'react';
import type { Service } from '../../api/types.ts';
import { CopyIconButton } from '../../parts/copy-button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import classes from './services.module.css';

/** The rest of the record: what a person looks up or copies from it. */
export function ServiceDetails({ service }: { service: Service }) {
  return (
    <Panel title="Details">
      <dl className={classes.facts}>
        <Fact label="Service id">
          <Copyable value={service.id} what="the service's id" />
        </Fact>
        <Fact label="Warehouse">
          <Copyable value={service.dataWarehouseId} what="the warehouse's id" />
        </Fact>
        <Fact label="Created">
          <Timestamp at={service.createdAt} />
        </Fact>
        <Fact label="Version">{service.databaseVersion}</Fact>
        <Fact label="Where">{[service.provider, service.region].filter(Boolean).join(' · ')}</Fact>
        {service.endpoints?.map(({ protocol, host, port, username }) => (
          <Fact key={`${protocol} ${host}:${port}`} label={`Endpoint, ${protocol}`}>
            <Copyable value={`${host}:${port}`} what={`the ${protocol} endpoint`} />
            {username && <> as {username}</>}
          </Fact>
        ))}
        {service.ipAccessList && service.ipAccessList.length > 0 && (
          <Fact label="Reachable from">
            {service.ipAccessList.map(({ source, description }) => (
              <div key={source}>
                {source}
                {description && ` · ${description}`}
              </div>
            ))}
          </Fact>
        )}
        <Fact label="IAM role">{service.iamRole}</Fact>
        <Fact label="Private endpoints">{service.privateEndpointIds?.join(', ')}</Fact>
        <Fact label="Encryption key">{service.encryptionKey}</Fact>
      </dl>
    </Panel>
  );
}

/** Left out where there is nothing to say. */
function Fact({ label, children }: { label: string; children: ReactNode }) {
  if (children === undefined || children === '') return null;
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Copyable({ value, what }: { value: string; what: string }) {
  return (
    <span className={classes.copyable}>
      {value}
      <CopyIconButton value={value} label={`Copy ${what}`} />
    </span>
  );
}
