import type { Service } from '../../../api/types.ts';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { Copyable, Fact, Facts } from '../../../parts/layout/facts.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';

/** The other fields of the service. */
export function ServiceDetails({ service }: { service: Service }) {
  // Endpoints that a driver reports are in a separate panel.
  const declared = service.driver === 'simulated' ? service.endpoints : undefined;
  return (
    <Panel title="Details">
      <Facts>
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
        {declared?.map(({ protocol, host, port, username }) => (
          <Fact key={`${protocol} ${host}:${port}`} label={`Declared endpoint (${protocol})`}>
            <Copyable value={`${host}:${port}`} label={`Copy ${protocol} endpoint`} />
            {username && <> user {username}</>}
          </Fact>
        ))}
        <Fact label="Tags">{service.tags?.map(({ key, value }) => (value ? `${key}=${value}` : key)).join(', ')}</Fact>
        <Fact label="IAM role">{service.iamRole}</Fact>
        <Fact label="Private endpoints">{service.privateEndpointIds?.join(', ')}</Fact>
        <Fact label="Encryption key">{service.encryptionKey}</Fact>
      </Facts>
    </Panel>
  );
}
