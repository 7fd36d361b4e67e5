import { EmptyNote } from '../../parts/empty-note.tsx';
import { Page } from '../../parts/page.tsx';

export function KeysPage() {
  return (
    <Page title="Keys">
      <EmptyNote title="Nothing here yet" />
    </Page>
  );
}
