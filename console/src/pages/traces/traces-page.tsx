import { Page } from '../../parts/layout/page.tsx';

export function TracesPage() {
  return <Page title="Traces">x</Page>;
}
