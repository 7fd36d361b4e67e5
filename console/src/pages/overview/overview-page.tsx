import { SimpleGrid, Stack } from '@mantine/core';
import { useSession } from '../../app/context.tsx';
import { Page } from '../../parts/page.tsx';
import { ExpiringKeys } from './expiring-keys.tsx';
import { MonthFigures } from './month-figures.tsx';
import { RecentActivity } from './recent-activity.tsx';
import { ServicesAtAGlance } from './services-at-a-glance.tsx';

export function OverviewPage() {
  const { organization } = useSession();
  return (
    <Page title="Overview" subtitle={`${organization.name} · ${organization.tier.toLowerCase()} tier`}>
      <Stack gap="lg">
        <MonthFigures />
        <ServicesAtAGlance />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" style={{ alignItems: 'start' }}>
          <RecentActivity />
          <ExpiringKeys />
        </SimpleGrid>
      </Stack>
    </Page>
  );
}
