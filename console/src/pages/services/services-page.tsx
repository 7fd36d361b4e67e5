import { EmptyNote } from '../../parts/empty-note.tsx';
import { Page } from '../../parts/page.tsx';

export function ServicesPage() {
  return (
    <Page title="Services">
      <EmptyNote title="Nothing here yet" />
    </Page>
  );
}
