import type { ReactNode } from 'react';
import type { Permissions } from '../api/session.ts';
import { ActivityIcon, CostsIcon, DashboardsIcon, KeysIcon, OverviewIcon, ServicesIcon } from '../parts/icons.tsx';

export interface Destination {
  to: '/' | '/services' | '/keys' | '/costs' | '/dashboards' | '/activity';
  label: string;
  /** For the command palette. */
  hint: string;
  icon: (props: { size?: number }) => ReactNode;
  isVisible: (permissions: Permissions) => boolean;
}

const canSeeFleet = ({ canSeeFleet }: Permissions) => canSeeFleet;

const DESTINATIONS: Destination[] = [
  { to: '/', label: 'Overview', hint: 'The fleet at a glance', icon: OverviewIcon, isVisible: canSeeFleet },
  {
    to: '/services',
    label: 'Services',
    hint: 'Sizes, replicas and idling',
    icon: ServicesIcon,
    isVisible: canSeeFleet,
  },
  { to: '/costs', label: 'Costs', hint: 'What each day cost', icon: CostsIcon, isVisible: canSeeFleet },
  {
    to: '/dashboards',
    label: 'Dashboards',
    hint: 'What the telemetry says',
    icon: DashboardsIcon,
    isVisible: ({ canSeeDashboards }) => canSeeDashboards,
  },
  { to: '/keys', label: 'Keys', hint: 'Who may call the API', icon: KeysIcon, isVisible: canSeeFleet },
  { to: '/activity', label: 'Activity', hint: 'Who changed what', icon: ActivityIcon, isVisible: canSeeFleet },
];

export const listDestinations = (permissions: Permissions): Destination[] =>
  DESTINATIONS.filter(({ isVisible }) => isVisible(permissions));
