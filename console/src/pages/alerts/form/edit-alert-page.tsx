import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { Page } from '../../../parts/layout/page.tsx';
import { editedAlertQuery, type StoredAlert } from '../queries.ts';
import { toAlertDraft } from './alert-draft.ts';
import { AlertForm } from './alert-form.tsx';

const route = getRouteApi('/signed-in/alerts/$id/edit');

export function EditAlertPage() {
  const { id } = route.useParams();
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(editedAlertQuery(api, organizationId, id));
  return (
    <Page title="Edit alert">
      {data ? (
        <EditedAlert key={id} stored={data} />
      ) : error ? (
        <ErrorNotice error={error} title="Could not load the alert" retry={() => refetch()} />
      ) : (
        <Skeleton height={400} />
      )}
    </Page>
  );
}

/** The form starts with what was stored when it was opened. */
function EditedAlert({ stored }: { stored: StoredAlert }) {
  const [{ alert, etag }] = useState(stored);
  const [initial] = useState(() => toAlertDraft(alert));
  return <AlertForm alert={alert} etag={etag} initial={initial} />;
}
