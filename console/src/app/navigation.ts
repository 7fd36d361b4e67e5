import type { ReactNode } from 'react';
import type { Permissions } from '../api/session.ts';
import {
  ActivityIcon,
  CostsIcon,
  DashboardsIcon,
  KeysIcon,
  OverviewIcon,
  ServicesIcon,
  TokensIcon,
} from '../parts/icons.tsx';

interface Destination {
  to: '/' | '/services' | '/keys' | '/tokens' | '/costs' | '/dashboards' | '/activity';
  label: string;
  /** For the command palette. */
  hint: string;
  icon: (props: { size?: number }) => ReactNode;
  isVisible: (permissions: Permissions) => boolean;
}

const needsFleetAccess = (permissions: Permissions) => permissions.canSeeFleet;

const DESTINATIONS: Destination[] = [
  { to: '/', label: 'Overview', hint: 'Fleet at a glance', icon: OverviewIcon, isVisible: needsFleetAccess },
  {
    to: '/services',
    label: 'Services',
    hint: 'Memory, replicas and idling',
    icon: ServicesIcon,
    isVisible: needsFleetAccess,
  },
  { to: '/costs', label: 'Costs', hint: 'Daily costs and budgets', icon: CostsIcon, isVisible: needsFleetAccess },
  {
    to: '/dashboards',
    label: 'Dashboards',
    hint: 'Charts of logs, traces and metrics',
    icon: DashboardsIcon,
    isVisible: ({ canSeeDashboards }) => canSeeDashboards,
  },
  { to: '/keys', label: 'Keys', hint: 'API keys', icon: KeysIcon, isVisible: needsFleetAccess },
  { to: '/tokens', label: 'Tokens', hint: 'Dashboard tokens', icon: TokensIcon, isVisible: needsFleetAccess },
  { to: '/activity', label: 'Activity', hint: 'Audit log', icon: ActivityIcon, isVisible: needsFleetAccess },
];

export const listDestinations = (permissions: Permissions): Destination[] =>
  DESTINATIONS.filter(({ isVisible }) => isVisible(permissions));
