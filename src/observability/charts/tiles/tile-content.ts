import { isDeepStrictEqual } from 'node:util';
import { MISSING, type Violation } from '../../../kernel/errors.ts';
import { pickMembers } from '../../../kernel/json/pick-members.ts';
import { listSeriesViolations, normalizeSeries } from '../series.ts';
import type { SeriesBody } from '../series-schema.ts';
import { isSameMeaning, type SeriesForm, toConfig, toSeries } from './config.ts';
import { listConfigViolations } from './config-rules.ts';
import { TileConfig } from './config-schema.ts';

/**
 * What a tile shows, as stored: its series, and its config if it was written as a config. The series then show the same,
 * or are the most similar ones.
 */
export interface TileContent extends SeriesForm {
  config?: TileConfig;
}

/** As sent: series, config, or both as in a response. */
export interface ContentBody {
  asRatio?: boolean;
  series?: SeriesBody[];
  config?: TileConfig;
}

const fromSeries = ({ asRatio = false, series = [] }: ContentBody): TileContent => ({
  asRatio,
  series: series.map(normalizeSeries),
});

function fromConfig(sent: TileConfig): Required<TileContent> {
  const config = pickMembers(TileConfig, sent) as TileConfig;
  const { asRatio, series } = toSeries(config);
  return { asRatio, series: series.map(normalizeSeries), config };
}

/** The content of a valid tile. */
export function normalizeContent(body: ContentBody): TileContent {
  if (!body.config) return fromSeries(body);
  if (!body.series) return fromConfig(body.config);
  const [bySeries, byConfig] = [fromSeries(body), fromConfig(body.config)];
  return isSameMeaning(bySeries, byConfig) ? byConfig : bySeries;
}

/** Checks rules across several members. `path` is the prefix of the members. */
export function listContentViolations(body: ContentBody, path: string): Violation[] {
  const { series, config } = body;
  if (!series && !config)
    return [{ path: `${path}series`, rule: 'The tile must have series or a config', value: MISSING }];
  const violations = [
    ...(series ? listSeriesViolations(series, path) : []),
    ...(config ? listConfigViolations(config, `${path}config`) : []),
  ];
  if (violations.length > 0 || !series || !config) return violations;
  const [bySeries, byConfig] = [fromSeries(body), fromConfig(config)];
  if (isSameMeaning(bySeries, byConfig) || isDeepStrictEqual(toConfig(bySeries), byConfig.config)) return [];
  const rule = 'The series and the config of the tile differ; send only the one that you changed';
  return [{ path: `${path}config`, rule, value: config }];
}

/** The tile in the format of ClickStack, with its series if the config cannot express them. */
export function toConfigForm({ asRatio, series, config }: TileContent): Partial<SeriesForm> & { config: TileConfig } {
  if (config) return { config };
  const similar = toConfig({ asRatio, series });
  return isSameMeaning(toSeries(similar), { asRatio, series })
    ? { config: similar }
    : { config: similar, asRatio, series };
}

/**
 * The content that a replacement stores: a client that sends back one form of a tile, unchanged, does not lose what only
 * the other form expresses.
 */
export function keepOtherForm(body: ContentBody, after: TileContent, before: TileContent): TileContent {
  // Series that replace series need no comparison.
  if (!body.config && !before.config) return after;
  const isUnchanged = body.config
    ? body.series === undefined && isDeepStrictEqual(pickMembers(TileConfig, body.config), toConfigForm(before).config)
    : isDeepStrictEqual([after.asRatio, after.series], [before.asRatio, before.series]);
  return isUnchanged ? before : after;
}
