import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { keysQuery } from '../../api/queries.ts';
import type { Key } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { EmptyNote } from '../../parts/empty-state.tsx';
import { Failure } from '../../parts/error-notice.tsx';
import { plural } from '../../parts/format.ts';
import { PlusIcon } from '../../parts/icons.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { CreateKey } from './create-key-dialog.tsx';
import { type KeyAct, KeyActs } from './key-action-dialog.tsx';
import { KeyTable } from './key-table.tsx';
import { RotateKey } from './rotate-key-dialog.tsx';

export function KeysPage() {
  const api = useApi();
  const { organizationId, canChangeFleet } = useSession();
  const { data, error, refetch } = useQuery(keysQuery(api, organizationId));
  const [isCreating, setIsCreating] = useState(false);
  const [chosen, setChosen] = useState<{ key: Key; act: KeyAct } | undefined>();
  const create = (
    <Button leftSection={<PlusIcon size={16} />} onClick={() => setIsCreating(true)}>
      Create key
    </Button>
  );
  return (
    <Page
      title="Keys"
      lead={data ? `${plural(data.length, 'key')} for the management API` : 'Loading…'}
      actions={canChangeFleet && create}
    >
      {error && !data ? (
        <Failure error={error} title="The keys are missing" retry={() => refetch()} />
      ) : (
        <Panel flush>
          {data?.length === 0 ? (
            <EmptyNote title="No keys yet" action={canChangeFleet && create}>
              A key lets a script or a person call the API, with the roles you give it.
            </EmptyNote>
          ) : (
            <KeyTable keys={data} {...(canChangeFleet ? { onAct: (key, act) => setChosen({ key, act }) } : {})} />
          )}
        </Panel>
      )}
      {isCreating && <CreateKey onClose={() => setIsCreating(false)} />}
      {chosen?.act === 'rotate' ? (
        <RotateKey of={chosen.key} onClose={() => setChosen(undefined)} />
      ) : (
        chosen && <KeyActs of={chosen.key} act={chosen.act} onClose={() => setChosen(undefined)} />
      )}
    </Page>
  );
}
