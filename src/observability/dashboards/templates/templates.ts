import { clickhouseServices } from './clickhouse-services.ts';
import { databases } from './databases.ts';
import { hosts } from './hosts.ts';
import { httpServices } from './http-services.ts';
import type { DashboardTemplate } from './template.ts';

export const DASHBOARD_TEMPLATES: readonly DashboardTemplate[] = [httpServices, databases, hosts, clickhouseServices];
