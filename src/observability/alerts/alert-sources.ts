import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { isoTime } from '../../kernel/time/clock.ts';
import { createEvenBuckets } from '../charts/queries/time-buckets.ts';
import type { Tile } from '../charts/tiles/tile-schema.ts';
import type { WindowValueReader } from '../charts/window-values.ts';
import { formatEquality } from '../search/context-scopes.ts';
import type { SavedSearchContent } from '../search/saved/saved-search.ts';
import type { Search } from '../search/search.ts';
import { isResourceId } from '../sources/resource-id.ts';
import { type Alert, type AlertContent, toSchedule } from './alert.ts';
import type { Subject } from './alert-message.ts';
import { CONDITIONS } from './conditions.ts';
import { type AlertValueReader, toSearchSeries } from './evaluation/alert-values.ts';
import { findWindowStart, INTERVALS } from './windows.ts';

interface Options {
  clock: Clock;
  findDashboard(organizationId: string, id: string): Promise<{ name: string; tiles: Tile[] }>;
  findSavedSearch(organizationId: string, id: string): Promise<SavedSearchContent>;
}

const invalid = (message: string, field: string): AppError => new AppError('bad_request', message, { field });

/** What alerts watch: tiles and saved searches by their ids, with the messages of the public interface. */
export function createAlertSources({ clock, findDashboard, findSavedSearch }: Options) {
  async function find<T>(found: Promise<T>, message: string, field: string): Promise<T> {
    try {
      return await found;
    } catch (error) {
      throw error instanceof AppError && error.code === 'not_found' ? invalid(message, field) : error;
    }
  }

  async function getDashboard(organizationId: string, id: string) {
    if (!isResourceId(id)) throw invalid('Invalid dashboard ID', 'dashboardId');
    return find(findDashboard(organizationId, id), 'Dashboard not found', 'dashboardId');
  }

  async function getTile(organizationId: string, dashboardId: string, tileId: string) {
    const dashboard = await getDashboard(organizationId, dashboardId);
    const tile = dashboard.tiles.find(({ id }) => id === tileId);
    if (!tile) throw invalid('Tile not found', 'tileId');
    return { dashboard, tile };
  }

  function getSavedSearch(organizationId: string, id: string): Promise<SavedSearchContent> {
    if (!isResourceId(id)) throw invalid('Invalid saved search ID', 'savedSearchId');
    return find(findSavedSearch(organizationId, id), 'Saved search not found', 'savedSearchId');
  }

  async function findName(organizationId: string, content: AlertContent): Promise<string> {
    const { source, dashboardId, tileId, savedSearchId, metric, condition } = content;
    if (source === 'saved_search') return (await getSavedSearch(organizationId, savedSearchId ?? '')).name;
    if (source === 'metric') return metric?.metricName ?? metric?.field ?? metric?.aggFn ?? 'Metric';
    if (source === 'condition') return condition === null ? 'Condition' : CONDITIONS[condition];
    const { dashboard, tile } = await getTile(organizationId, dashboardId ?? '', tileId ?? '');
    return `${dashboard.name}: ${tile.name}`;
  }

  return {
    getTile: async (organizationId: string, dashboardId: string, tileId: string): Promise<Tile> =>
      (await getTile(organizationId, dashboardId, tileId)).tile,

    getSavedSearch: async (organizationId: string, id: string): Promise<SavedSearchContent> =>
      getSavedSearch(organizationId, id),

    /** Also of an alert whose source was deleted. */
    async findSubject({ id, organizationId, content }: Alert): Promise<Subject> {
      const name = await findName(organizationId, content).catch(() => `Alert ${id}`);
      return { name, path: `/console/alerts/${id}` };
    },

    /** Throws if the source of an alert does not exist, or its values cannot be read. */
    createCheck:
      (values: Pick<AlertValueReader, 'resolveSeries'>, windows: Pick<WindowValueReader, 'check'>) =>
      async (organizationId: string, content: AlertContent): Promise<void> => {
        if (content.source === 'condition') return;
        const series = await values.resolveSeries(organizationId, content);
        const stepMs = INTERVALS[content.interval];
        const buckets = createEvenBuckets(findWindowStart(toSchedule(content), clock.now()) - stepMs, stepMs, 1);
        try {
          await windows.check(organizationId, series, buckets);
        } catch (error) {
          // Alerts can be configured while the engine does not run; the evaluation then says why it fails.
          if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
        }
      },
  };
}

const SAMPLES = { rows: 5, characters: 500 };

/** Reads the newest rows that an alert of a saved search counted. A message is sent without them if that fails. */
export const createSampleReader =
  (search: Search, getSavedSearch: (organizationId: string, id: string) => Promise<SavedSearchContent>) =>
  async (
    { id, organizationId, content }: Alert,
    { groupBy, labels }: { groupBy: readonly string[]; labels: readonly string[] },
    { startMs, endMs }: { startMs: number; endMs: number },
  ): Promise<string[]> => {
    if (content.source !== 'saved_search') return [];
    try {
      const saved = await getSavedSearch(organizationId, content.savedSearchId ?? '');
      const [series] = toSearchSeries(saved, []).series;
      const conditions = labels.map((label, index) => formatEquality(groupBy[index] ?? '', label));
      const filters = [...(series?.filters ?? []), ...conditions].map((condition) => ({
        type: 'sql' as const,
        condition,
      }));
      const { sourceId, where, whereLanguage, select } = saved;
      const range = { startTime: isoTime(startMs), endTime: isoTime(endMs) };
      const client = { organizationId, credentialId: `alert ${id}` };
      const body = { sourceId, where, whereLanguage, select, filters, maxResults: SAMPLES.rows, ...range };
      const { data } = await search.search(client, body);
      return data.map((row) => JSON.stringify(row).slice(0, SAMPLES.characters));
    } catch {
      return [];
    }
  };
