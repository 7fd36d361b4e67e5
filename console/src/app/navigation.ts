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
  { to: '/', label: 'Overview', hint: 'Fleet at a glance', icon: OverviewIcon, isVisible: canSeeFleet },
  {
    to: '/services',
    label: 'Services',
    hint: 'Memory, replicas and idling',
    icon: ServicesIcon,
    isVisible: canSeeFleet,
  },
  { to: '/costs', label: 'Costs', hint: 'Daily costs and budgets', icon: CostsIcon, isVisible: canSeeFleet },
  {
    to: '/dashboards',
    label: 'Dashboards',
    hint: 'Charts of logs, traces and metrics',
    icon: DashboardsIcon,
    isVisible: ({ canSeeDashboards }) => canSeeDashboards,
  },
  { to: '/keys', label: 'Keys', hint: 'API keys', icon: KeysIcon, isVisible: canSeeFleet },
  { to: '/activity', label: 'Activity', hint: 'Audit log', icon: ActivityIcon, isVisible: canSeeFleet },
];

export const listDestinations = (permissions: Permissions): Destination[] =>
  DESTINATIONS.filter(({ isVisible }) => isVisible(permissions));
