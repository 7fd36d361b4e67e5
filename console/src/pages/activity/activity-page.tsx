import { EmptyNote } from '../../parts/empty-note.tsx';
import { Page } from '../../parts/page.tsx';

export function ActivityPage() {
  return (
    <Page title="Activity">
      <EmptyNote title="Nothing here yet" />
    </Page>
  );
}
