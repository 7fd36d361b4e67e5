import type { ReactNode } from 'react';
import type { Permissions } from '../api/session.ts';
import { ActivityIcon, CostsIcon, DashboardsIcon, KeysIcon, OverviewIcon, ServicesIcon } from '../parts/icons.tsx';

export interface Destination {
  to: '/' | '/services' | '/keys' | '/costs' | '/dashboards' | '/activity';
  label: string;
  /** For the command palette. */
  hint: string;
  icon: (props: { size?: number }) => ReactNode;
  isOffered: (permissions: Permissions) => boolean;
}

const fleet = ({ canSeeFleet }: Permissions) => canSeeFleet;

const DESTINATIONS: Destination[] = [
  { to: '/', label: 'Overview', hint: 'The fleet at a glance', icon: OverviewIcon, isOffered: fleet },
  { to: '/services', label: 'Services', hint: 'Sizes, replicas and idling', icon: ServicesIcon, isOffered: fleet },
  { to: '/costs', label: 'Costs', hint: 'What each day cost', icon: CostsIcon, isOffered: fleet },
  {
    to: '/dashboards',
    label: 'Dashboards',
    hint: 'What the telemetry says',
    icon: DashboardsIcon,
    isOffered: ({ canSeeDashboards }) => canSeeDashboards,
  },
  { to: '/keys', label: 'Keys', hint: 'Who may call the API', icon: KeysIcon, isOffered: fleet },
  { to: '/activity', label: 'Activity', hint: 'Who changed what', icon: ActivityIcon, isOffered: fleet },
];

export const destinationsFor = (permissions: Permissions): Destination[] =>
  DESTINATIONS.filter(({ isOffered }) => isOffered(permissions));
