import { EmptyNote } from '../../parts/empty-note.tsx';
import { Page } from '../../parts/page.tsx';

export function DashboardsPage() {
  return (
    <Page title="Dashboards">
      <EmptyNote title="No dashboards here yet" />
    </Page>
  );
}
