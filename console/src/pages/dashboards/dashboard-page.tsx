import { EmptyNote } from '../../parts/empty-note.tsx';
import { Page } from '../../parts/page.tsx';

export function DashboardPage() {
  return (
    <Page title="Dashboard">
      <EmptyNote title="No dashboards here yet" />
    </Page>
  );
}
