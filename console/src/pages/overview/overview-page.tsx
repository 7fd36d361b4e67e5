import { EmptyNote } from '../../parts/empty-note.tsx';
import { Page } from '../../parts/page.tsx';

export function OverviewPage() {
  return (
    <Page title="Overview">
      <EmptyNote title="Nothing here yet" />
    </Page>
  );
}
