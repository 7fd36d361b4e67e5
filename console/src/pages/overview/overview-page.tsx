import { SimpleGrid, Stack } from '@mantine/core';
import { useSession } from '../../app/context.tsx';
import { BudgetsAtAGlance } from '../../parts/budgets-glance.tsx';
import { Page } from '../../parts/page.tsx';
import { ExpiringKeys } from './expiring-keys.tsx';
import { MonthFigures } from './month-figures.tsx';
import { RecentActivity } from './recent-activity.tsx';
import { ServicesAtAGlance } from './services-at-a-glance.tsx';

/** `SCALE` → "Scale". */
const formatTier = (tier: string): string => tier.charAt(0) + tier.slice(1).toLowerCase();

export function OverviewPage() {
  const { organization } = useSession();
  return (
    <Page title="Overview" subtitle={`${organization.name} · ${formatTier(organization.tier)} tier`}>
      <Stack gap="lg">
        <MonthFigures />
        <ServicesAtAGlance />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" style={{ alignItems: 'start' }}>
          <RecentActivity />
          <Stack gap="lg">
            <BudgetsAtAGlance />
            <ExpiringKeys />
          </Stack>
        </SimpleGrid>
      </Stack>
    </Page>
  );
}
