import { getRouteApi } from '@tanstack/react-router';
import { Page } from '../../../parts/layout/page.tsx';
import { createAlertDraft } from './alert-draft.ts';
import { AlertForm } from './alert-form.tsx';

const route = getRouteApi('/signed-in/alerts/new');

export function NewAlertPage() {
  const search = route.useSearch();
  return (
    <Page title="New alert">
      <AlertForm key={JSON.stringify(search)} initial={createAlertDraft(search)} />
    </Page>
  );
}
