import { EmptyNote } from '../../parts/empty-note.tsx';
import { Page } from '../../parts/page.tsx';

export function ServicePage() {
  return (
    <Page title="Service">
      <EmptyNote title="Nothing here yet" />
    </Page>
  );
}
