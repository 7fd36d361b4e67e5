import type { ReactNode } from 'react';
import type { Service } from '../../api/types.ts';
import { CopyIconButton } from '../../parts/copy-button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import classes from './services.module.css';

/** The other fields of the service. */
export function ServiceDetails({ service }: { service: Service }) {
  return (
    <Panel title="Details">
      <dl className={classes.facts}>
        <Fact label="Service ID">
          <Copyable value={service.id} label="Copy service ID" />
        </Fact>
        <Fact label="Warehouse ID">
          <Copyable value={service.dataWarehouseId} label="Copy warehouse ID" />
        </Fact>
        <Fact label="Created">
          <Timestamp at={service.createdAt} />
        </Fact>
        <Fact label="Version">{service.databaseVersion}</Fact>
        <Fact label="Region">{[service.provider, service.region].filter(Boolean).join(' · ')}</Fact>
        {service.endpoints?.map(({ protocol, host, port, username }) => (
          <Fact key={`${protocol} ${host}:${port}`} label={`Endpoint (${protocol})`}>
            <Copyable value={`${host}:${port}`} label={`Copy ${protocol} endpoint`} />
            {username && <> user {username}</>}
          </Fact>
        ))}
        {service.ipAccessList && service.ipAccessList.length > 0 && (
          <Fact label="IP access list">
            {service.ipAccessList.map(({ source, description }) => (
              <div key={source}>
                {source}
                {description && ` · ${description}`}
              </div>
            ))}
          </Fact>
        )}
        <Fact label="Tags">{service.tags?.map(({ key, value }) => (value ? `${key}=${value}` : key)).join(', ')}</Fact>
        <Fact label="IAM role">{service.iamRole}</Fact>
        <Fact label="Private endpoints">{service.privateEndpointIds?.join(', ')}</Fact>
        <Fact label="Encryption key">{service.encryptionKey}</Fact>
      </dl>
    </Panel>
  );
}

/** Renders nothing without a value. */
function Fact({ label, children }: { label: string; children: ReactNode }) {
  if (children === undefined || children === '') return null;
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Copyable({ value, label }: { value: string; label: string }) {
  return (
    <span className={classes.copyable}>
      {value}
      <CopyIconButton value={value} label={label} />
    </span>
  );
}
