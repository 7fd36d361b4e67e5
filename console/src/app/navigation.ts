import type { ReactNode } from 'react';
import type { Permissions } from '../api/session.ts';
import {
  ActivityIcon,
  AlertsIcon,
  ChannelsIcon,
  CostsIcon,
  DashboardsIcon,
  KeysIcon,
  MembersIcon,
  OverviewIcon,
  RolesIcon,
  SearchIcon,
  ServiceMapIcon,
  ServicesIcon,
  SourcesIcon,
  TelemetryIcon,
  TokensIcon,
  TracesIcon,
} from '../parts/layout/icons.tsx';

interface Destination {
  to:
    | '/'
    | '/services'
    | '/members'
    | '/keys'
    | '/roles'
    | '/tokens'
    | '/costs'
    | '/search'
    | '/dashboards'
    | '/traces'
    | '/service-map'
    | '/alerts'
    | '/channels'
    | '/sources'
    | '/telemetry'
    | '/activity';
  label: string;
  /** For the command palette. */
  hint: string;
  icon: (props: { size?: number }) => ReactNode;
  isVisible: (permissions: Permissions) => boolean;
}

const DESTINATIONS: Destination[] = [
  {
    to: '/',
    label: 'Overview',
    hint: 'Fleet at a glance',
    icon: OverviewIcon,
    isVisible: ({ canSeeFleet }) => canSeeFleet,
  },
  {
    to: '/services',
    label: 'Services',
    hint: 'Memory, replicas and idling',
    icon: ServicesIcon,
    isVisible: ({ can }) => can('instanceGetList'),
  },
  {
    to: '/costs',
    label: 'Costs',
    hint: 'Daily costs and budgets',
    icon: CostsIcon,
    isVisible: ({ can }) => can('usageCostSummaryGet'),
  },
  {
    to: '/dashboards',
    label: 'Dashboards',
    hint: 'Charts of logs, traces and metrics',
    icon: DashboardsIcon,
    isVisible: ({ canSeeDashboards }) => canSeeDashboards,
  },
  {
    to: '/search',
    label: 'Search',
    hint: 'Find and follow log lines and spans',
    icon: SearchIcon,
    isVisible: ({ canSeeDashboards }) => canSeeDashboards,
  },
  {
    to: '/traces',
    label: 'Traces',
    hint: 'Requests through your services',
    icon: TracesIcon,
    isVisible: ({ canSeeDashboards }) => canSeeDashboards,
  },
  {
    to: '/service-map',
    label: 'Service map',
    hint: 'Requests between services, databases and queues',
    icon: ServiceMapIcon,
    isVisible: ({ canSeeDashboards }) => canSeeDashboards,
  },
  {
    to: '/alerts',
    label: 'Alerts',
    hint: 'What fires, and what was sent',
    icon: AlertsIcon,
    isVisible: ({ canSeeDashboards }) => canSeeDashboards,
  },
  {
    to: '/channels',
    label: 'Channels',
    hint: 'Where alerts and budgets send messages',
    icon: ChannelsIcon,
    isVisible: ({ canSeeDashboards }) => canSeeDashboards,
  },
  {
    to: '/sources',
    label: 'Sources',
    hint: 'Tables with telemetry',
    icon: SourcesIcon,
    isVisible: ({ canSeeDashboards }) => canSeeDashboards,
  },
  {
    to: '/telemetry',
    label: 'Telemetry',
    hint: 'Send and receive OpenTelemetry data',
    icon: TelemetryIcon,
    isVisible: ({ can }) => can('telemetryGet') && can('telemetryStorageGet'),
  },
  {
    to: '/members',
    label: 'Members',
    hint: 'People, their roles and invitations',
    icon: MembersIcon,
    isVisible: ({ can }) => can('memberGetList'),
  },
  { to: '/keys', label: 'Keys', hint: 'API keys', icon: KeysIcon, isVisible: ({ can }) => can('openapiKeyGetList') },
  {
    to: '/roles',
    label: 'Roles',
    hint: 'What members and keys may do',
    icon: RolesIcon,
    isVisible: ({ can }) => can('organizationRolesGetList'),
  },
  {
    to: '/tokens',
    label: 'Tokens',
    hint: 'Dashboard tokens',
    icon: TokensIcon,
    isVisible: ({ can }) => can('dashboardTokenGetList'),
  },
  {
    to: '/activity',
    label: 'Activity',
    hint: 'Audit log',
    icon: ActivityIcon,
    isVisible: ({ can }) => can('activityGetList'),
  },
];

export const listDestinations = (permissions: Permissions): Destination[] =>
  DESTINATIONS.filter(({ isVisible }) => isVisible(permissions));

interface Creation {
  to: '/services' | '/members' | '/keys' | '/roles' | '/tokens' | '/sources' | '/channels' | '/alerts/new';
  label: string;
  isVisible: (permissions: Permissions) => boolean;
}

/** Pages whose `#create` opens a dialog, and the form for an alert. */
const CREATIONS: Creation[] = [
  { to: '/services', label: 'Create service', isVisible: ({ can }) => can('instanceCreate') },
  { to: '/members', label: 'Invite member', isVisible: ({ can }) => can('invitationCreate') },
  { to: '/keys', label: 'Create key', isVisible: ({ can }) => can('openapiKeyCreate') },
  { to: '/roles', label: 'Create role', isVisible: ({ can }) => can('organizationRolePost') },
  { to: '/tokens', label: 'Create token', isVisible: ({ can }) => can('dashboardTokenCreate') },
  { to: '/sources', label: 'Create source', isVisible: ({ canChangeDashboards }) => canChangeDashboards },
  { to: '/channels', label: 'Create channel', isVisible: ({ canChangeDashboards }) => canChangeDashboards },
  { to: '/alerts/new', label: 'Create alert', isVisible: ({ canChangeDashboards }) => canChangeDashboards },
];

export const listCreations = (permissions: Permissions): Creation[] =>
  CREATIONS.filter(({ isVisible }) => isVisible(permissions));
