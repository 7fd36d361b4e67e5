import { EmptyNote } from '../../parts/empty-note.tsx';
import { Page } from '../../parts/page.tsx';

export function CostsPage() {
  return (
    <Page title="Costs">
      <EmptyNote title="No costs here yet" />
    </Page>
  );
}
